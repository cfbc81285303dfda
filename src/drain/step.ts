/**
 * One list while it is read: one value, and one pure step from an event to the next actions. Single pages, cursor,
 * windows and segments go through the same phases; whether the list is buffered or streamed makes no difference here.
 */

import { Problem } from "../model/problem.ts";
import {
  ascendsFrom,
  atRank,
  type CommittedList,
  changedList,
  checkWitness,
  confirms,
  emptyList,
  forgetKeys,
  freshIn,
  highestTotal,
  holdsAll,
  incomplete,
  isCounted,
  isOvercounted,
  joins,
  newIn,
  plausible,
  type RankedPage,
  reachesPast,
  type Shortfall,
  shortfall,
  startOver,
  sunkenCount,
  type TakenPage,
  takeAfter,
  takeNew,
  tokenOf,
  tooFew,
  witnessOf,
} from "./committed-list.ts";
import { checkAfterPage, checkAnnounced, checkPages } from "./limits.ts";
import {
  addResult,
  changedAhead,
  dropFront,
  type FetchResult,
  frontResult,
  planReadAhead,
  type ReadAhead,
  type ReadAheadPlan,
  startReadAhead,
  withoutFront,
  withoutPart,
} from "./read-ahead.ts";
import {
  type CallResult,
  type CommitPointSeek,
  cancelled,
  changed,
  type DrainAction,
  type DrainEvent,
  type DrainState,
  dispatchCalls,
  ended,
  guessesWindows,
  isBlank,
  isEmpty,
  isPageRefused,
  noted,
  REPAIRS,
  receiveResult,
  requestPage,
  startOf,
  stopReadAhead,
} from "./state.ts";

/** Readings of a last page that is in doubt. */
const END_TRIES = 3;
/** How far back a second seek begins, in pages, and the factor for each further one. */
const BACK_PAGES = 1;
const BACK_FACTOR = 4;
/** A page with less than this part of new records uses up a repair; a gap that brings more than this part of a usual page does not. */
const LITTLE_PART = 4;
const MUCH_PART = 4;
/** Pages may be shorter than asked for by this factor. */
const MAX_SHORTNESS = 4;
/** For planning before the first page is known. */
const GUESSED_RECORD_BYTES = 400;
/** Refusals of a page read by rank that concern the client: all others may concern `skip`, which only carryover chose. */
const REFUSES_CLIENT: ReadonlySet<number> = new Set([401, 429]);

/** The step. The caller performs the `actions` of the result, in order. Never throws. */
export function nextState(before: DrainState, event: DrainEvent): DrainState {
  const state = changed(before, { wanted: before.wanted || event.kind === "pull", actions: [] });
  if (state.phase.kind === "over") return state;
  try {
    return dispatchCalls(advance(applyEvent(state, event)));
  } catch (thrown) {
    try {
      return dispatchCalls(advance(failed(state, thrown)));
    } catch (again) {
      return ended(state, { kind: "fail", problem: again });
    }
  }
}

function applyEvent(state: DrainState, event: DrainEvent): DrainState {
  switch (event.kind) {
    case "pull":
      return state;
    case "announced": {
      const list = event.witness === "cover" ? forgetKeys(state.list) : state.list;
      return changed(state, { announced: event.witness, list });
    }
    case "came":
      return callEnded(state, event.call, event.got);
  }
}

/** Goes on until a call must be awaited, or no more records are wanted. */
function advance(from: DrainState): DrainState {
  let state = from;
  for (;;) {
    const { phase, list, wanted } = state;
    if (!wanted || phase.kind === "over") return state;
    if (list.ended) return finished(state);
    if (phase.kind === "start") state = begun(state);
    else if (phase.kind === "cursor") state = followToken(state);
    else if (phase.kind !== "ahead" || state.ahead === undefined) return state;
    else {
      const step = frontResult(state.ahead);
      if (step === "waiting") return state;
      if (step === "over") state = nextPart(state, state.ahead);
      else state = taken(changed(state, { ahead: withoutFront(state.ahead) }), step);
    }
  }
}

