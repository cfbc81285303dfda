/** Compares a write that native served with what the translation would have written. */
import { type ComparedResponses, type Difference, isDifference } from "../model/comparison.ts";
import type { ApiResponse } from "../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Row } from "../model/resource.ts";
import { readFixed } from "../translate/composites/sub-resource.ts";
import type { TranslatedAnswer } from "./answers.ts";
import { parseBounded } from "./bounded-json.ts";
import type { CapturedExchange } from "./capture.ts";
import { EQUAL } from "./differences.ts";
import { createDryRun, type DryRun } from "./dry-run.ts";
import { ComparisonError, type ComparisonVerdict, withMore, withoutPaths } from "./outcome.ts";
import { type ComparisonWork, compareResponses, requireLetIn, secondNative } from "./reads.ts";
import { fieldDifference, judgeCreate, judgeUnnamed, spellingsOf, withoutSentOn } from "./written-fields.ts";

/** A write as native served it, the response decoded, both bodies parsed; undefined: a body that is no JSON object. */
interface ServedWrite extends CapturedExchange {
  readonly sent: JsonObject | undefined;
  readonly shown: JsonObject | undefined;
}

/**
 * Native has served the write. The translation is run again without sending a write, and reads of v2 give the responses: they
 * show what native has just written. That proves that the call can be built; that v2 holds each field that the call names (its
 * mask, zeros of a full replace included); and that v2's record translates to the response that native gave. It cannot prove
 * that v2 would accept the call. It cannot prove what an update leaves out either, since v2 shows that as native has written
 * it: where leaving it out is a mistake for certain, it is a difference, otherwise `not-comparable` (`judgeUnnamed`).
 *
 * A difference may come from somebody else's write in the meantime: times of the two records show that, or another look
 * (`lookAgain`). A write that native refused is compared only where the translation refuses it by itself, for a caller whom v2
 * let in. Throws ComparisonError.
 */
export async function compareWritten(work: ComparisonWork, captured: CapturedExchange): Promise<ComparisonVerdict> {
  const answer = await work.answers.readable(captured.answer);
  const { request } = captured;
  const sent = await work.inSteps(parseBounded(request));
  const shown = await work.inSteps(parseBounded(answer.body));
  const succeeded = isSuccess(answer);
  if (succeeded && !isProvable(work.asked.match, request)) throw new ComparisonError("not-comparable");
  // The body was cut off, or is a page for people.
  if (succeeded && shown === undefined) throw new ComparisonError("native");
  const write: ServedWrite = { request, answer, sent, shown };
  const proof = await prove(work, write);
  // Requesting native twice would write twice, so there is no control.
  const { result, total, differences } = proof.compared;
  const verdict = { result, total, differences, controlled: false, noisy: undefined };
  if (isDifference(verdict.result)) {
    if (proof.overtaken) throw new ComparisonError("overtaken");
    // Where v2 was not read, no write can have made the difference.
    return succeeded && proof.read ? { ...verdict, controlled: await lookAgain(work, write, proof) } : verdict;
  }
  if (proof.unproved) throw new ComparisonError("not-comparable");
  return verdict;
}

/** A write compared with what v2 holds. */
interface WriteProof {
  readonly compared: ComparedResponses;
  /** That nothing differs proves nothing. */
  readonly unproved: boolean;
  /** The times of the two records show that v2's was written after native's response. */
  readonly overtaken: boolean;
  /** v2 has responded. */
  readonly read: boolean;
  /** Of the translated response. */
  readonly status: number;
}

async function prove(work: ComparisonWork, write: ServedWrite): Promise<WriteProof> {
  const { match } = work.asked;
  const succeeded = isSuccess(write.answer);
  const dryRun = createDryRun({
    uidPath: match.uidPath,
    created: succeeded ? stringIn(write.shown, match.resource.key) : undefined,
    refused: !succeeded,
    inSteps: work.inSteps,
  });
  const translated = await translatedWrite(work, write, dryRun);
  requireLetIn(write.answer, translated);
  const judged = await compareAll(work, write, translated, dryRun);
  return {
    ...judged,
    overtaken: isOvertaken(write.shown, dryRun),
    read: dryRun.answered(),
    status: translated.answer.status,
  };
}

/** Whatever the translation made of a call without a response, the comparison ends with the failure of that call. */
async function translatedWrite(work: ComparisonWork, write: ServedWrite, dryRun: DryRun): Promise<TranslatedAnswer> {
  const translated = await work.answers.translated(write.request, dryRun.layer).catch((thrown: unknown) => {
    throw endOf(dryRun) ?? thrown;
  });
  const ended = endOf(dryRun);
  if (ended !== undefined) throw ended;
  return translated;
}

