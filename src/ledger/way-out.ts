/** What does one client have to change so that it no longer needs v1? (Design section 8: each client's way out.) */
import type { ClientEntry, ClientOperation } from "../model/ledger.ts";
import type { Operation, Resource, Row } from "../model/resource.ts";
import { utcMinute } from "./clients-view.ts";
import { callsUnknown, isUnknown, reasonsOf } from "./difficulty.ts";
import { replaces } from "./ledger.ts";
import {
  block,
  type CalledOperation,
  code,
  codes,
  enumSection,
  markdownTable,
  resourceSection,
  v1Call,
  v2Call,
} from "./way-out-names.ts";

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

function calledBy({ operations, needs }: ClientEntry, resources: readonly Resource[]): readonly CalledOperation[] {
  return [...operations, ...needs.lacking].flatMap((one) => calledOperation(one, resources) ?? []).filter(isFirst);
}

function isFirst(called: CalledOperation, index: number, all: readonly CalledOperation[]): boolean {
  return all.findIndex(({ operation }) => operation === called.operation) === index;
}

function calledOperation(
  { resource: name, operation: asked }: Pick<ClientOperation, "resource" | "operation">,
  resources: readonly Resource[],
): CalledOperation | undefined {
  const resource = resources.find((one) => one.name === name);
  const operation = resource?.operations.find((one) => one.name === asked);
  return resource === undefined || operation === undefined ? undefined : { resource, operation };
}

function summary(entry: ClientEntry): readonly string[] {
  const { requests, lastV1, over } = entry;
  const last = lastV1 === undefined ? "It has not called v1." : `Last v1 call: ${utcMinute(lastV1)}.`;
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
    const called = calledOperation(one, resources);
    const v1 = called === undefined ? nameOf(one) : code(v1Call(called));
    const v2 = called === undefined ? undefined : v2Call(called, version);
    return [v1, v2 ?? "–", String(one.requests), utcMinute(one.lastSeen)];
  });
  if (rows.length === 0) return [];
  return ["## Calls", "", ...markdownTable(["v1", "v2", "requests", "last"], rows)];
}

function nameOf(one: Pick<ClientOperation, "resource" | "operation">): string {
  return isUnknown(one) ? "paths that carryover does not know" : code(`${one.resource} ${one.operation}`);
}