/** Requests the first page, and windows beside it when the list was long the last time. */
function begun(state: DrainState): DrainState {
  const { how, list, serial } = state;
  const asked = requestPage(changed(state, { phase: { kind: "first" } }), {});
  const { limits, expected = 0 } = how;
  if (serial || list.catchingUp || state.heedsSkip !== true || !guessesWindows(how)) return asked;
  const cut = planReadAhead(
    limits,
    how.tokens,
    { records: limits.pageSize, bytes: limits.pageSize * GUESSED_RECORD_BYTES },
    { rank: limits.pageSize, total: expected },
  );
  return changed(asked, { guessed: true, ahead: startReadAhead(cut, expected, false) });
}

function callEnded(before: DrainState, id: number, got: CallResult): DrainState {
  const { state, delivered } = receiveResult(before, id, got);
  if (delivered === undefined) return state;
  const { fetched, call } = delivered;
  const { phase, ahead } = state;
  if (call.part !== undefined) {
    return ahead === undefined ? state : changed(state, { ahead: addResult(ahead, call.part, fetched) });
  }
  switch (phase.kind) {
    case "first":
      return onFirst(state, fetched);
    case "seek":
      return onSeek(state, phase, fetched);
    case "after-short":
      return onAfterShort(state, phase.page, phase.seek, fetched);
    case "token":
      return phase.ahead ? onTokenOfParts(state, fetched) : onToken(state, fetched);
    default:
      throw new Problem("INTERNAL", "internal error");
  }
}

// ---- the first page, and how to go on from it

function onFirst(before: DrainState, got: FetchResult): DrainState {
  if (got.kind !== "page") return notPage(before, got);
  const { page } = got;
  const { limits } = before.how;
  const repairs = REPAIRS + Math.ceil((plausible(page.totalCount) ?? 0) / limits.pageSize);
  const firstPage = { records: page.keys.length, bytes: page.bytes.length };
  const state = changed(before, { repairs, firstPage, sank: sankBy(before, page) });
  if (page.nextPageToken === "") {
    const short = shortOf(state, page, newIn(state.list, page));
    if (short !== undefined) return doubted(stopReadAhead(state), page, short, NO_END_DOUBT);
  }
  return takenInTurn(state, page);
}

/** A first page that counts fewer records than the reading before confirms that the list did shrink. */
function sankBy({ sank }: DrainState, { totalCount }: RankedPage): DrainState["sank"] {
  const total = plausible(totalCount);
  return typeof sank === "number" && total !== undefined && total < sank ? "confirmed" : sank;
}

/** In parallel when this very list shows that it can be read by rank; otherwise by its cursor. */
function chooseWay(state: DrainState, first: RankedPage): DrainState {
  const { how, list } = state;
  const parallel = !state.serial && !list.catchingUp && canSeek(state, first);
  const asGuessed = first.keys.length === how.limits.pageSize && (list.lastTotal ?? 0) <= how.limits.windowRecords;
  const guessed = parallel && asGuessed ? state.ahead : undefined;
  const clean = guessed === undefined ? stopReadAhead(state) : state;
  if (!parallel)
    return provably(changed(clean, { way: "cursor", phase: { kind: "cursor" }, provable: how.tokens === "keyset" }));
  const total = list.lastTotal ?? 0;
  const trying = state.heedsSkip === undefined;
  const going = changed(clean, { way: "parallel", phase: { kind: "ahead" }, trying });
  if (guessed === undefined) return provably(planned(going, total));
  // The windows are as guessed; how many are read at a time follows from how long the list is now.
  const { readers, ahead } = planReadAhead(how.limits, how.tokens, state.firstPage, { rank: list.rank, total });
  const cut = { ...guessed.cut, readers, ahead };
  return provably(changed(going, { ahead: changedAhead(guessed, { cut, total, readers }), provable: true }));
}

