/** The Markdown document that tells a client's owner what to change so that it no longer needs v1. */

import { type Catalogue, type IsUntranslated, untranslatedOf } from "../catalogue/catalogue.ts";
import { publishedResource, type RecordTimes, type Resource, type Row } from "../model/resource.ts";
import { counted } from "../rules/words.ts";
import { ownerText, utcMinute } from "./clients-view.ts";
import { callsUnknown, difficultyOf, isUnknown, reasonsOf } from "./difficulty.ts";
import type { ClientEntry, ClientOperation } from "./entry.ts";
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
  readonly isUntranslated: IsUntranslated;
  /** v2's version segment: `v2beta1`. */
  readonly version: string;
}

export function wayOutOptions(catalogue: Catalogue, recordTimes: RecordTimes): WayOutOptions {
  const { resources, version } = catalogue;
  return {
    resources: recordTimes === "published" ? resources.map(publishedResource) : resources,
    isUntranslated: untranslatedOf(catalogue),
    version,
  };
}

/**
 * The calls that replace the client's calls, the names that change in them, how to read a long list, and how to express a full
 * replace. Operations that the catalogue does not know are listed as lacking.
 */
export function wayOut(entry: ClientEntry, options: WayOutOptions): string {
  const { operations, needs } = entry;
  const called = [...operations, ...needs.lacking]
    .flatMap((one) => calledOperation(one, options.resources) ?? [])
    .filter((one, at, all) => all.findIndex(({ operation }) => operation === one.operation) === at);
  const used = [...new Set(called.map(({ resource }) => resource))];
  const lines = [
    `# Way out of v1 for ${code(entry.name)}`,
    "",
    ...summary(entry),
    ...callSection(entry, options),
    ...lackingSection(entry, options),
    ...untranslatedSection(entry, options),
    ...unknownPathSection(entry),
    ...(called.length === 0 ? [] : [ALL_NAMES, ""]),
    ...used.flatMap((resource) => resourceSection(resource, called)),
    ...enumSection(called),
    ...listSection(entry, called, options.version),
    ...updateSection(entry, called, options.version),
    ...unknownFieldSection(entry),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

const ALL_NAMES =
  "In v2 every record is known by `uid`. Names below are JSON names; in a query they are snake_case. What is not listed stays as it is.";

type NamedOperation = Pick<ClientOperation, "resource" | "operation">;

function calledOperation(name: NamedOperation, resources: readonly Resource[]): CalledOperation | undefined {
  const resource = resources.find((one) => one.name === name.resource);
  const operation = resource?.operations.find((one) => one.name === name.operation);
  return resource === undefined || operation === undefined ? undefined : { resource, operation };
}

function summary(entry: ClientEntry): readonly string[] {
  const { requests, lastV1, over } = entry;
  const last = lastV1 === undefined ? "It has not called v1." : `Last v1 call: ${utcMinute(lastV1)}.`;
  const off = over === 0 ? "" : ` (perhaps ${over} fewer)`;
  const owner = ownerText(entry);
  return [
    `${counted(requests.v1, "v1 request")}${off} and ${counted(requests.v2, "v2 request")}. ${last}`,
    "",
    ...(owner === "" ? [] : [`Owner: ${code(owner)}.`, ""]),
    `Hardest need: ${difficultyOf(entry)}. All of them, hardest first:`,
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
    const name = isUnknown(one) ? "paths that carryover does not know" : code(`${one.resource} ${one.operation}`);
    const [v1, v2] = called === undefined ? [name, undefined] : [code(v1Call(called)), v2Call(called, version)];
    return [v1, v2 ?? "–", String(one.requests), utcMinute(one.lastSeen)];
  });
  if (rows.length === 0) return [];
  return ["## Calls", "", ...markdownTable(["v1", "v2", "requests", "last"], rows)];
}

function lackingSection(
  { operations, needs }: ClientEntry,
  { resources, isUntranslated }: WayOutOptions,
): readonly string[] {
  const all = [...needs.lacking, ...operations.filter((one) => one.resource !== "other")].filter((one) => {
    const kind = calledOperation(one, resources)?.operation.kind;
    return !isUnknown(one) && (kind === undefined || kind === "native") && !isUntranslated(one);
  });
  const names = [...new Set(all.map(wordsOf))];
  if (names.length === 0) return [];
  return [
    "## What v2 lacks",
    "",
    `${codes(names)}: as far as carryover knows, nothing in v2 takes the place. The client needs native v1 until it does without.`,
    "",
  ];
}

function untranslatedSection({ operations }: ClientEntry, { isUntranslated }: WayOutOptions): readonly string[] {
  const names = [...new Set(operations.filter(isUntranslated).map(wordsOf))];
  if (names.length === 0) return [];
  return [
    "## What carryover does not translate",
    "",
    `${codes(names)}: v2 has such operations. Native v1 serves these calls, and nothing was compared: see v2's own documentation.`,
    "",
  ];
}

function wordsOf({ resource, operation }: NamedOperation): string {
  return `${resource} ${operation}`;
}

function unknownPathSection(entry: ClientEntry): readonly string[] {
  if (!callsUnknown(entry)) return [];
  return [
    "## What carryover does not know",
    "",
    `It calls v1 paths that carryover does not know. The log has them: lines of this client with ${code('"resource":"unknown"')}.`,
    "",
  ];
}

function listSection(entry: ClientEntry, called: readonly CalledOperation[], version: string): readonly string[] {
  const lists = called.filter(({ resource, operation }) => operation.kind === "list" && resource.list === "drain");
  if (lists.length === 0) return [];
  const longest = new Map(entry.needs.longLists.map(({ resource, records }) => [resource, records]));
  const lines = lists.map(({ resource: { name, domain, v2, items } }) => {
    const records = longest.get(name);
    const size =
      records === undefined
        ? ""
        : `; its longest had ${counted(records, "record")}, ${counted(Math.ceil(records / 200), "page")}`;
    return `- ${name}: ${code(`list_all /${domain}/${version}/${v2} ${items}`)}${size}`;
  });
  return [
    "## Lists come in pages",
    "",
    "v1 returned every match at once. v2 returns at most 200 records and a `nextPageToken`; it is absent or empty on the last page, and on no other.",
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
      const left = needs.zeroedFields.flatMap(({ resource, field }) => (resource === one.resource.name ? [field] : []));
      return replaceSection(one, left, version);
    }),
  ];
}