function lackingSection({ operations, needs }: ClientEntry, { resources }: WayOutOptions): readonly string[] {
  const all = [...needs.lacking, ...operations.filter((one) => one.resource !== "other")].filter((one) => {
    const kind = calledOperation(one, resources)?.operation.kind;
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

function listSection(entry: ClientEntry, called: readonly CalledOperation[], version: string): readonly string[] {
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

function updateSection({ needs }: ClientEntry, called: readonly CalledOperation[], version: string): readonly string[] {
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

/** What takes the place of a PUT that replaced a whole record? */

/** Markdown for one update; `left`: the fields that the client's PUTs leave out, so that v1 emptied them. */
export function replaceSection(called: CalledOperation, left: readonly string[], version: string): readonly string[] {
  const { resource, operation } = called;
  if (!("body" in operation) || operation.body === undefined) return [];
  const fields = masked(operation.body.rows);
  const own = left.filter((field) => fields.some(({ v1 }) => v1 === field));
  return [
    `### ${resource.name} ${operation.name}`,
    "",
    `v1 replaced the whole record: what was left out became empty. In v2 it is: ${v2Call(called, version) ?? "–"}.`,
    ...(own.length === 0
      ? []
      : [`This client leaves out ${codes(own)}: name that, with an empty value, only where it is to be emptied.`]),
    "",
    ...(isOnePatch(operation)
      ? [...block("sh", patchLine(called, fields, own, version)), ...fieldsWords(fields), ""]
      : []),
  ];
}

function isOnePatch(operation: Operation): boolean {
  return operation.kind === "update" && operation.by === undefined;
}

interface MaskedField {
  readonly v1: string;
  readonly v2: string;
  readonly when: "always" | "sometimes";
  /** JSON texts: v2's zero, and something of the right kind. */
  readonly zero: string;
  readonly some: string;
}

/** What a mask may name, by v2's path. */
function masked(rows: readonly Row[], v1 = "", v2 = ""): readonly MaskedField[] {
  return rows.flatMap((row): readonly MaskedField[] => {
    if (row.access === "output" || row.mask === "never") return [];
    const inner = { v1: `${v1}${row.v1}.`, v2: row.v2 === null ? v2 : `${v2}${row.v2}.` };
    if (row.kind === "message" && (row.mask === "members" || row.v2 === null))
      return masked(row.rows, inner.v1, inner.v2);
    if (row.v2 === null) return [];
    const when = row.mask === undefined || row.mask === "always" ? "always" : "sometimes";
    return [{ v1: `${v1}${row.v1}`, v2: `${v2}${row.v2}`, when, zero: zeroText(row), some: someText(row) }];
  });
}

function zeroText(row: Row): string {
  if (row.access === "output") return "null";
  if (row.kind === "enum" && row.list !== true) {
    return JSON.stringify(row.values.values.find(([v1]) => v1 === row.zero)?.[2] ?? null);
  }
  return JSON.stringify(row.zero);
}

function someText(row: Row): string {
  if (row.kind === "map") return '{"…": "…"}';
  if (row.list === true) return '["…"]';
  if (row.kind === "bool") return "true";
  if (row.kind === "int32" || row.kind === "uint32") return "1";
  return row.kind === "message" ? '{"…": "…"}' : '"…"';
}

/** Everything that v1 replaced, as one line for a shell; the fields that the client leaves out with their zeros. */
function patchLine(
  { resource }: CalledOperation,
  fields: readonly MaskedField[],
  left: readonly string[],
  version: string,
): string {
  // A member of a message would need the message around it, and is among those that are named only now and then.
  const always = fields.filter(({ when, v2 }) => when === "always" && !v2.includes("."));
  const mask = always.map(({ v2 }) => v2).join(",");
  const members = always.map(({ v1, v2, zero, some }) => `${JSON.stringify(v2)}: ${left.includes(v1) ? zero : some}`);
  return [
    `curl -fsS -X PATCH "$API/${resource.domain}/${version}/${resource.v2}/$RECORD?updateMask=${mask}" \\`,
    `  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\`,
    `  -d '{${members.join(", ")}}'`,
  ].join("\n");
}

function fieldsWords(fields: readonly MaskedField[]): readonly string[] {
  const sometimes = fields.filter(({ when }) => when === "sometimes").map(({ v2 }) => v2);
  return [
    "Better: name only what changes, and two clients no longer overwrite each other.",
    ...(sometimes.length === 0 ? [] : [`Only when they are meant to change: ${codes(sometimes)}.`]),
    ...(fields.some(({ v2 }) => /[A-Z]/.test(v2))
      ? [`Some platforms want the mask in snake_case (${code("updateMask=field_name")}): a 400 says so.`]
      : []),
  ];
}

/** How does a client read a whole list from v2's pages? (Shown to people; the tests run it.) */

/** A shell function; needs curl and jq. Gives a JSON array of all records, each once, or fails. */
export const SHELL_LOOP = `# list_all PATH MEMBER, such as: list_all /iam/v2beta1/groups groups
list_all() (
  records=$(mktemp) page=$(mktemp) token= count=0
  trap 'rm -f "$records" "$page"' EXIT
  while :; do
    # The filters of the list go here as further --data-urlencode, the same for every page.
    curl -fsS -G "$API$1" -H "Authorization: Bearer $TOKEN" -d page_size=200 \\
      \${token:+--data-urlencode "page_token=$token"} > "$page" || exit 1
    jq -c ".$2[]?" "$page" >> "$records"
    token=$(jq -r '.nextPageToken // ""' "$page")
    [ -n "$token" ] || break
    # No new record although there are more pages: the token has expired and the list began again. Call it anew.
    before=$count
    count=$(jq -s 'unique_by(.uid) | length' "$records")
    [ "$count" -gt "$before" ] || exit 1
  done
  # Records that moved from page to page meanwhile came twice.
  jq -s 'unique_by(.uid)' "$records"
)`;

/** A function in JavaScript, the same in TypeScript. Rejects rather than giving a part of a list. */
export const CODE_LOOP = `// API: the platform's address. headers: { authorization: "Bearer …" }. filters: those of the list, as URLSearchParams takes them.
async function listAll(path, member, filters = {}) {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const records = new Map();
    let token = "";
    for (;;) {
      const query = new URLSearchParams(filters);
      query.set("page_size", "200");
      if (token !== "") query.set("page_token", token);
      const response = await fetch(\`\${API}\${path}?\${query}\`, { headers });
      // A token that has expired: start over.
      if (token !== "" && response.status === 400) break;
      if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
      const page = await response.json();
      const before = records.size;
      // By uid: a record that moved from page to page meanwhile comes twice.
      for (const record of page[member] ?? []) records.set(record.uid, record);
      token = page.nextPageToken ?? "";
      if (token === "") return [...records.values()];
      // Some platforms begin again when a token has expired, without an error: then nothing is new. Start over.
      if (records.size === before) break;
    }
  }
  throw new Error(\`\${path}: its pages made no whole list\`);
}`;