/** True when the rest can be read by rank: there is a count, an order of keys, and a page long enough to overlap with the next. */
function canSeek({ how, list, heedsSkip }: DrainState, first: RankedPage): boolean {
  const total = plausible(first.totalCount);
  return (
    how.keyOrder &&
    list.ascending &&
    list.keepsKeys &&
    total !== undefined &&
    total > first.keys.length &&
    first.keys.length > 1 &&
    // Pages much shorter than requested would need as many windows as there are records.
    first.keys.length * MAX_SHORTNESS >= how.limits.pageSize &&
    heedsSkip !== false
  );
}

function planned(state: DrainState, total: number): DrainState {
  const { how, list, firstPage, heedsSkip } = state;
  const cut: ReadAheadPlan = planReadAhead(how.limits, how.tokens, firstPage, { rank: list.rank, total });
  const provable = cut.pages === 1 || how.tokens === "keyset";
  return changed(stopReadAhead(state), { provable, ahead: startReadAhead(cut, total, heedsSkip === undefined) });
}

/** Refuses a list that cannot be proved by the way it is read, before all of it is read. */
function provably(state: DrainState): DrainState {
  const { how, provable, list } = state;
  if ((provable && list.proved) || how.require !== "cover") return state;
  const why = "the platform's page tokens are not known to be positions in its order, or it has none";
  const problem = new Problem("LIST_UNPROVEN", `the list of ${how.resource} cannot be proved complete: ${why}`, {
    metadata: { required: how.require, witness: "none" },
  });
  return ended(state, { kind: "fail", problem });
}

// ---- parts, taken in their order

function taken(state: DrainState, got: FetchResult): DrainState {
  if (got.kind === "unskipped") return fallBack(state, "skip");
  if (refusesRank(got)) return onRankRefused(state, got, state.trying);
  if (got.kind !== "page") return notPage(state, got);
  const { page } = got;
  if (page.skip === undefined && !isEmpty(page) && !reachesPast(state.list, page.keys)) {
    // Only known records after a token: the token began the list again.
    const { ahead } = state;
    if (ahead === undefined) return state;
    const id = ahead.parts[0]?.id;
    const dropped = changed(noted(state, "list-token-restarted"), { ahead: dropFront(ahead) });
    return cancelled(dropped, ({ part }) => part !== id);
  }
  return takenAsPart(state, page, false);
}

type RefusedPage = Extract<FetchResult, { readonly kind: "refused" }>;

/** True when the cursor may lead on: a page that was read by rank was refused, and not because of the client. */
function refusesRank(got: FetchResult): got is RefusedPage {
  return got.kind === "refused" && !REFUSES_CLIENT.has(got.response.status);
}

/** By the cursor, unless a proof was promised that it cannot give. `learns`: `skip` was not seen to work. */
function onRankRefused(state: DrainState, got: RefusedPage, learns: boolean, short?: Shortfall): DrainState {
  if (short === undefined && state.announced === "cover" && state.how.tokens !== "keyset") return notPage(state, got);
  return fallBack(state, learns && isPermanent(got) ? "skip" : "refused", short);
}

/** True when the platform will refuse `skip` the next time, too. */
function isPermanent({ response: { status } }: RefusedPage): boolean {
  return (status >= 400 && status < 500 && status !== 408) || status === 501;
}

/** Takes the next page of a part, once it joins on. */
function takenAsPart(state: DrainState, page: RankedPage, planAgain: boolean): DrainState {
  const { list, how } = state;
  if (!page.ascending) return fallBack(state, "order");
  // Read before the list's count was known.
  if (isBlank(list, page, page.skip ?? list.rank))
    throw incomplete(how.resource, "a later page holds neither records nor a token nor a total");
  if (isFirstAgain(list, page)) return fallBack(state, "skip");
  // A page that follows the token of the page just taken leaves no gap that could be closed by rank.
  if (page.skip !== undefined && !joins(list, page)) return seeking(noted(state, "list-repaired"), { held: page });
  return judged(state, page, { ...NO_END_DOUBT, planAgain });
}

