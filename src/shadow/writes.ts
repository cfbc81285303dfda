/** Would the translated write have made what native made? (Design section 7: shadow for writes.) */
import { type Compared, type Difference, isDifference } from "../model/comparison.ts";
import { type Json, member } from "../model/json.ts";
import type { ApiResponse } from "../model/message.ts";
import type { Translated } from "./answers.ts";
import { judgeMade, mismatch } from "./built.ts";
import { bulkOf } from "./bulk.ts";
import { type Catching, createCatching } from "./catching.ts";
import { failing } from "./failure.ts";
import { parsedObject, textOf } from "./parsed.ts";
import { isProvable } from "./provable.ts";
import { needsLetIn, pair, type ReadWork } from "./reads.ts";
import type { Seen } from "./seen.ts";
import { presentOf, rewritten } from "./since.ts";
import { judgeUnnamed } from "./unnamed.ts";
import { driven, EQUAL, type Verdict, withMore, withoutPlaces } from "./verdict.ts";

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
export async function compareWritten<Shape>(work: ReadWork<Shape>, seen: Seen): Promise<Verdict> {
  const native = await work.answers.readable(seen.answer);
  for (const text of [seen.request, native.body]) {
    const refused = await driven(bulkOf(text), work.options.turn, work.signal);
    if (refused !== undefined) throw failing(refused);
  }
  const succeeded = isSuccess(native);
  if (succeeded && !isProvable(work.asked.match, seen.request)) throw failing("not-comparable");
  // Cut off, or a page that says something to people.
  if (succeeded && parsedObject(native.body) === undefined) throw failing("native");
  const whole = { ...seen, answer: native };
  const proof = await prove(work, whole);
  // Asking native twice would write twice, so there is no control.
  const verdict = { ...proof.compared, controlled: false, noisy: undefined };
  if (isDifference(verdict.result)) {
    if (proof.overtaken) throw failing("overtaken");
    // Where v2 was not asked, nobody's write can have made the difference.
    return succeeded && proof.read ? { ...verdict, controlled: await lookAgain(work, whole, proof) } : verdict;
  }
  if (proof.unproved) throw failing("not-comparable");
  return verdict;
}

/** What came out when a write was compared with what v2 holds. */
interface Proof {
  readonly compared: Compared;
  /** Where nothing differs, that does not prove what it seems to. */
  readonly unproved: boolean;
  /** The times of the two records say that v2's was written after native had answered. */
  readonly overtaken: boolean;
  /** v2 was asked, and answered. */
  readonly read: boolean;
  /** Of the translated answer. */
  readonly status: number;
}

async function prove<Shape>(work: ReadWork<Shape>, seen: Seen): Promise<Proof> {
  const { match } = work.asked;
  const body = parsedObject(seen.answer.body);
  const succeeded = isSuccess(seen.answer);
  const catching = createCatching({
    uidPath: match.uidPath,
    made: succeeded ? textOf(member(body, match.resource.key)) : undefined,
    mode: succeeded ? "answer" : "refuse",
    bulk: (text) => driven(bulkOf(text), work.options.turn, work.signal),
  });
  const translated = await answerOf(work, seen, catching);
  needsLetIn(seen.answer, translated);
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
async function lookAgain<Shape>(work: ReadWork<Shape>, seen: Seen, { compared }: Proof): Promise<boolean> {
  const { match } = work.asked;
  const { operation, resource } = match;
  const made = textOf(member(parsedObject(seen.answer.body), resource.key));
  const present = await presentOf(work, operation.kind === "create" ? (made ?? "") : match.uid);
  if (present === undefined) return false;
  if (operation.kind === "delete") {
    // Somebody has made it again, under the same uid.
    const other = withoutPlaces(compared, new Set([resource.key]));
    if (present !== "gone" && !isDifference(other.result)) throw failing("overtaken");
    return true;
  }
  const now = present === "gone" ? seen : await rewritten(work, seen, present);
  if (now === undefined || !isProvable(match, now.request)) return true;
  const again = await prove(work, now);
  if (present === "gone" && again.status === 404) throw failing("gone");
  if (!isDifference(again.compared.result) || again.overtaken) throw failing("overtaken");
  return true;
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
): Promise<Pick<Proof, "compared" | "unproved">> {
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
  return answered ? withUnnamed(work, seen, compared, catching) : { compared, unproved: false };
}

async function withUnnamed<Shape>(
  { asked: { match }, options, signal }: ReadWork<Shape>,
  seen: Seen,
  compared: Compared,
  { caught }: Catching,
): Promise<Pick<Proof, "compared" | "unproved">> {
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
function isOvertaken(native: Json | undefined, { caught }: Catching): boolean {
  const answered = Date.parse(textOf(member(native, "updatedAt")) ?? "");
  return caught.some(({ held }) => Date.parse(textOf(member(parsedObject(held.body), "updateTime")) ?? "") > answered);
}

function isSuccess({ status }: ApiResponse): boolean {
  return status >= 200 && status < 300;
}
