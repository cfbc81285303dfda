/** What did native make of a full replace that the PATCH which was built does not name? */
import { isDeepStrictEqual } from "node:util";
import { shortened } from "../cutover/differences.ts";
import type { Difference } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { Operation, Row } from "../model/resource.ts";
import { camelCase, snakeCase } from "../translate/names.ts";
import { isSame, isZero } from "../translate/same.ts";
import { isCompared } from "../translate/update.ts";
import type { Caught } from "./catching.ts";
import { spellingsOf } from "./lost.ts";

/** A read after native's write shows what native has just written: it proves only what the mask names. */
export interface Unnamed {
  /** Members that v1 clients can give a record when they make it, and that the update would not change. */
  readonly differences: readonly Difference[];
  /** The client sent what the PATCH leaves out on purpose, or nobody knows: no read tells whether native changed it. */
  readonly unproved: boolean;
}

interface Finding {
  /** Mask paths in camelCase. */
  readonly named: ReadonlySet<string>;
  readonly operation: Operation & { readonly kind: "update" };
  readonly differences: Difference[];
  unproved: boolean;
}

/** One message of the request beside native's answer. */
interface Level {
  readonly rows: readonly Row[];
  /** What a create takes there. */
  readonly created: readonly Row[];
  readonly sent: JsonObject;
  readonly native: JsonObject;
  readonly v1: string;
  readonly v2: string;
}

const NOTHING: Unnamed = { differences: [], unproved: false };

/**
 * `sent` and `native`: the request of an update and native's answer, parsed; `caught`: what was built. Looked at is each
 * member that the mask does not name and that native shows as a full replace makes it: as it was sent, or zero when it was
 * left out. A row that a create takes and the update declares otherwise is a `missing` difference. A member whose row is
 * declared `never`, or output, or is none, is unproved when it was sent. Proved although unnamed is what is compared with the stored
 * record (`when-changed`, `unless-synced`): the translation itself has found it at its v2 name. Nothing is said of rows of a mask class that were left out: whether v1
 * emptied them nobody can tell afterwards.
 */
export function judgeUnnamed(match: Match, caught: readonly Caught[], sent: Json, native: Json): Unnamed {
  const { operation, resource, uidPath } = match;
  if (operation.kind !== "update" || !isJsonObject(sent) || !isJsonObject(native)) return NOTHING;
  const create = resource.operations.find(({ kind }) => kind === "create");
  const finding: Finding = { named: namedBy(caught, uidPath), operation, differences: [], unproved: false };
  // The path says which record it is, whatever the body says.
  const without = (rows: readonly Row[]): readonly Row[] => rows.filter(({ v1 }) => v1 !== resource.key);
  const rows = without(operation.body.rows);
  const created = without(create?.kind === "create" ? create.body.rows : []);
  look({ rows, created, sent: withoutKey(sent, resource.key), native, v1: "", v2: "" }, finding);
  return finding;
}

function withoutKey(sent: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== key && name !== snakeCase(key)));
}

/** What the PATCH of the record itself names; a part of it in a sub-resource has a path of its own. */
function namedBy(caught: readonly Caught[], uidPath: string): ReadonlySet<string> {
  for (const { request } of caught) {
    const [path = "", query = ""] = request.target.split("?", 2);
    if (request.method !== "PATCH" || !path.endsWith(`/${uidPath}`)) continue;
    return new Set((new URLSearchParams(query).get("updateMask") ?? "").split(",").map(camelCase));
  }
  return new Set();
}