/** True when a page that should be far into the list begins with its first record, and too few records were created before it. */
function isFirstAgain({ firstKey, firstTotal = 0 }: CommittedList, { skip, keys, totalCount }: RankedPage): boolean {
  if (skip === undefined || skip === 0 || keys[0] === undefined || keys[0] !== firstKey) return false;
  return (plausible(totalCount) ?? 0) - firstTotal < skip;
}

function nextPart(state: DrainState, ahead: ReadAhead): DrainState {
  const shorter = dispatchCalls(changed(state, { ahead: withoutPart(ahead) }));
  if (shorter.ahead !== undefined && shorter.ahead.parts.length > 0) return shorter;
  // As many records as were counted, and no end yet: there are more by now, or a token leads to the end.
  const { list, how } = shorter;
  if (how.tokens !== "keyset" || list.token === "") return seeking(shorter, { planAgain: true });
  // A token that is a position in the order is the best way on; any other token is not.
  return requestPage(changed(shorter, { phase: { kind: "token", ahead: true } }), {
    token: list.token,
    rank: list.rank,
    chain: list.tokenChain,
  });
}

function onTokenOfParts(state: DrainState, got: FetchResult): DrainState {
  if (got.kind !== "page") return notPage(state, got);
  const { page } = got;
  // An empty page with a token is no progress.
  const says = !isEmpty(page) || page.nextPageToken === "";
  if (says && ascendsFrom(state.list.lastKey, page)) return takenAsPart(state, page, true);
  return seeking(state, { planAgain: true });
}

// ---- the commit point, looked for by rank

type EndDoubt = Pick<CommitPointSeek, "held" | "tries" | "short" | "last" | "planAgain">;
const NO_END_DOUBT: EndDoubt = { held: undefined, tries: 1, short: undefined, last: undefined, planAgain: false };

/**
 * Reads the page that holds the commit point, or the position where it was: a little before its last known rank, further
 * back when records before it seem to have gone, further on when the page holds nothing new. The page that is found
 * joins on, and holds a record after the commit point or is the end of the list.
 */
function seeking(state: DrainState, about: Partial<EndDoubt>): DrainState {
  const { list, how } = state;
  const { pageSize, overlap } = how.limits;
  const skip = Math.max(0, list.rank - overlap);
  return sought(state, { kind: "seek", skip, back: BACK_PAGES * pageSize, ...NO_END_DOUBT, ...about });
}

function sought(state: DrainState, seek: CommitPointSeek): DrainState {
  if (state.repairs <= 0) return fallBack(state, "repairs", seek.short);
  return requestPage(changed(state, { repairs: state.repairs - 1, phase: seek }), { skip: seek.skip });
}

function onSeek(state: DrainState, seek: CommitPointSeek, got: FetchResult): DrainState {
  const { list, how } = state;
  const { pageSize, overlap } = how.limits;
  if (got.kind === "unskipped") return fallBack(state, "skip", seek.short);
  if (refusesRank(got)) return onRankRefused(state, got, state.heedsSkip !== true, seek.short);
  if (got.kind !== "page") return notPage(state, got);
  const { page } = got;
  if (!page.ascending) return fallBack(state, "order", seek.short);
  if (isFirstAgain(list, page)) return fallBack(state, "skip", seek.short);
  if (!joins(list, page)) {
    if (seek.last !== undefined && confirms(list, page, seek.last)) return takenInOrder(state, seek.last, true, seek);
    const total = plausible(page.totalCount) ?? seek.skip;
    const skip = Math.max(0, Math.min(seek.skip - seek.back, total - overlap));
    return sought(state, { ...seek, skip, back: seek.back * BACK_FACTOR });
  }
  if (reachesPast(list, page.keys) || page.nextPageToken === "") return judged(state, page, seek);
  if (page.keys.length >= pageSize || state.firstPage.records === 1 || state.repairs <= 0)
    return soughtOn(state, page, seek);
  // Some platforms send a token with every last page; it leads to an empty page.
  const phase = { kind: "after-short", page, seek } as const;
  const next = { token: page.nextPageToken, rank: seek.skip + page.keys.length, chain: page.chain };
  return requestPage(changed(state, { repairs: state.repairs - 1, phase }), next);
}

