/** Would the translated write have made what native made? (Design section 7: shadow for writes.) */
import { type ComparedResponses, type Difference, isDifference } from "../model/comparison.ts";
import type { ApiResponse } from "../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Row } from "../model/resource.ts";
import { readFixed } from "../translate/composites/sub-resource.ts";
import type { TranslatedAnswer } from "./answers.ts";
import { parsedObject, stringOf, whyNotParsed } from "./bounded-json.ts";
import type { CapturedExchange } from "./capture.ts";
import { createDryRun, type DryRun } from "./dry-run.ts";
import { type ComparisonVerdict, comparisonError, EQUAL, runInSteps, withMore, withoutPlaces } from "./outcome.ts";
import { type ComparisonWork, compareResponses, requireLetIn, secondNative } from "./reads.ts";
import { judgeCreate, judgeUnnamed, mismatch, spellingsOf } from "./written-fields.ts";

/**
 * Native has served the write. The translation is run again with everything that would change something caught, and answered
 * by reads of what v2 holds now, which is what native made. Proved is: the call can be built; each field that it names (its
 * mask, zeros of a full replace included) is what v2 holds; and v2's record makes the v1 answer that native gave. Not proved
 * is what only v2 could say: that it takes the call; nor what an update leaves out, since v2 shows it as native has just
 * written it: that is a difference where it cannot be meant, and else not comparable (`judgeUnnamed`). Times tell when
 * somebody has written the record since, or a second look does (`lookAgain`); then there is nothing to compare. What native
 * refused is compared only where the translation refuses it by itself, for a caller whom a read of v2's let in. Request,
 * answer and record are parsed whole, each in one step, and so must not be large (`bulkOf`).
 * Throws `failing`: `not-comparable` for every write that reads cannot show, `refused` where nobody was let in.
 */
export async function compareWritten<Shape>(
  work: ComparisonWork<Shape>,
  seen: CapturedExchange,
): Promise<ComparisonVerdict> {
  const native = await work.answers.readable(seen.answer);
  for (const text of [seen.request, native.body]) {
    const refused = await runInSteps(whyNotParsed(text), work.options.turn, work.signal);
    if (refused !== undefined) throw comparisonError(refused);
  }
  const succeeded = isSuccess(native);
  if (succeeded && !isProvable(work.asked.match, seen.request)) throw comparisonError("not-comparable");
  // Cut off, or a page that says something to people.
  if (succeeded && parsedObject(native.body) === undefined) throw comparisonError("native");
  const whole = { ...seen, answer: native };
  const proof = await prove(work, whole);
  // Asking native twice would write twice, so there is no control.
  const verdict = { ...proof.compared, controlled: false, noisy: undefined };
  if (isDifference(verdict.result)) {
    if (proof.overtaken) throw comparisonError("overtaken");
    // Where v2 was not asked, nobody's write can have made the difference.
    return succeeded && proof.read ? { ...verdict, controlled: await lookAgain(work, whole, proof) } : verdict;
  }
  if (proof.unproved) throw comparisonError("not-comparable");
  return verdict;
}

/** What came out when a write was compared with what v2 holds. */
interface WriteProof {
  readonly compared: ComparedResponses;
  /** Where nothing differs, that does not prove what it seems to. */
  readonly unproved: boolean;
  /** The times of the two records say that v2's was written after native had answered. */
  readonly overtaken: boolean;
  /** v2 was asked, and answered. */
  readonly read: boolean;
  /** Of the translated answer. */
  readonly status: number;
}

async function prove<Shape>(work: ComparisonWork<Shape>, seen: CapturedExchange): Promise<WriteProof> {
  const { match } = work.asked;
  const body = parsedObject(seen.answer.body);
  const succeeded = isSuccess(seen.answer);
  const catching = createDryRun({
    uidPath: match.uidPath,
    made: succeeded ? stringOf(member(body, match.resource.key)) : undefined,
    mode: succeeded ? "answer" : "refuse",
    bulk: (text) => runInSteps(whyNotParsed(text), work.options.turn, work.signal),
  });
  const translated = await answerOf(work, seen, catching);
  requireLetIn(seen.answer, translated);
  const judged = await compareAll(work, seen, translated, catching);
  const { status } = translated.answer;
  return { ...judged, overtaken: isOvertaken(body, catching), read: catching.answered(), status };
}

