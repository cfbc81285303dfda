/** Would the translated write have made what native made? (Design section 7: shadow for writes.) */
import { type Compared, type Difference, isDifference } from "../model/comparison.ts";
import { isJsonObject, type Json, member } from "../model/json.ts";
import type { Translated } from "./answers.ts";
import { judgeMade, mismatch } from "./built.ts";
import { bulkOf } from "./bulk.ts";
import { type Catching, createCatching } from "./catching.ts";
import { type Failure, failing } from "./failure.ts";
import { isProvable } from "./provable.ts";
import { needsLetIn, pair, type ReadWork } from "./reads.ts";
import type { Seen } from "./seen.ts";
import { judgeUnnamed } from "./unnamed.ts";
import { driven, EQUAL, type Verdict, withMore, withoutPlaces } from "./verdict.ts";

/**
 * Native has served the write. The translation is run again with everything that would change something caught, and answered
 * by reads of what v2 holds now, which is what native made. Proved is: the call can be built; each field that it names (its
 * mask, zeros of a full replace included) is what v2 holds; and v2's record makes the v1 answer that native gave. Not proved
 * is what only v2 could say: that it takes the call; nor what an update leaves out, since v2 shows it as native has just
 * written it: that is a difference where it cannot be meant, and else not comparable (`judgeUnnamed`). Times tell when somebody has written the record since; then there is
 * nothing to compare. What native refused is compared only where the translation refuses it by itself, for a caller whom a
 * read of v2's let in. Request, answer and record are parsed whole, each in one step, and so must not be large (`bulkOf`).
 * Throws `failing`: `not-comparable` for every write that reads cannot show, `refused` where nobody was let in.
 */
export async function compareWritten<Shape>(work: ReadWork<Shape>, seen: Seen): Promise<Verdict> {
  const { match } = work.asked;
  const bulk = (text: Uint8Array): Promise<Failure | undefined> => driven(bulkOf(text), work.options.turn, work.signal);
  const native = await work.answers.readable(seen.answer);
  for (const text of [seen.request, native.body]) {
    const refused = await bulk(text);
    if (refused !== undefined) throw failing(refused);
  }
  const succeeded = native.status >= 200 && native.status < 300;
  if (succeeded && !isProvable(match, seen.request)) throw failing("not-comparable");
  const body = parsed(native.body);
  // Cut off, or a page that says something to people.
  if (succeeded && body === undefined) throw failing("native");
  const catching = createCatching({
    uidPath: match.uidPath,
    made: succeeded ? textOf(member(body, match.resource.key)) : undefined,
    mode: succeeded ? "answer" : "refuse",
    bulk,
  });
  const translated = await answerOf(work, seen, catching);
  needsLetIn(native, translated);
  const compared = await compareAll(work, { ...seen, answer: native }, translated, catching);
  if (isDifference(compared.result) && isOvertaken(body, catching)) throw failing("overtaken");
  // Asking native twice would write twice, so there is no control.
  return { ...compared, controlled: false, noisy: undefined };
}

/** The translated answer. Whatever became of a call that could not be answered, the comparison ends with it. */
async function answerOf<Shape>({ answers }: ReadWork<Shape>, seen: Seen, catching: Catching): Promise<Translated> {
  const ended = (): void => {
    const failure = catching.failure();
    if (failure !== undefined) throw failing(failure);
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
  work: ReadWork<Shape>,
  seen: Seen,
  translated: Translated,
  catching: Catching,
): Promise<Compared> {
  const { match } = work.asked;
  const { mismatches, incomplete } = translated;
  const [first] = catching.caught;
  const made = first && (await driven(judgeMade(match, first, seen), work.options.turn, work.signal));
  // A refusal to answer for what v2 holds is no answer to compare; the fields that it names are.
  const answers = incomplete ? EQUAL : await pair(work, seen.answer, translated, work.options.compare.shapeOf(match));
  const further = [
    ...mismatches.map((v1) => mismatch(v1)),
    ...(made?.differences ?? []),
    ...(catching.stillThere() ? [notDeleted(match.resource.key, match.uid)] : []),
  ];
  const compared = withMore(withoutPlaces(answers, made?.untold ?? new Set()), further);
  const answered = seen.answer.status < 400 && (incomplete || translated.answer.status < 400);
  return answered ? withUnnamed(work, seen, compared, catching) : compared;
}

/** Throws `failing`, `not-comparable`: for a comparison without a difference that does not prove what it seems to. */
async function withUnnamed<Shape>(
  { asked: { match }, options, signal }: ReadWork<Shape>,
  seen: Seen,
  compared: Compared,
  { caught }: Catching,
): Promise<Compared> {
  await options.turn();
  signal.throwIfAborted();
  const unnamed = judgeUnnamed(match, caught, parsed(seen.request) ?? {}, parsed(seen.answer.body) ?? {});
  const more = withMore(compared, unnamed.differences);
  if (unnamed.unproved && !isDifference(more.result)) throw failing("not-comparable");
  return more;
}

/** native says that it is gone, and v2 still shows it. */
function notDeleted(path: string, uid: string): Difference {
  return { class: "extra", path, id: uid, native: undefined, translated: JSON.stringify(uid) };
}

/** v2's record was written after native had answered. */
function isOvertaken(native: Json | undefined, { caught }: Catching): boolean {
  const answered = Date.parse(textOf(member(native, "updatedAt")) ?? "");
  return caught.some(({ held }) => Date.parse(textOf(member(parsed(held.body), "updateTime")) ?? "") > answered);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function parsed(body: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
