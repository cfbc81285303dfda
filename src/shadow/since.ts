/** Has somebody written a record since native answered the write that is compared? */
import type { Compared } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { ApiResponse } from "../model/message.ts";
import type { Row } from "../model/resource.ts";
import { bulkOf } from "./bulk.ts";
import { spellingsOf } from "./lost.ts";
import { parsedObject } from "./parsed.ts";
import { pair, type ReadWork, secondNative } from "./reads.ts";
import type { Seen } from "./seen.ts";
import { driven } from "./verdict.ts";

/** What native shows of a record; `gone`: it says that there is none. */
export type Present = JsonObject | "gone";

/**
 * Native's record `uid` as it is now: one GET of the list by its filter for one record, as v1 has no other read. Undefined
 * when that does not tell: no such filter, native's own trouble, a refusal, an answer that is too large or of another shape.
 */
export async function presentOf<Shape>(work: ReadWork<Shape>, uid: string): Promise<Present | undefined> {
  const { resource } = work.asked.match;
  const target = targetOf(resource, uid);
  const answer = target === undefined ? undefined : await secondNative(work, target);
  if (answer?.status === 404) return "gone";
  if (answer?.status !== 200) return undefined;
  const refused = await driven(bulkOf(answer.body), work.options.turn, work.signal);
  return refused === undefined ? recordIn(parsedObject(answer.body), resource.key, uid) : undefined;
}

function targetOf({ operations, domain, v1 }: Match["resource"], uid: string): string | undefined {
  const list = operations.find(({ kind }) => kind === "list");
  const filter = list?.kind === "list" ? list.filters.find(({ use }) => use === "get") : undefined;
  if (filter === undefined || uid === "") return undefined;
  return `/${domain}/v1/${v1}?${filter.v1}=${encodeURIComponent(uid)}`;
}

function recordIn(body: JsonObject | undefined, key: string, uid: string): Present | undefined {
  if (body === undefined) return undefined;
  const items = member(body, "items");
  // A list without records may leave them out.
  if (Object.keys(body).length === 0 || (Array.isArray(items) && items.length === 0)) return "gone";
  const record = Array.isArray(items) ? items.find((one) => member(one, key) === uid) : undefined;
  return isJsonObject(record) ? record : undefined;
}

/**
 * `seen` (a create or an update, its answer decoded) as if it had written what somebody has written since: each member of
 * native's answer of which `present` says something else now says that, in the request too. Undefined when there is none.
 * Nothing is concluded from a member that only one of the two has, or that is empty now: a list may always show less than
 * the answer to a write (secrets are told once), and then a difference that is always there would look like a change.
 */
export async function rewritten<Shape>(
  work: ReadWork<Shape>,
  seen: Seen,
  present: JsonObject,
): Promise<Seen | undefined> {
  const { match } = work.asked;
  const { operation } = match;
  if (operation.kind !== "create" && operation.kind !== "update") return undefined;
  const native = parsedObject(seen.answer.body) ?? {};
  const rows = new Map(operation.answer.rows.map((row) => [row.v1, row]));
  const names = Object.keys(native).filter((name) => Object.hasOwn(present, name));
  const before = Object.fromEntries(names.map((name) => [name, native[name] ?? null]));
  const now = Object.fromEntries(names.map((name) => [name, asWritten(present[name] ?? null, rows.get(name))]));
  const control = await pair(
    work,
    answering(seen.answer, before),
    { answer: answering(seen.answer, now), own: false },
    work.options.compare.shapeOf(match),
  );
  const changed = changedIn(control, now);
  if (changed.size === 0) return undefined;
  const sent = parsedObject(seen.request) ?? {};
  return {
    request: bytesOf(withChanges(sent, changed, operation.body.rows)),
    answer: answering(seen.answer, { ...native, ...Object.fromEntries(changed) }),
  };
}

/** Lists show the whole record where the answer to a write shows its uid. */
function asWritten(value: Json, row: Row | undefined): Json {
  return row?.kind === "string" && isJsonObject(value) ? (member(value, "id") ?? null) : value;
}

const EMPTY: ReadonlySet<string | undefined> = new Set(['""', "0", "false", "null", "[]", "{}"]);

function changedIn({ differences }: Compared, now: JsonObject): ReadonlyMap<string, Json> {
  const told = differences.filter(({ class: name, translated }) => name === "value" && !EMPTY.has(translated));
  const names = new Set(told.map(({ path }) => path.split(/[.[]/, 1)[0]));
  return new Map(Object.entries(now).filter(([name]) => names.has(name)));
}

/** `sent` with `changed` where a client can write it, under the names that this one used. */
function withChanges(sent: JsonObject, changed: ReadonlyMap<string, Json>, rows: readonly Row[]): JsonObject {
  const writable = rows.filter(({ v1, access }) => access !== "output" && changed.has(v1));
  const spellings = spellingsOf(writable);
  const given = Object.entries(sent).map(([name, value]) => {
    const v1 = spellings.get(name)?.v1;
    return [name, (v1 === undefined ? undefined : changed.get(v1)) ?? value] as const;
  });
  const known = new Set(given.map(([name]) => spellings.get(name)?.v1));
  const more = writable.flatMap(({ v1 }) => (known.has(v1) ? [] : [[v1, changed.get(v1) ?? null] as const]));
  return Object.fromEntries([...given, ...more]);
}

function answering(answer: ApiResponse, body: JsonObject): ApiResponse {
  return { ...answer, body: bytesOf(body) };
}

function bytesOf(body: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}