function endOf(dryRun: DryRun): ComparisonError | undefined {
  const failure = dryRun.failure();
  return failure && new ComparisonError(failure);
}

/**
 * A write differs, and no time shows that somebody has written since: the record has none, or two writes have the same. So
 * native is asked what it shows now. When that is not what it responded to the write, the write is proved again as if it had
 * written that: a fault of the translation differs again. When native shows the same, or nothing, the difference stands;
 * resolves with whether native showed anything. Throws ComparisonError: `overtaken` when nothing differs any more, `gone`
 * when neither version has the record, and for whatever keeps v2 from being read again.
 */
async function lookAgain(work: ComparisonWork, write: ServedWrite, { compared }: WriteProof): Promise<boolean> {
  const { match } = work.asked;
  const { operation, resource } = match;
  const created = stringIn(write.shown, resource.key) ?? "";
  const present = await readNativeRecord(work, operation.kind === "create" ? created : match.uid);
  if (present === undefined) return false;
  if (operation.kind === "delete") {
    // Somebody has created it again, under the same uid.
    const other = withoutPaths(compared, new Set([resource.key]));
    if (present !== "gone" && !isDifference(other.result)) throw new ComparisonError("overtaken");
    return true;
  }
  const now = present === "gone" ? write : await rewritten(work, write, present);
  if (now === undefined || !isProvable(match, now.request)) return true;
  const again = await prove(work, now);
  if (present === "gone" && again.status === 404) throw new ComparisonError("gone");
  if (!isDifference(again.compared.result) || again.overtaken) throw new ComparisonError("overtaken");
  return true;
}

async function compareAll(
  work: ComparisonWork,
  write: ServedWrite,
  translated: TranslatedAnswer,
  { intercepted, stillThere }: DryRun,
): Promise<Pick<WriteProof, "compared" | "unproved">> {
  const { match } = work.asked;
  const { mismatches, incomplete } = translated;
  const sent = write.sent ?? {};
  const native = write.shown ?? {};
  const [first] = intercepted;
  const create = first && (await work.inSteps(judgeCreate(match, first, sent, native)));
  // An error about what v2 holds is no response to compare; the fields that it names are.
  const responses = incomplete ? EQUAL : await compareResponses(work, write.answer, translated);
  const fields = [...mismatches.map((v1) => fieldDifference("value", v1)), ...(create?.differences ?? [])];
  const judged = withoutSentOn(fields, match, write.request);
  const compared = withMore(withoutPaths(responses, create?.hidden ?? new Set()), [
    ...counted(work, judged),
    ...(stillThere() ? [notDeleted(match.resource.key, match.uid)] : []),
  ]);
  const answered = write.answer.status < 400 && (incomplete || translated.answer.status < 400);
  if (!answered) return { compared, unproved: false };
  const { differences, unproved } = judgeUnnamed(match, intercepted, sent, native);
  return {
    compared: withMore(compared, counted(work, differences)),
    unproved: unproved || judged.length < fields.length,
  };
}

/** Without those in members that are not compared. */
function counted({ shape }: ComparisonWork, differences: readonly Difference[]): readonly Difference[] {
  return differences.filter(({ path }) => shape.ignored?.has(path) !== true);
}

/** Native says that the record is gone, and v2 still shows it. */
function notDeleted(path: string, uid: string): Difference {
  return { class: "extra", path, id: uid, native: undefined, translated: JSON.stringify(uid) };
}

function isOvertaken(native: JsonObject | undefined, { intercepted }: DryRun): boolean {
  const answered = Date.parse(stringIn(native, "updatedAt") ?? "");
  return intercepted.some(({ stored }) => Date.parse(stringIn(stored, "updateTime") ?? "") > answered);
}

function isSuccess({ status }: ApiResponse): boolean {
  return status >= 200 && status < 300;
}

function stringIn(record: JsonObject | undefined, name: string): string | undefined {
  const value = member(record, name);
  return typeof value === "string" ? value : undefined;
}

/**
 * Native's record `uid` as it is now, or `gone`: one GET of the list by its filter for one record, as v1 has no other read.
 * Undefined when that does not tell: no such filter, native's own trouble, a refusal, or a response of another shape.
 */
