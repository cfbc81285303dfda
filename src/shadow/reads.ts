/** Is the translated answer to a read what native answered? (Design section 7: shadow for reads.) */

import { type ComparedResponses, isDifference } from "../model/comparison.ts";
import type { ApiResponse, SendLayer } from "../model/http.ts";
import { member } from "../model/json.ts";
import type { Signal } from "../model/signal.ts";
import { type AnswerSource, isTrouble, type TranslatedAnswer } from "./answers.ts";
import type { CapturedExchange } from "./capture.ts";
import { readValue } from "./json-values.ts";
import { type ComparisonVerdict, comparisonError, EQUAL, runInSteps } from "./outcome.ts";
import type { ComparisonRequest, ShadowOptions } from "./request.ts";

export interface ComparisonWork<Shape> {
  readonly asked: ComparisonRequest;
  readonly options: Pick<ShadowOptions<Shape>, "compare" | "random" | "turn">;
  readonly answers: AnswerSource;
  readonly signal: Signal;
}

const NO_BODY = new Uint8Array(0);

/** A comparison of reads never changes anything, whatever a translation does. */
export const readsOnly: SendLayer = (next) => (request, sending) =>
  request.method === "GET" || request.method === "HEAD"
    ? next(request, sending)
    : Promise.reject(comparisonError("not-comparable"));

/**
 * Native has answered the client with `seen`; the translated answer is made now, later than native's. Where they differ,
 * native is asked again, later still: what differs between its two answers is noise. That covers what native says otherwise
 * each time, and a record that somebody changed in between: when native's second answer equals the translated one at a
 * place, it differs from its first there. A fault of the translation at the very place that changed is not seen in this
 * comparison. What is left differs although native said the same before and after. Without a second answer (native in
 * trouble, `controlled` false) differences stand as they are. Throws `failing`, `refused` where nobody was let in.
 */
export async function compareShadowed<Shape>(
  work: ComparisonWork<Shape>,
  seen: CapturedExchange,
): Promise<ComparisonVerdict> {
  const { answers, asked, options } = work;
  const native = await answers.readable(seen.answer);
  const translated = await answers.translated(seen.request, readsOnly);
  requireLetIn(native, translated);
  const shape = options.compare.shapeOf(asked.match);
  const compared = await compareResponses(work, native, translated, shape);
  if (!isDifference(compared.result) && !wantsControl(work)) return withoutControl(compared);
  return withControl(work, compared, native, shape);
}

/**
 * The reverse: carryover has answered the client with `seen`, and native is asked afterwards. Where they differ, everything is
 * asked once more, in the order that proves something: carryover, which is later than native's first answer, then native.
 * What those two show is judged as above. When it is nothing, the record changed between the two answers that differed (or
 * the translation is sometimes right and sometimes wrong, which looks the same), and the comparison counts as noise. Where
 * carryover refused, it is asked once more in any case: that shows whether v2 let the caller in.
 */
export async function compareFollowed<Shape>(
  work: ComparisonWork<Shape>,
  seen: ApiResponse,
): Promise<ComparisonVerdict> {
  const { answers, asked, options } = work;
  const native = await answers.native();
  if (native.status === 401) throw comparisonError(seen.status === 401 ? "refused" : "native");
  if (isTrouble(native.status)) throw comparisonError("native");
  const again = isRefusal(seen) ? await answers.translated(NO_BODY, readsOnly) : undefined;
  if (again !== undefined) requireLetIn(native, again);
  const shape = options.compare.shapeOf(asked.match);
  const compared = await compareResponses(work, native, { answer: seen, own: false }, shape);
  if (!isDifference(compared.result)) {
    return wantsControl(work) ? withControl(work, compared, native, shape) : withoutControl(compared);
  }
  const later = again ?? (await answers.translated(NO_BODY, readsOnly));
  const verdict = await withControl(work, await compareResponses(work, native, later, shape), native, shape);
  return isDifference(verdict.result) ? verdict : { ...verdict, result: "noise" };
}

/** Throws `failing`, `refused`: what neither version did for the caller, anybody could have asked for. */
export function requireLetIn(native: ApiResponse, { letIn }: Pick<TranslatedAnswer, "letIn">): void {
  if (isRefusal(native) && !letIn) throw comparisonError("refused");
}

function isRefusal({ status }: ApiResponse): boolean {
  return status >= 400;
}

/** Asks native again, and leaves out of `compared` what differs between its two answers. */
async function withControl<Shape>(
  work: ComparisonWork<Shape>,
  compared: ComparedResponses,
  native: ApiResponse,
  shape: Shape,
): Promise<ComparisonVerdict> {
  const again = await secondNative(work);
  if (again === undefined) return withoutControl(compared);
  const control = await compareResponses(work, native, { answer: again, own: false }, shape);
  const left = work.options.compare.withoutNoise(compared, control);
  return { ...left, controlled: true, noisy: control.result !== "equal" };
}

/**
 * The two beside each other. A refusal of carryover's own is in its own words, and a client goes by status and code: where
 * those are native's there is no difference. One that v2 gave is compared down to its details. Throws `failing`, `native`, for
 * a success of native's that is no JSON, where the two differ.
 */
export async function compareResponses<Shape>(
  { options: { compare, turn }, signal }: Pick<ComparisonWork<Shape>, "options" | "signal">,
  native: ApiResponse,
  { answer, own }: Pick<TranslatedAnswer, "answer" | "own">,
  shape: Shape,
): Promise<ComparedResponses> {
  if (own && native.status === answer.status && codeOf(native) === codeOf(answer)) return EQUAL;
  const compared = await runInSteps(compare.compareAnswers(native, answer, shape), turn, signal);
  // Every operation that is compared answers JSON. What is cut off, or a page for people, is native's trouble.
  if (isDifference(compared.result) && bringsContent(native) && !(await runInSteps(isJson(native), turn, signal))) {
    throw comparisonError("native");
  }
  return compared;
}

function bringsContent({ status }: ApiResponse): boolean {
  return status >= 200 && status < 300 && status !== 204;
}

function* isJson({ body }: ApiResponse): Generator<void, boolean> {
  return (yield* readValue(body, { work: 0 })) !== undefined;
}

/** Errors are small; a larger answer is none. */
const MAX_ERROR_BYTES = 2 ** 16;

function codeOf({ body }: ApiResponse): unknown {
  try {
    const value: unknown = body.length > MAX_ERROR_BYTES ? undefined : JSON.parse(Buffer.from(body).toString("utf8"));
    return member(value, "code");
  } catch {
    return undefined;
  }
}

function withoutControl(compared: ComparedResponses): ComparisonVerdict {
  return { ...compared, controlled: false, noisy: undefined };
}

function wantsControl<Shape>({ asked, options }: ComparisonWork<Shape>): boolean {
  return options.random() < asked.settings.control;
}

/** Undefined when native has trouble of its own at that time. `target`: of another read than the one that is compared. */
export async function secondNative<Shape>(
  { answers, options: { turn }, signal }: ComparisonWork<Shape>,
  target?: string,
): Promise<ApiResponse | undefined> {
  try {
    const again = await answers.native(target);
    if (isTrouble(again.status)) return undefined;
    return bringsContent(again) && !(await runInSteps(isJson(again), turn, signal)) ? undefined : again;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