function onAfterShort(state: DrainState, page: RankedPage, seek: CommitPointSeek, got: FetchResult): DrainState {
  if (got.kind === "failed") return notPage(state, got);
  if (got.kind === "page" && isEmpty(got.page) && got.page.nextPageToken === "") return judged(state, got.page, seek);
  return soughtOn(state, page, seek);
}

/** As many records were inserted before the commit point as this page holds. */
function soughtOn(state: DrainState, page: RankedPage, seek: CommitPointSeek): DrainState {
  return sought(state, { ...seek, skip: seek.skip + Math.max(1, page.keys.length - state.how.limits.overlap) });
}

// ---- the end, judged

/**
 * Takes a page that joins on, unless it is the last one by its own word and that is in doubt: its count promises more or
 * fewer records, or records after it were seen. Then it is read again from the last record, before anything of it is
 * taken: counts are often made apart from the page, a token may have expired, a replica may be out of date. While a page
 * brings records it is no end, whatever it counts; when nothing more comes, the list contradicts itself.
 */
function judged(state: DrainState, page: RankedPage, about: EndDoubt): DrainState {
  if (page.nextPageToken !== "") return takenInOrder(state, page, false, about);
  const { list, how } = state;
  const short = shortOf(state, page, freshIn(list, page.keys));
  const odd = how.totals === "verify" && isOvercounted(page);
  if (short === undefined && (about.tries >= END_TRIES || !(odd || (about.tries === 1 && sawMore(state, page))))) {
    return takenInOrder(state, page, true, about);
  }
  return doubted(state, page, short, about);
}

function doubted(before: DrainState, page: RankedPage, short: Shortfall | undefined, about: EndDoubt): DrainState {
  const { list, how } = before;
  if (about.tries < END_TRIES && mayReread(before, page)) {
    return seeking(noted(before, "list-page-again"), { ...about, short, last: page, tries: about.tries + 1 });
  }
  if (short === undefined) return takenInOrder(before, page, true, about);
  if (about.tries >= END_TRIES && reachesPast(list, page.keys)) return takenInOrder(before, page, false, about);
  return failed(before, tooFew(how.resource, short), short);
}

/**
 * What is missing, or contradicts what was read, when `page` ends the list. When a second reading finds as many records as the first one missed, records
 * were created meanwhile, which may also be what it misses itself.
 */
function shortOf(
  { list, how, missed, sank, announced }: DrainState,
  page: RankedPage,
  fresh: number,
): Shortfall | undefined {
  const short = shortfall(list, page, fresh, how.totals);
  if (short === undefined && how.totals === "verify" && sank !== "confirmed") return sunkenCount(list, page, fresh);
  const grew = announced === undefined && missed !== undefined && short !== undefined && short.read >= missed;
  return grew ? undefined : short;
}

function mayReread({ how, list, heedsSkip }: DrainState, page: RankedPage): boolean {
  return how.keyOrder && list.ascending && heedsSkip !== false && page.ascending;
}

/** True when some page, taken or not, went further. */
function sawMore({ list, greatest = "" }: DrainState, { keys }: RankedPage): boolean {
  return greatest > (keys.at(-1) ?? "") && greatest > (list.lastKey ?? "");
}

// ---- taking