async function readNativeRecord(work: ComparisonWork, uid: string): Promise<JsonObject | "gone" | undefined> {
  const { operations, domain, v1, key } = work.asked.match.resource;
  const list = operations.find(({ kind }) => kind === "list");
  const filter = list?.kind === "list" ? list.filters.find(({ use }) => use === "get") : undefined;
  if (filter === undefined || uid === "") return undefined;
  const answer = await secondNative(work, `/${domain}/v1/${v1}?${filter.v1}=${encodeURIComponent(uid)}`);
  if (answer?.status === 404) return "gone";
  if (answer?.status !== 200) return undefined;
  const body = await work.inSteps(parseBounded(answer.body)).catch((thrown: unknown) => {
    if (thrown instanceof ComparisonError) return undefined;
    throw thrown;
  });
  if (body === undefined) return undefined;
  const items = member(body, "items");
  // A list without records may leave out its items.
  if (Object.keys(body).length === 0 || (Array.isArray(items) && items.length === 0)) return "gone";
  const record = Array.isArray(items) ? items.find((one) => member(one, key) === uid) : undefined;
  return isJsonObject(record) ? record : undefined;
}

/**
 * `write` (a create or an update) as if it had written what somebody has written since: each member of native's response that
 * has another value in `present` has that value, in the request too. Undefined when there is none. A member that only one of
 * the two has, or that is empty now, is left alone: a list may always show less than the response to a write (secrets are
 * shown once), and a difference that is always there would look like a change.
 */
async function rewritten(
  work: ComparisonWork,
  write: ServedWrite,
  present: JsonObject,
): Promise<ServedWrite | undefined> {
  const { operation } = work.asked.match;
  if (operation.kind !== "create" && operation.kind !== "update") return undefined;
  const native = write.shown ?? {};
  const rows = new Map(operation.answer.rows.map((row) => [row.v1, row]));
  const names = Object.keys(native).filter((name) => Object.hasOwn(present, name));
  const before = Object.fromEntries(names.map((name) => [name, native[name] ?? null]));
  const now = Object.fromEntries(names.map((name) => [name, asWritten(present[name] ?? null, rows.get(name))]));
  const answering = (body: JsonObject): ApiResponse => ({ ...write.answer, body: bytesOf(body) });
  const control = await compareResponses(work, answering(before), { answer: answering(now), own: false });
  const changed = changedIn(control, now);
  if (changed.size === 0) return undefined;
  const sent = withChanges(write.sent ?? {}, changed, operation.body.rows);
  const shown = { ...native, ...Object.fromEntries(changed) };
  return { request: bytesOf(sent), answer: answering(shown), sent, shown };
}

/** Lists show the whole record where the response to a write shows its uid. */
function asWritten(value: Json, row: Row | undefined): Json {
  return row?.kind === "string" && isJsonObject(value) ? (member(value, "id") ?? null) : value;
}

const EMPTY_VALUES: ReadonlySet<string | undefined> = new Set(['""', "0", "false", "null", "[]", "{}"]);

function changedIn({ differences }: ComparedResponses, now: JsonObject): ReadonlyMap<string, Json> {
  const changes = differences.filter(
    ({ class: name, translated }) => name === "value" && !EMPTY_VALUES.has(translated),
  );
  const names = new Set(changes.map(({ path }) => path.split(/[.[]/, 1)[0]));
  return new Map(Object.entries(now).filter(([name]) => names.has(name)));
}

/** `sent` with `changed` where a client can write it, under the names that this client used. */
function withChanges(sent: JsonObject, changed: ReadonlyMap<string, Json>, rows: readonly Row[]): JsonObject {
  const writable = rows.filter(({ v1, access }) => access !== "output" && changed.has(v1));
  const spellings = spellingsOf(writable);
  const after = { ...sent };
  const known = new Set<string>();
  for (const [name, value] of Object.entries(sent)) {
    const v1 = spellings.get(name)?.v1;
    if (v1 === undefined) continue;
    known.add(v1);
    after[name] = changed.get(v1) ?? value;
  }
  for (const { v1 } of writable) if (!known.has(v1)) after[v1] = changed.get(v1) ?? null;
  return after;
}

function bytesOf(body: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}

/**
 * True when reads after native's write show what the translation would have done. They do not where the translation reads the
 * record first and decides by what it finds (a name that is taken, settings that v2 alone sets), as native has changed that by
 * now; nor for verbs, batches and wrapped updates, since v2 has no record to read at their paths.
 */
function isProvable({ operation }: OperationMatch, body: Uint8Array): boolean {
  switch (operation.kind) {
    case "delete":
      return true;
    case "create":
      return operation.by === undefined;
    case "update":
      return (
        operation.by === undefined || (operation.by === "replace-with-sub" && !namesFixed(operation.body.rows, body))
      );
    default:
      return false;
  }
}

/** True for a request with fields that the translation refuses to change. */
function namesFixed(rows: Parameters<typeof readFixed>[1], body: Uint8Array): boolean {
  try {
    return readFixed(body, rows).length > 0;
  } catch {
    // The translation refuses the whole request, whatever the record is.
    return false;
  }
}