function unknownFieldSection({ needs }: ClientEntry): readonly string[] {
  if (needs.unknownFields.length === 0) return [];
  const names = needs.unknownFields.map(({ resource, field }) => `${resource} ${field}`);
  return ["## Unknown fields", "", `${codes(names)}: v1 ignored them, v2 may refuse them. Do not send them.`, ""];
}

/** `left`: the fields that the client's PUTs leave out, so that v1 empties them. */
function replaceSection(called: CalledOperation, left: readonly string[], version: string): readonly string[] {
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
    ...(operation.kind === "update" && operation.by === undefined
      ? [...block("sh", patchLine(called, fields, own, version)), ...fieldsWords(fields), ""]
      : []),
  ];
}

interface MaskedField {
  readonly v1: string;
  readonly v2: string;
  readonly when: "always" | "sometimes";
  /** JSON texts: v2's zero, and an example value. */
  readonly zero: string;
  readonly example: string;
}

/** The fields that a mask may name. */
function masked(rows: readonly Row[], v1 = "", v2 = ""): readonly MaskedField[] {
  return rows.flatMap((row): readonly MaskedField[] => {
    if (row.access === "output" || row.mask === "never") return [];
    const inner = { v1: `${v1}${row.v1}.`, v2: row.v2 === null ? v2 : `${v2}${row.v2}.` };
    if (row.kind === "message" && (row.mask === "members" || row.v2 === null))
      return masked(row.rows, inner.v1, inner.v2);
    if (row.v2 === null) return [];
    const when = row.mask === undefined || row.mask === "always" ? "always" : "sometimes";
    return [{ v1: `${v1}${row.v1}`, v2: `${v2}${row.v2}`, when, zero: zeroText(row), example: exampleText(row) }];
  });
}

function zeroText(row: Row): string {
  if (row.access === "output") return "null";
  if (row.kind === "enum" && row.list !== true) {
    return JSON.stringify(row.values.values.find(([v1]) => v1 === row.zero)?.[2] ?? null);
  }
  return JSON.stringify(row.zero);
}

function exampleText(row: Row): string {
  if (row.kind === "map") return '{"…": "…"}';
  if (row.list === true) return '["…"]';
  if (row.kind === "bool") return "true";
  if (row.kind === "int32" || row.kind === "uint32") return "1";
  return row.kind === "message" ? '{"…": "…"}' : '"…"';
}

/** A shell command that sets everything that v1 replaced; the fields that the client leaves out to zero. */
function patchLine(
  { resource }: CalledOperation,
  fields: readonly MaskedField[],
  left: readonly string[],
  version: string,
): string {
  // A member of a message would need the message around it.
  const always = fields.filter(({ when, v2 }) => when === "always" && !v2.includes("."));
  const mask = always.map(({ v2 }) => v2).join(",");
  const members = always.map(
    ({ v1, v2, zero, example }) => `${JSON.stringify(v2)}: ${left.includes(v1) ? zero : example}`,
  );
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

/** A shell function that needs curl and jq. Prints a JSON array of all records, each once, or fails. */
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
    # No new record although there are more pages: the token has expired and the list began again. Call it again.
    before=$count
    count=$(jq -s 'unique_by(.uid) | length' "$records")
    [ "$count" -gt "$before" ] || exit 1
  done
  # Records that moved from page to page meanwhile came twice.
  jq -s 'unique_by(.uid)' "$records"
)`;

/** A function for JavaScript and TypeScript. Rejects rather than returning a part of a list. */
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
