/** What comes out when native's answer and the translated one are laid beside each other? (Design section 7: shadow.) */
import { compareErrors } from "./compare-errors.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import {
  elementAt,
  elementsOf,
  kindOf,
  membersOf,
  readValue,
  type Span,
  sameBytes,
  sameSpelling,
} from "./compare-text.ts";
import {
  compareAligned,
  compareMembers,
  compareValues,
  idOf,
  keyNamed,
  type Where,
  type Work,
} from "./compare-values.ts";
import { addDifference, type Judged, judged, newTally, type Tally } from "./differences.ts";
import type { CompareShape } from "./shape.ts";
import { find, remove } from "./table.ts";

/** One answer, whole. */
export interface Comparable {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Compares two answers to one request: status, then body; records by id, then field by field at every depth. Whoever drives
 * it may let others run at each `yield`: steps are short whatever the size of the answers. Never throws. Holds a copy of
 * each body meanwhile, unless they are the same bytes.
 *
 * - `status`: nothing else is compared. `error`: errors of one status that a program can tell apart (`compareErrors`), or a
 *   body that is no JSON.
 * - `missing`, `extra`: a record, or a member that is not zero, on one side; null is as good as absent.
 * - `value`: both have it and it says something else. A number is never a text; numbers count by exact value, times by
 *   instant (`sameScalar`).
 * - `presence`: absent, null and the zero of the kind stand for each other.
 * - `order`: the same records, or elements of a set, in another order.
 *
 * Of a member name that is there twice the last counts; a record whose id is there twice is paired by what it says.
 */
export function* compareAnswers(
  native: Comparable,
  translated: Comparable,
  shape: CompareShape,
): Generator<void, Judged> {
  const tally = newTally();
  if (native.status !== translated.status) {
    const at = { class: "status", path: "status", id: undefined } as const;
    addDifference(tally, at, `${native.status}`, `${translated.status}`);
  } else if (!(yield* sameBytes(native.body, translated.body))) {
    yield* compareBodies(tally, native, translated, shape);
  }
  return judged(tally);
}

function* compareBodies(
  tally: Tally,
  native: Comparable,
  translated: Comparable,
  shape: CompareShape,
): Generator<void, void> {
  const pace: Pace = { work: 0 };
  const failed = native.status >= 400;
  const one = yield* readValue(native.body, pace);
  const other = yield* readValue(translated.body, pace);
  if (one === undefined || other === undefined) {
    // An error page without JSON says no more than its status, which is the same.
    if (failed && one === other) return;
    addDifference(tally, { class: "error", path: "", id: undefined }, begin(native.body), begin(translated.body));
  } else if (failed) yield* compareErrors(tally, one, other, pace);
  else yield* compareResults({ pace, tally, volatile: new Set(shape.volatile) }, one, other, shape);
}

/** The beginning of what may be no JSON, and no text either. */
function begin(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, 1000));
}

const ITEMS = "items";

function* compareResults(work: Work, native: Span, translated: Span, shape: CompareShape): Generator<void, void> {
  if (sameSpelling(native, translated)) return;
  const { fields } = shape;
  const field = fields && { time: false, set: false, keyed: false, zero: undefined, members: fields };
  const root: Where = { path: "", id: undefined, field };
  if (!shape.list || kindOf(native) !== "object" || kindOf(translated) !== "object") {
    return yield* compareValues(work, native, translated, root);
  }
  const one = yield* membersOf(native, work.pace);
  const other = yield* membersOf(translated, work.pace);
  const [records, others] = [find(one, ITEMS), find(other, ITEMS)];
  const both = isArray(records) && isArray(others);
  if (both) {
    remove(one, ITEMS);
    remove(other, ITEMS);
  }
  yield* compareMembers(work, one, other, root);
  if (!both) return;
  const place: Where = { path: `${ITEMS}[]`, id: undefined, field: fields?.get(ITEMS) };
  const left = yield* recordsOf(work, records, shape.key);
  const right = yield* recordsOf(work, others, shape.key);
  yield* compareAligned(work, left, right, place, "order", true);
}

function isArray(span: Span | undefined): span is Span {
  return span !== undefined && kindOf(span) === "array";
}

function* recordsOf(work: Work, list: Span, key: string) {
  const elements = yield* elementsOf(list, work.pace);
  const named = keyNamed(key);
  const ids: (string | undefined)[] = [];
  for (let i = 0; i < elements.length; i++) {
    ids.push(yield* idOf(work, elementAt(elements, i), named));
    if (isDue(work.pace, 0)) yield;
  }
  return { list, elements, ids };
}