function look(level: Level, finding: Finding): void {
  const { rows, created, sent, native } = level;
  const bySpelling = spellingsOf([...rows, ...created]);
  const values = new Map(Object.entries(sent).map(([name, value]) => [bySpelling.get(name)?.v1 ?? name, value]));
  const creates = new Map(created.map((row) => [row.v1, row]));
  const known = new Set(rows.map(({ v1 }) => v1));
  for (const row of rows) {
    const path = pathOf(level.v2, row);
    if (row.v2 !== null && finding.named.has(path)) continue;
    const [value, shown, twin] = [values.get(row.v1), member(native, row.v1), creates.get(row.v1)];
    if (row.kind === "message" && "mask" in row && row.mask === "members" && isJsonObject(value)) {
      const within = twin?.kind === "message" ? twin.rows : [];
      const into = isJsonObject(shown) ? shown : {};
      look(
        { rows: row.rows, created: within, sent: value, native: into, v1: `${level.v1}${row.v1}.`, v2: path },
        finding,
      );
    } else note(judged(row, twin, value, shown, finding.operation), level.v1 + row.v1, value ?? shown, finding);
  }
  for (const row of created) {
    if (known.has(row.v1) || !isTaken(row)) continue;
    const [value, shown] = [values.get(row.v1), member(native, row.v1)];
    if (isDone(row, value, shown)) note("lost", level.v1 + row.v1, value ?? shown, finding);
  }
  for (const [name, value] of values) {
    if (known.has(name) || creates.has(name) || isZero(value)) continue;
    if (isDeepStrictEqual(member(native, name), value)) finding.unproved = true;
  }
}

function note(judgement: "lost" | "unproved" | undefined, v1: string, value: Json | undefined, finding: Finding): void {
  if (judgement === "unproved") finding.unproved = true;
  if (judgement !== "lost") return;
  const native = value === undefined ? undefined : shortened(JSON.stringify(value));
  finding.differences.push({ class: "missing", path: shortened(v1), id: undefined, native, translated: undefined });
}

/** Of a row that is not named; `twin`: the same one of a create. */
function judged(
  row: Row,
  twin: Row | undefined,
  value: Json | undefined,
  shown: Json | undefined,
  operation: Finding["operation"],
): "lost" | "unproved" | undefined {
  if (!isDone(row, value, shown) || isElsewhere(row, operation)) return undefined;
  const said = !isV1Zero(value, row);
  if (isCompared(row) && row.v2 !== null && (said || isPlainZero(row, value))) return undefined;
  const declared = maskOf(row) === "always" || twin === undefined ? false : maskOf(row) === maskOf(twin);
  if (twin !== undefined && isTaken(twin) && !declared) return "lost";
  // A time that neither operation takes is the server's own, and clients send it back as they read it.
  const isServersTime = row.access === "output" && row.kind === "timestamp";
  return said && !isServersTime ? "unproved" : undefined;
}

/** Native shows what a full replace makes of the member: what was sent, or zero. */
function isDone(row: Row, value: Json | undefined, shown: Json | undefined): boolean {
  if (isV1Zero(value, row)) return isV1Zero(shown, row);
  return !isV1Zero(shown, row) && isSame(nameOf(value, row), shown, row, true);
}

/** Told by the path, or written behind another path, where the translation looks for itself. */
function isElsewhere({ v1, v2, from }: Row, { joins }: Finding["operation"]): boolean {
  return v2 === null && (from !== undefined || (joins ?? []).some((join) => join.v1 === v1 && join.sub !== undefined));
}

/** An explicit zero is compared with the stored value as any other. */
function isPlainZero(row: Row, value: Json | undefined): boolean {
  return value !== undefined && value !== null && !("zeroUnsaid" in row && row.zeroUnsaid === true);
}

/** v2 has it, and a client may set it. */
function isTaken(row: Row): boolean {
  return row.access !== "output" && row.v2 !== null;
}

function maskOf(row: Row): string {
  return row.access === "output" ? "output" : (row.mask ?? "always");
}

function pathOf(parent: string, row: Row): string {
  const own = camelCase(row.v2Proto ?? snakeCase(row.v2 ?? ""));
  return parent === "" ? own : `${parent}.${own}`;
}

/** `isZero` knows the names that v2 gives to enum values. */
function isV1Zero(value: Json | undefined, row: Row): boolean {
  if (row.kind !== "enum" || row.list === true) return isZero(value, row);
  const zero = row.values.values.find(([, number]) => number === 0);
  return isZero(value) || (zero !== undefined && value === zero[0]);
}

/** Clients may send an enum's number; answers have its name. */
function nameOf(value: Json | undefined, row: Row): Json | undefined {
  if (row.kind !== "enum" || typeof value !== "number") return value;
  return row.values.values.find(([, number]) => number === value)?.[0] ?? value;
}