/**
 * The write differs, and no time tells that somebody has written since: the record has none, or two writes have the same.
 * So native is asked what it shows now. Where that is something else than it answered, the write is proved once more as if
 * it had said so, with another read of v2's record: a fault of the translation differs again. Where native says the same as
 * before, or nothing, the difference stands; resolves with whether native said anything. Throws `failing`: `overtaken` when
 * nothing differs any more, `gone` when neither version has the record, and for whatever keeps v2 from being read again.
 */
async function lookAgain<Shape>(
  work: ComparisonWork<Shape>,
  seen: CapturedExchange,
  { compared }: WriteProof,
): Promise<boolean> {
  const { match } = work.asked;
  const { operation, resource } = match;
  const made = stringOf(member(parsedObject(seen.answer.body), resource.key));
  const present = await readNativeRecord(work, operation.kind === "create" ? (made ?? "") : match.uid);
  if (present === undefined) return false;
  if (operation.kind === "delete") {
    // Somebody has made it again, under the same uid.
    const other = withoutPlaces(compared, new Set([resource.key]));
    if (present !== "gone" && !isDifference(other.result)) throw comparisonError("overtaken");
    return true;
  }
  const now = present === "gone" ? seen : await rewritten(work, seen, present);
  if (now === undefined || !isProvable(match, now.request)) return true;
  const again = await prove(work, now);
  if (present === "gone" && again.status === 404) throw comparisonError("gone");
  if (!isDifference(again.compared.result) || again.overtaken) throw comparisonError("overtaken");
  return true;
}

/** The translated answer. Whatever became of a call that could not be answered, the comparison ends with it. */
async function answerOf<Shape>(
  { answers }: ComparisonWork<Shape>,
  seen: CapturedExchange,
  catching: DryRun,
): Promise<TranslatedAnswer> {
  const ended = (): void => {
    const failure = catching.failure();
    if (failure !== undefined) throw comparisonError(failure);
  };
  try {
    const translated = await answers.translated(seen.request, catching.layer);
    ended();
    return translated;
  } catch (thrown) {
    ended();
    throw thrown;
  }
}

async function compareAll<Shape>(
  work: ComparisonWork<Shape>,
  seen: CapturedExchange,
  translated: TranslatedAnswer,
  catching: DryRun,
): Promise<Pick<WriteProof, "compared" | "unproved">> {
  const { match } = work.asked;
  const { mismatches, incomplete } = translated;
  const [first] = catching.intercepted;
  const made = first && (await runInSteps(judgeCreate(match, first, seen), work.options.turn, work.signal));
  // A refusal to answer for what v2 holds is no answer to compare; the fields that it names are.
  const answers = incomplete
    ? EQUAL
    : await compareResponses(work, seen.answer, translated, work.options.compare.shapeOf(match));
  const further = [
    ...mismatches.map((v1) => mismatch(v1)),
    ...(made?.differences ?? []),
    ...(catching.stillThere() ? [notDeleted(match.resource.key, match.uid)] : []),
  ];
  const compared = withMore(withoutPlaces(answers, made?.untold ?? new Set()), further);
  const answered = seen.answer.status < 400 && (incomplete || translated.answer.status < 400);
  return answered ? withUnnamed(work, seen, compared, catching) : { compared, unproved: false };
}

async function withUnnamed<Shape>(
  { asked: { match }, options, signal }: ComparisonWork<Shape>,
  seen: CapturedExchange,
  compared: ComparedResponses,
  { intercepted: caught }: DryRun,
): Promise<Pick<WriteProof, "compared" | "unproved">> {
  await options.turn();
  signal.throwIfAborted();
  const [sent, native] = [parsedObject(seen.request) ?? {}, parsedObject(seen.answer.body) ?? {}];
  const { differences, unproved } = judgeUnnamed(match, caught, sent, native);
  return { compared: withMore(compared, differences), unproved };
}

/** native says that it is gone, and v2 still shows it. */
function notDeleted(path: string, uid: string): Difference {
  return { class: "extra", path, id: uid, native: undefined, translated: JSON.stringify(uid) };
}

