/** What does one client have to change so that it no longer needs v1? (Design section 8: each client's way out.) */
import type { ClientEntry, ClientOperation } from "../model/ledger.ts";
import type { Resource } from "../model/resource.ts";
import { callsUnknown, isUnknown, reasonsOf } from "./difficulty.ts";
import { replaces } from "./questions.ts";
import { minute } from "./views.ts";
import { type Called, v1Call, v2Call } from "./way-out/calls.ts";
import { CODE_LOOP, SHELL_LOOP } from "./way-out/loop.ts";
import { block, code, codes, table } from "./way-out/markdown.ts";
import { enumSection, resourceSection } from "./way-out/names.ts";
import { replaceSection } from "./way-out/replace.ts";

export interface WayOutOptions {
  readonly resources: readonly Resource[];
  /** v2's version segment: `v2beta1`. */
  readonly version: string;
}

/**
 * Markdown for whoever looks after the client: the calls that replace its calls, the names that change in them, how to
 * read a long list and how to say a full replace. Operations that the catalogue does not know are named as lacking.
 */
export function wayOut(entry: ClientEntry, options: WayOutOptions): string {
  const called = calledBy(entry, options.resources);
  const used = [...new Set(called.map(({ resource }) => resource))];
  const lines = [
    `# Way out of v1 for ${code(entry.name)}`,
    "",
    ...summary(entry),
    ...callSection(entry, options),
    ...lackingSection(entry, options),
    ...strangeSection(entry),
    ...(called.length === 0 ? [] : [ALL_NAMES, ""]),
    ...used.flatMap((resource) => resourceSection(resource, called)),
    ...enumSection(called),
    ...listSection(entry, called, options.version),
    ...updateSection(entry, called, options.version),
    ...unknownSection(entry),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

const ALL_NAMES =
  "In v2 every record is known by `uid`. Names below are JSON names; in a query they are snake_case. What is not listed stays as it is.";

function calledBy({ operations, needs }: ClientEntry, resources: readonly Resource[]): readonly Called[] {
  return [...operations, ...needs.lacking].flatMap((one) => find(one, resources) ?? []).filter(isFirst);
}

function isFirst(called: Called, index: number, all: readonly Called[]): boolean {
  return all.findIndex(({ operation }) => operation === called.operation) === index;
}

function find(
  { resource: name, operation: asked }: Pick<ClientOperation, "resource" | "operation">,
  resources: readonly Resource[],
): Called | undefined {
  const resource = resources.find((one) => one.name === name);
  const operation = resource?.operations.find((one) => one.name === asked);
  return resource === undefined || operation === undefined ? undefined : { resource, operation };
}

function summary(entry: ClientEntry): readonly string[] {
  const { requests, lastV1, over } = entry;
  const last = lastV1 === undefined ? "It has not called v1." : `Last v1 call: ${minute(lastV1)}.`;
  const off = over === 0 ? "" : ` (perhaps ${over} fewer)`;
  return [
    `${requests.v1} v1${off} and ${requests.v2} v2 requests. ${last}`,
    "",
    "How hard it is:",
    "",
    ...reasonsOf(entry).map(({ what, names, more }) => {
      return `- ${what}${names.length === 0 ? "" : `: ${codes(names)}`}${more > 0 ? `, and ${more} more` : ""}`;
    }),
    "",
  ];
}

function callSection({ operations }: ClientEntry, { resources, version }: WayOutOptions): readonly string[] {
  const rows = operations.map((one) => {
    const called = find(one, resources);
    const v1 = called === undefined ? nameOf(one) : code(v1Call(called));
    const v2 = called === undefined ? undefined : v2Call(called, version);
    return [v1, v2 ?? "–", String(one.requests), minute(one.lastSeen)];
  });
  if (rows.length === 0) return [];
  return ["## Calls", "", ...table(["v1", "v2", "requests", "last"], rows)];
}

function nameOf(one: Pick<ClientOperation, "resource" | "operation">): string {
  return isUnknown(one) ? "paths that carryover does not know" : code(`${one.resource} ${one.operation}`);
}

function lackingSection({ operations, needs }: ClientEntry, { resources }: WayOutOptions): readonly string[] {
  const all = [...needs.lacking, ...operations.filter((one) => one.resource !== "other")].filter((one) => {
    const kind = find(one, resources)?.operation.kind;
    return !isUnknown(one) && (kind === undefined || kind === "native");
  });
  const names = [...new Set(all.map((one) => `${one.resource} ${one.operation}`))];
  if (names.length === 0) return [];
  return [
    "## What v2 lacks",
    "",
    `${codes(names)}: as far as carryover knows, nothing in v2 takes the place. The client needs native v1 until it does without.`,
    "",
  ];
}

function strangeSection(entry: ClientEntry): readonly string[] {
  if (!callsUnknown(entry)) return [];
  return [
    "## What carryover does not know",
    "",
    `It calls v1 paths that nobody can say anything about here. The log has them: lines of this client with ${code('"resource":"unknown"')}.`,
    "",
  ];
}

function listSection(entry: ClientEntry, called: readonly Called[], version: string): readonly string[] {
  const lists = called.filter(({ resource, operation }) => operation.kind === "list" && resource.list === "drain");
  if (lists.length === 0) return [];
  const longest = new Map(entry.needs.longLists.map(({ resource, records }) => [resource, records]));
  const lines = lists.map(({ resource: { name, domain, v2, items } }) => {
    const records = longest.get(name);
    const told = records === undefined ? "" : `; its longest had ${records} records, ${Math.ceil(records / 200)} pages`;
    return `- ${name}: ${code(`list_all /${domain}/${version}/${v2} ${items}`)}${told}`;
  });
  return [
    "## Lists come in pages",
    "",
    "v1 answered with every match at once. v2 gives at most 200 records and a `nextPageToken`; it is absent or empty on the last page, and on no other.",
    "",
    ...lines,
    "",
    ...block("sh", SHELL_LOOP),
    ...block("js", CODE_LOOP),
  ];
}

function updateSection({ needs }: ClientEntry, called: readonly Called[], version: string): readonly string[] {
  const updates = called.filter(({ operation }) => replaces(operation));
  if (updates.length === 0) return [];
  return [
    "## A PUT becomes a PATCH",
    "",
    ...updates.flatMap((one) => {
      const own = needs.zeroedFields.filter(({ resource }) => resource === one.resource.name);
      return replaceSection(
        one,
        own.map(({ field }) => field),
        version,
      );
    }),
  ];
}

function unknownSection({ needs }: ClientEntry): readonly string[] {
  if (needs.unknownFields.length === 0) return [];
  const names = needs.unknownFields.map(({ resource, field }) => `${resource} ${field}`);
  return [
    "## Fields that nobody knows",
    "",
    `${codes(names)}: v1 ignored them, v2 may refuse them. Do not send them.`,
    "",
  ];
}