/** Takes what `page`, which joins on and ascends, holds after the commit point. */
function takenInOrder(before: DrainState, page: RankedPage, end: boolean, about: EndDoubt): DrainState {
  const { how } = before;
  // Unless it overlaps, a page after a token proves no more than the token does, also about the end.
  const says = !isEmpty(page) || page.nextPageToken === "";
  const trusts = says && page.skip === undefined && how.tokens !== "keyset" && !joins(before.list, page);
  const proved = before.list.proved && !trusts && page.leftOut === undefined;
  if (before.announced === "cover" && !proved) throw incomplete(how.resource, "a token was no position in the order");
  const { list, chunk } = takeAfter(changedList(before.list, { proved }), page);
  const pages = Math.floor(list.distinct / how.limits.pageSize);
  const tooLarge =
    checkAfterPage(how.resource, list, how.limits) ?? (end ? undefined : checkPages(how.resource, pages, how.limits));
  if (tooLarge !== undefined) return ended(changed(before, { list }), { kind: "fail", problem: tooLarge });
  const skips = page.skip !== undefined && page.skip > 0 && !isEmpty(page);
  const state = emitted(skips ? skipHeeded(before) : before, list, chunk);
  if (end) return changed(state, { list: changedList(list, { token: "", ended: true }) });
  const fresh = list.distinct - before.list.distinct;
  const usual = Math.min(how.limits.pageSize, Math.max(1, before.firstPage.records));
  const closesGap = before.phase.kind === "seek" && fresh * MUCH_PART >= usual;
  // A list must not go on for ever with hardly anything new.
  const little = fresh * LITTLE_PART < Math.max(1, page.keys.length);
  const repairs = state.repairs + (closesGap ? 1 : 0) - (little ? 1 : 0);
  if (repairs < 0) return fallBack(state, "repairs");
  return goingOn(changed(state, { repairs }), about);
}

function skipHeeded(state: DrainState): DrainState {
  const { ahead } = state;
  const widened =
    ahead === undefined ? state : changed(state, { ahead: changedAhead(ahead, { readers: ahead.cut.readers }) });
  if (state.heedsSkip === true && !state.trying) return widened;
  const actions: DrainAction[] = [...state.actions, { kind: "learn-skip", heeded: true }];
  return changed(widened, { heedsSkip: true, trying: false, actions });
}

/** Goes on after the page just taken. */
function goingOn(state: DrainState, { held, planAgain }: EndDoubt): DrainState {
  const { list, ahead, way } = state;
  if (held !== undefined) {
    if (joins(list, held)) return judged(state, held, { ...NO_END_DOUBT, planAgain });
    return seeking(noted(state, "list-repaired"), { held, planAgain });
  }
  if (way === "cursor") {
    if (list.token === "") return seeking(state, {});
    return changed(state, { phase: { kind: "cursor" }, provable: state.how.tokens === "keyset" });
  }
  const total = list.lastTotal ?? 0;
  if (planAgain) {
    // When the list goes on beyond its count, the count is wrong: as many pages are tried as may be read at a time.
    const { readers, pageSize } = state.how.limits;
    const again = planned(state, total > list.rank ? total : list.rank + readers * pageSize);
    return changed(again, { phase: { kind: "ahead" } });
  }
  return changed(state, { phase: { kind: "ahead" }, ahead: ahead && changedAhead(ahead, { total }) });
}

/** Takes the first page, or one that the cursor led to. */
function takenInTurn(before: DrainState, page: RankedPage): DrainState {
  const { how } = before;
  const first = before.phase.kind === "first";
  const { list: grown, chunk } = inTurn(before.list, page, how.resource);
  const announced = first && page.nextPageToken !== "" ? (grown.lastTotal ?? 0) : 0;
  const tooLarge =
    checkAfterPage(how.resource, grown, how.limits) ?? checkAnnounced(how.resource, announced, how.limits);
  if (tooLarge !== undefined) return ended(changed(before, { list: grown }), { kind: "fail", problem: tooLarge });
  // A proxy, or a faulty replica, may respond with nothing at all; offsets move when records come and go.
  const trusts = how.tokens !== "keyset" || page.leftOut !== undefined;
  const weak = first ? page.bare === true && how.bareProvesNothing : trusts;
  const list = changedList(grown, { proved: grown.proved && !weak, ended: page.nextPageToken === "" });
  if (list.ended) return emitted(stopReadAhead(changed(before, { phase: { kind: "cursor" } })), list, chunk);
  if (first) {
    const chosen = chooseWay(changed(before, { list }), page);
    return chosen.phase.kind === "over" ? chosen : emitted(chosen, list, chunk);
  }
  return emitted(changed(before, { phase: { kind: "cursor" } }), list, chunk);
}

