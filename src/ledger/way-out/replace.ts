/** What takes the place of a PUT that replaced a whole record? */
import type { Operation, Row } from "../../model/resource.ts";
import type { Called } from "./calls.ts";
import { v2Call } from "./calls.ts";
import { block, code, codes } from "./markdown.ts";

/** Markdown for one update; `left`: the fields that the client's PUTs leave out, so that v1 emptied them. */
export function replaceSection(called: Called, left: readonly string[], version: string): readonly string[] {
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

interface Masked {
  readonly v1: string;
  readonly v2: string;
  readonly when: "always" | "sometimes";
  /** JSON texts: v2's zero, and something of the right kind. */
  readonly zero: string;
  readonly some: string;
}

/** What a mask may name, by v2's path. */
function masked(rows: readonly Row[], v1 = "", v2 = ""): readonly Masked[] {
  return rows.flatMap((row): readonly Masked[] => {
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
function patchLine({ resource }: Called, fields: readonly Masked[], left: readonly string[], version: string): string {
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

function fieldsWords(fields: readonly Masked[]): readonly string[] {
  const sometimes = fields.filter(({ when }) => when === "sometimes").map(({ v2 }) => v2);
  return [
    "Better: name only what changes, and two clients no longer overwrite each other.",
    ...(sometimes.length === 0 ? [] : [`Only when they are meant to change: ${codes(sometimes)}.`]),
    ...(fields.some(({ v2 }) => /[A-Z]/.test(v2))
      ? [`Some platforms want the mask in snake_case (${code("updateMask=field_name")}): a 400 says so.`]
      : []),
  ];
}
