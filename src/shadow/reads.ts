/** Compares the translated response to a read with native's. */
import { type ComparedResponses, isDifference } from "../model/comparison.ts";
import type { ApiResponse, SendLayer } from "../model/http.ts";
import { member } from "../model/json.ts";
import type { Signal } from "../model/signal.ts";
import { type AnswerSource, isTrouble, type TranslatedAnswer } from "./answers.ts";
import type { CapturedExchange } from "./capture.ts";
import { compareAnswers } from "./compare.ts";
import { type DetailedComparison, EQUAL, hasExtraRecords, withoutNoise, withoutPassing } from "./differences.ts";
import { readValue, YieldBudget } from "./json-values.ts";
import { ComparisonError, type ComparisonVerdict } from "./outcome.ts";
import type { ComparisonRequest } from "./request.ts";
import type { CompareShape } from "./shape.ts";

/** What one comparison works with. */
export interface ComparisonWork {
  readonly asked: ComparisonRequest;
  readonly answers: AnswerSource;
  /** Of the compared operation. */
  readonly shape: CompareShape;
  readonly signal: Signal;
  /** From 0 up to 1. */
  random(): number;
  /** Runs `steps` to their end, with turns for other requests in between. */
  inSteps<T>(steps: Generator<void, T>): Promise<T>;
}

const NO_BODY = new Uint8Array(0);

/** A comparison of reads changes nothing, whatever a translation does. */
export const readsOnly: SendLayer = (next) => (request, sending) =>
  request.method === "GET" || request.method === "HEAD"
    ? next(request, sending)
    : Promise.reject(new ComparisonError("not-comparable"));

/**
 * The client has native's response, and the translated one is made now. Where the two differ, native is requested again: what
 * differs between its own responses is noise. That covers what native never says twice, and a record that was created, changed
 * or deleted in between. Records that only the translated list has must be in a later one as well: others lived too short for
 * native to show them. A fault of the translation in the very field that was changed is missed in this comparison. Without a second
 * response (`controlled` is false) all differences count. Throws ComparisonError.
 */
export async function compareShadowed(work: ComparisonWork, captured: CapturedExchange): Promise<ComparisonVerdict> {
  const { answers } = work;
  const native = await answers.readable(captured.answer);
  const translated = await answers.translated(captured.request, readsOnly);
  requireLetIn(native, translated);
  const compared = await compareResponses(work, native, translated);
  return isDifference(compared.result) || wantsControl(work)
    ? withControl(work, compared, native)
    : withoutControl(compared);
}

/**
 * The client has the translated response `served`, and native is requested now. Where the two differ, both are requested
 * again: first carryover, whose response is then later than native's first, and then native. Those are judged as above. When
 * they show no difference, the record was changed in between, and the result is noise; a translation that is right only
 * sometimes looks the same. A refusal is repeated in any case: that shows whether v2 let the caller in.
 */
export async function compareFollowed(work: ComparisonWork, served: ApiResponse): Promise<ComparisonVerdict> {
  const { answers } = work;
  const native = await answers.native();
  if (native.status === 401) throw new ComparisonError(served.status === 401 ? "refused" : "native");
  if (isTrouble(native.status)) throw new ComparisonError("native");
  const again = isRefusal(served) ? await answers.translated(NO_BODY, readsOnly) : undefined;
  if (again !== undefined) requireLetIn(native, again);
  const compared = await compareResponses(work, native, { answer: served, own: false });
  if (!isDifference(compared.result)) {
    return wantsControl(work) ? withControl(work, compared, native) : withoutControl(compared);
  }
  const later = again ?? (await answers.translated(NO_BODY, readsOnly));
  const verdict = await withControl(work, await compareResponses(work, native, later), native);
  return isDifference(verdict.result) ? verdict : { ...verdict, result: "noise" };
}

/** Throws ComparisonError `refused` where neither version let the caller in. */
export function requireLetIn(native: ApiResponse, { letIn }: Pick<TranslatedAnswer, "letIn">): void {
  if (isRefusal(native) && !letIn) throw new ComparisonError("refused");
}

function isRefusal({ status }: ApiResponse): boolean {
  return status >= 400;
}

/** `compared` without what differs between native's first response and a second one, and without records that came and went. */
async function withControl(
  work: ComparisonWork,
  compared: DetailedComparison,
  native: ApiResponse,
): Promise<ComparisonVerdict> {
  const again = await secondNative(work);
  if (again === undefined) return withoutControl(compared);
  const control = await compareResponses(work, native, { answer: again, own: false });
  const left = withoutNoise(compared, control);
  const later = hasExtraRecords(left) ? await laterTranslated(work, native) : undefined;
  const judged = later === undefined ? left : withoutPassing(left, later);
  return { ...judged, controlled: true, noisy: control.result !== "equal" };
}

/** Compares native's first response with a later translated one. Returns undefined without one. */
async function laterTranslated(work: ComparisonWork, native: ApiResponse): Promise<DetailedComparison | undefined> {
  try {
    return await compareResponses(work, native, await work.answers.translated(NO_BODY, readsOnly));
  } catch (thrown) {
    if (thrown instanceof ComparisonError) return undefined;
    throw thrown;
  }
}

/**
 * Compares two responses. A refusal of carryover's own has its own texts: it equals one of native's with the same status and
 * code. Throws ComparisonError `native` for a success of native's that differs and is no JSON: it was cut off, or it is a
 * page for people.
 */
export async function compareResponses(
  work: ComparisonWork,
  native: ApiResponse,
  { answer, own }: Pick<TranslatedAnswer, "answer" | "own">,
): Promise<DetailedComparison> {
  if (own && native.status === answer.status && codeOf(native) === codeOf(answer)) return EQUAL;
  const compared = await work.inSteps(compareAnswers(native, answer, work.shape));
  if (isDifference(compared.result) && !(await isJsonIfSuccess(work, native))) throw new ComparisonError("native");
  return compared;
}

/** False for a success whose body is no JSON. */
async function isJsonIfSuccess(work: ComparisonWork, { status, body }: ApiResponse): Promise<boolean> {
  if (status < 200 || status >= 300 || status === 204) return true;
  return (await work.inSteps(readValue(body, new YieldBudget()))) !== undefined;
}

/** Errors are small; a larger body is none. */
const MAX_ERROR_BYTES = 2 ** 16;

function codeOf({ body }: ApiResponse): unknown {
  try {
    const value: unknown = body.length > MAX_ERROR_BYTES ? undefined : JSON.parse(Buffer.from(body).toString("utf8"));
    return member(value, "code");
  } catch {
    return undefined;
  }
}

function withoutControl({ result, total, differences }: ComparedResponses): ComparisonVerdict {
  return { result, total, differences, controlled: false, noisy: undefined };
}

function wantsControl({ asked, random }: ComparisonWork): boolean {
  return random() < asked.settings.control;
}

/** Native's response to another read; undefined when native is in trouble. `target`: of a read other than the compared one. */
export async function secondNative(work: ComparisonWork, target?: string): Promise<ApiResponse | undefined> {
  try {
    const again = await work.answers.native(target);
    return isTrouble(again.status) || !(await isJsonIfSuccess(work, again)) ? undefined : again;
  } catch {
    work.signal.throwIfAborted();
    return undefined;
  }
}