/** v2's record was written after native had answered. */
function isOvertaken(native: Json | undefined, { intercepted: caught }: DryRun): boolean {
  const answered = Date.parse(stringOf(member(native, "updatedAt")) ?? "");
  return caught.some(
    ({ stored }) => Date.parse(stringOf(member(parsedObject(stored.body), "updateTime")) ?? "") > answered,
  );
}

function isSuccess({ status }: ApiResponse): boolean {
  return status >= 200 && status < 300;
}

/** Has somebody written a record since native answered the write that is compared? */

/** What native shows of a record; `gone`: it says that there is none. */
export type NativeRecord = JsonObject | "gone";

/**
 * Native's record `uid` as it is now: one GET of the list by its filter for one record, as v1 has no other read. Undefined
 * when that does not tell: no such filter, native's own trouble, a refusal, an answer that is too large or of another shape.
 */
export async function readNativeRecord<Shape>(
  work: ComparisonWork<Shape>,
  uid: string,
): Promise<NativeRecord | undefined> {
  const { resource } = work.asked.match;
  const target = targetOf(resource, uid);
  const answer = target === undefined ? undefined : await secondNative(work, target);
  if (answer?.status === 404) return "gone";
  if (answer?.status !== 200) return undefined;
  const refused = await runInSteps(whyNotParsed(answer.body), work.options.turn, work.signal);
  return refused === undefined ? recordIn(parsedObject(answer.body), resource.key, uid) : undefined;
}

function targetOf({ operations, domain, v1 }: OperationMatch["resource"], uid: string): string | undefined {
  const list = operations.find(({ kind }) => kind === "list");
  const filter = list?.kind === "list" ? list.filters.find(({ use }) => use === "get") : undefined;
  if (filter === undefined || uid === "") return undefined;
  return `/${domain}/v1/${v1}?${filter.v1}=${encodeURIComponent(uid)}`;
}

function recordIn(body: JsonObject | undefined, key: string, uid: string): NativeRecord | undefined {
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
  work: ComparisonWork<Shape>,
  seen: CapturedExchange,
  present: JsonObject,
): Promise<CapturedExchange | undefined> {
  const { match } = work.asked;
  const { operation } = match;
  if (operation.kind !== "create" && operation.kind !== "update") return undefined;
  const native = parsedObject(seen.answer.body) ?? {};
  const rows = new Map(operation.answer.rows.map((row) => [row.v1, row]));
  const names = Object.keys(native).filter((name) => Object.hasOwn(present, name));
  const before = Object.fromEntries(names.map((name) => [name, native[name] ?? null]));
  const now = Object.fromEntries(names.map((name) => [name, asWritten(present[name] ?? null, rows.get(name))]));
  const control = await compareResponses(
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

const EMPTY_VALUES: ReadonlySet<string | undefined> = new Set(['""', "0", "false", "null", "[]", "{}"]);

function changedIn({ differences }: ComparedResponses, now: JsonObject): ReadonlyMap<string, Json> {
  const told = differences.filter(({ class: name, translated }) => name === "value" && !EMPTY_VALUES.has(translated));
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

/** Which writes can be proved by reading? */

/**
 * True when reads after native's write show what the translation would have done. Not so where the translation looks at
 * the record first and decides by what it finds (a name that is taken or changed, settings that v2 alone sets): native has
 * changed that by now. Nor for verbs, batches and wrapped updates: v2 has no record to read behind their paths.
 */
export function isProvable({ operation }: OperationMatch, body: Uint8Array): boolean {
  switch (operation.kind) {
    case "delete":
      return true;
    case "create":
      return operation.by === undefined;
    case "update":
      return (
        operation.by === undefined || (operation.by === "replace-with-sub" && !saysFixed(operation.body.rows, body))
      );
    default:
      return false;
  }
}

/** Something that the translation would have refused to change. */
function saysFixed(rows: Parameters<typeof readFixed>[1], body: Uint8Array): boolean {
  try {
    return readFixed(body, rows).length > 0;
  } catch {
    // Refused as a whole: that does not depend on the record.
    return false;
  }
}