function inTurn(list: CommittedList, page: RankedPage, resource: string): TakenPage {
  if (list.keepsKeys) return takeNew(list, page);
  if (!page.ascending) throw incomplete(resource, "its records left their order");
  const { list: grown, chunk } = takeAfter(list, atRank(page, undefined));
  return { list: changedList(grown, { rank: list.rank + page.keys.length, ...tokenOf(page) }), chunk };
}

function emitted(state: DrainState, list: CommittedList, chunk: Uint8Array | undefined): DrainState {
  if (chunk === undefined) return changed(state, { list });
  const actions: DrainAction[] = [...state.actions, { kind: "emit", chunk, reading: state.reading }];
  return changed(state, { list, wanted: false, actions });
}

// ---- by cursor

/** Only a page without a token ends a list; a short page does not. */
function followToken(state: DrainState): DrainState {
  const { list, how, followed, cursorPages } = state;
  const { token } = list;
  // The whole set, not only the last token: A, B, A, B would go on for ever.
  if (followed.has(token)) throw incomplete(how.resource, "a page token came twice");
  // Pages that were read by rank overlap, so they count by their new records.
  const pages = cursorPages > 0 ? cursorPages : list.pages === 1 ? 1 : Math.floor(list.distinct / how.limits.pageSize);
  const tooLong = checkPages(how.resource, pages, how.limits);
  if (tooLong !== undefined) throw tooLong;
  const following = changed(state, {
    phase: { kind: "token", ahead: false },
    followed: new Set(followed).add(token),
    cursorPages: pages + 1,
  });
  return requestPage(following, { token, rank: list.rank, chain: list.tokenChain });
}

function onToken(state: DrainState, got: FetchResult): DrainState {
  if (got.kind !== "page") return notPage(state, got);
  const { page } = got;
  const { list, how } = state;
  const caughtUp = list.catchingUp && !holdsAll(list, page.keys);
  if (!list.catchingUp && beginsAgain(list, page)) throw incomplete(how.resource, "the platform began again");
  if (page.nextPageToken === "") {
    const short = shortOf(state, page, newIn(list, page));
    if (short !== undefined) return doubted(state, page, short, NO_END_DOUBT);
  }
  const went = takenInTurn(state, page);
  return caughtUp ? changed(went, { list: changedList(went.list, { catchingUp: false }) }) : went;
}

/**
 * True when `page`, requested by a token, begins the list again: with its very first record, or with known records only.
 * Platforms respond so to an expired token, without an error. Known records beside new ones are no such sign, because an
 * insert shifts the pages of an offset token. (A restart hidden by other writers is followed to its end, which is a
 * complete reading too.)
 */
function beginsAgain(list: CommittedList, page: RankedPage): boolean {
  const [first] = page.keys;
  if (first === undefined) return false;
  if (first === list.firstKey) return true;
  if (list.ascending && (list.lastKey === undefined || first > list.lastKey)) return false;
  return holdsAll(list, page.keys);
}

// ---- how it ends

function finished(state: DrainState): DrainState {
  const { how, list, announced, way, guessed } = state;
  // The platform says that it left records out, and no count says that they came all the same.
  if (list.leftOut !== undefined && !isCounted(list))
    throw incomplete(how.resource, `a page skipped ${list.leftOut} records that were asked for`);
  const witness = witnessOf(list);
  checkWitness(how.resource, witness, announced ?? how.require);
  const counts = way === "parallel" || (guessed && list.pages === 1);
  const learned: DrainAction[] = counts ? [{ kind: "learn-count", count: list.distinct }] : [];
  return ended(changed(state, { actions: [...state.actions, ...learned] }), { kind: "finish", witness });
}

/** A refusal is the list's response, unless it concerns a page that only carryover asked for; anything else is thrown. */
function notPage(state: DrainState, got: Exclude<FetchResult, { readonly kind: "page" }>): DrainState {
  const { resource } = state.how;
  if (got.kind === "unskipped") throw incomplete(resource, "pages behind a token skipped records");
  if (got.kind === "refused") {
    if (state.phase.kind !== "first" && isPageRefused(got)) {
      const status = String(got.response.status);
      throw incomplete(resource, "a page after the first one was refused", { status });
    }
    return ended(state, { kind: "refuse", response: got.response });
  }
  if (got.kind === "failed" && got.problem instanceof Error) throw got.problem;
  throw new Problem("INTERNAL", "internal error", { cause: got.kind === "failed" ? got.problem : undefined });
}

type FallbackReason = "skip" | "refused" | "order" | "repairs";

const FALLBACK_TEXTS: Readonly<Record<FallbackReason, string>> = {
  skip: "skip is not heeded any more",
  refused: "a page after the first one was refused",
  order: "its records left their order",
  repairs: "it changes faster than it can be read",
};

/** Goes on by the cursor, unless the list was promised to be proved and then cannot be. */
function fallBack(before: DrainState, why: FallbackReason, short?: Shortfall): DrainState {
  const { how, list, announced } = before;
  const learned: DrainState = why === "skip" ? skipIgnored(before) : noted(before, "list-way-left");
  if (short !== undefined) return failed(learned, tooFew(how.resource, short), short);
  if (announced === "cover" && (why === "order" || how.tokens !== "keyset"))
    return failed(learned, incomplete(how.resource, FALLBACK_TEXTS[why]));
  // A page without a token was not accepted as the end: no token leads on from there.
  if (list.token === "")
    return failed(learned, incomplete(how.resource, "it ends by its tokens, and goes on by its count"));
  const provable = how.tokens === "keyset";
  return provably(
    changed(stopReadAhead(learned), { way: "cursor", phase: { kind: "cursor" }, trying: false, provable }),
  );
}

function skipIgnored(state: DrainState): DrainState {
  const noticed = noted(state, "list-skip-ignored");
  const actions: DrainAction[] = [...noticed.actions, { kind: "learn-skip", heeded: false }];
  return changed(noticed, { heedsSkip: false, actions });
}

/**
 * Restarts the list, twice at most, when its pages contradict each other or cannot be read: an expired token, a page cut short,
 * an inconsistent replica may not be met again. While nothing has gone out, the second reading replaces the first.
 * Otherwise only new records are taken, and the second reading must prove as much as was promised.
 */
function failed(state: DrainState, thrown: unknown, short?: Shortfall): DrainState {
  const { how, announced, reading, list } = state;
  const mayPass =
    thrown instanceof Problem && (thrown.reason === "DRAIN_INCOMPLETE" || thrown.reason === "UPSTREAM_INVALID");
  // Missing records are worth one more reading: the one before may have failed only because of how it was read.
  const isLast = reading > 1 || (reading > 0 && (short === undefined || state.missed !== undefined));
  if (!mayPass || isLast || (announced === "cover" && how.tokens !== "keyset")) {
    return ended(state, { kind: "fail", problem: thrown });
  }
  const { actions } = cancelled(state);
  // What parallel reading met may be a habit of the platform, unless only windows can prove what is required.
  const windowsOnly = how.require === "cover" && how.tokens !== "keyset";
  const again = changed(startOf(how), {
    list: announced === undefined ? emptyList(how.keyOrder) : startOver(list),
    reading: reading + 1,
    serial: thrown.reason === "DRAIN_INCOMPLETE" && !windowsOnly,
    wanted: state.wanted,
    nextCall: state.nextCall,
    greatest: state.greatest,
    heedsSkip: state.heedsSkip,
    announced,
    missed: short === undefined || short.total < short.read ? undefined : short.total,
    sank: short !== undefined && short.total < short.read ? highestTotal(list) : undefined,
    notes: state.notes,
    actions,
  });
  return noted(again, "list-read-again");
}
