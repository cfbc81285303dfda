/**
 * A model check of the drain's step function: every small platform of some habits and faults, and what must never come of it.
 * No clock, no promises: the step is driven by hand, its calls answered in one of two orders.
 */

import { isEnough } from "../../src/drain/committed-list.ts";
import type { ReadPosition } from "../../src/drain/read-ahead.ts";
import {
  type CallResult,
  type DrainSettings,
  type DrainState,
  guaranteedWitness,
  startOf,
} from "../../src/drain/state.ts";
import { nextState } from "../../src/drain/step.ts";
import type { Witness } from "../../src/model/exchange.ts";
import { DRAIN_LIMITS } from "../support/drains.ts";
import { ascending, cutPage, type PageFault, type Tokens } from "../support/platform-pages.ts";
import { listPage } from "./simulator.ts";

/** What goes wrong. `always`: with every page that it can befall; else with the page that call number `at` asks for. */
export const FAULTS = [
  "none",
  "cut",
  "expired",
  "blank",
  "short",
  "lossy",
  "restart",
  "totals short",
  "totals long",
  "totals moving",
  "totals absent",
] as const;
type Fault = (typeof FAULTS)[number];

export interface World {
  readonly records: number;
  readonly fault: Fault;
  readonly at: number | "always";
  readonly tokens: Tokens;
  readonly declared: DrainSettings["tokens"];
  readonly skip: "obeyed" | "refused" | "ignored" | "claimed";
  readonly pageSize: number;
  readonly require: Witness;
  readonly as: "buffered" | "streamed";
  readonly keyOrder: boolean;
  readonly heedsSkip: boolean | undefined;
  readonly answers: "oldest first" | "newest first";
  readonly totals: DrainSettings["totals"];
}

/** How a list ended. */
export interface End {
  readonly kind: "finish" | "refuse" | "fail" | "endless";
  readonly witness: Witness;
  readonly promised: Witness | undefined;
  readonly keys: readonly string[];
  /** What the page said that was the last to say that it is the last; undefined when it did not count. */
  readonly lastTotal: number | undefined;
  readonly calls: number;
}

const KEYS = "abcdefghijklmnopqrstuvwxyz";
/** A list of so few records that needs more calls than `lists.maxPages` allows does not end. */
const MOST_CALLS = 600;

/** Reads the list of `world` to its end. */
export function readWorld(world: World): End {
  const waiting: { readonly call: number; readonly place: ReadPosition }[] = [];
  const chunks: { readonly reading: number; readonly keys: readonly string[] }[] = [];
  let state = startOf(howOf(world));
  let calls = 0;
  let lastTotal: number | undefined;
  let end: End["kind"] | undefined;
  let witness: Witness = "none";
  const step = (event: Parameters<typeof nextState>[1]): void => {
    state = nextState(state, event);
    for (const action of state.actions) {
      if (action.kind === "fetch") waiting.push(action);
      else if (action.kind === "emit") {
        chunks.push({ reading: action.reading, keys: [...new TextDecoder().decode(action.chunk).replaceAll(",", "")] });
      } else if (action.kind === "cancel") {
        const at = waiting.findIndex(({ call }) => call === action.call);
        if (at >= 0) waiting.splice(at, 1);
      } else if (action.kind === "finish" || action.kind === "refuse" || action.kind === "fail") {
        end = action.kind;
        if (action.kind === "finish") ({ witness } = action);
      }
    }
  };
  let taken = 0;
  /** In which reading the list began to go out: what an earlier one brought is void. */
  let announcedIn: number | undefined;
  step({ kind: "pull" });
  while (end === undefined && calls < MOST_CALLS) {
    if (chunks.length > taken) {
      taken = chunks.length;
      if (world.as === "streamed" && state.announced === undefined && !state.trying)
        announcedIn = announce(state, step);
      if (end === undefined) step({ kind: "pull" });
      continue;
    }
    const asked = world.answers === "oldest first" ? waiting.shift() : waiting.pop();
    if (asked === undefined) break;
    const got = answerTo(world, asked.place, calls);
    calls += 1;
    if (got.kind === "page" && got.page.nextPageToken === "") lastTotal = got.page.totalCount;
    step({ kind: "came", call: asked.call, got });
  }
  const keys = chunks.filter(({ reading }) => reading >= (announcedIn ?? state.reading)).flatMap((chunk) => chunk.keys);
  return { kind: end ?? "endless", witness, promised: state.announced, keys, lastTotal, calls };
}

/** As a list goes out whose head may promise enough; it would be refused otherwise. */
function announce(state: DrainState, step: (event: Parameters<typeof nextState>[1]) => void): number | undefined {
  const floor = guaranteedWitness(state);
  if (!isEnough(floor, state.how.require)) return undefined;
  step({ kind: "announced", witness: floor });
  return state.reading;
}

function howOf({ declared, pageSize, keyOrder, require, heedsSkip, totals }: World): DrainSettings {
  const limits = {
    ...DRAIN_LIMITS,
    pageSize,
    overlap: Math.min(1, pageSize - 1),
    windowRecords: 5,
    segmentPages: 2,
    readers: 2,
  };
  return {
    resource: "groups",
    keyOrder,
    bareProvesNothing: false,
    limits,
    tokens: declared,
    totals,
    require,
    heedsSkip,
    expected: undefined,
  };
}

function answerTo(world: World, { token, skip }: ReadPosition, call: number): CallResult {
  const { records, fault, tokens, pageSize: size } = world;
  if (skip !== undefined && world.skip === "refused")
    return { kind: "refused", response: { status: 400, headers: [], body: new Uint8Array() } };
  const befalls = world.at === "always" || world.at === call;
  const page = cutPage(
    ascending([...KEYS.slice(0, records)]),
    { size, token, skip },
    {
      tokens,
      skip: world.skip === "refused" ? "obeyed" : world.skip,
      counts: () => (befalls ? totalOf(world, call) : records),
    },
    befalls && isOfPage(fault) ? fault : undefined,
  );
  const about = { nextPageToken: page.next, totalCount: page.total };
  const skipped = skip === undefined ? undefined : page.skipped;
  return { kind: "page", page: listPage(page.items, (key) => key, { ...about, skipped }) };
}

const isOfPage = (fault: Fault): fault is Fault & PageFault => fault !== "none" && !fault.startsWith("totals");

function totalOf({ records, fault }: World, call: number): number | undefined {
  if (fault === "totals absent") return undefined;
  if (fault === "totals short") return Math.max(0, records - 2);
  if (fault === "totals long") return records + 1;
  return fault === "totals moving" ? (call * 5 + records) % 11 : records;
}

/** What was promised and not kept, in words. */
export function brokenPromises(world: World, end: End): readonly string[] {
  const { kind, keys, lastTotal, witness, promised } = end;
  const all = KEYS.slice(0, world.records);
  const broken: string[] = [];
  if (kind === "endless") broken.push("does not end");
  if (kind !== "finish") return broken;
  if (new Set(keys).size !== keys.length) broken.push("a record comes twice");
  if (world.totals === "verify" && lastTotal !== undefined && keys.length < lastTotal)
    broken.push("ends below its own count");
  const whole = [...all].every((key) => keys.includes(key));
  // Without counts a missing token cannot be noticed: that a page without one is the last is the platform's word.
  if (witness !== "none" && !whole) broken.push(`${witness} misses a record`);
  if (promised !== undefined && !isEnough(witness, promised)) broken.push("proves less than was promised");
  if (!isEnough(witness, world.require)) broken.push("proves less than is required");
  return broken;
}

/** True where nothing is wrong with the platform but a fault that a second reading does not meet. */
export function mustBeServed({ fault, at, as, require }: World): boolean {
  const passing = fault === "none" || (at !== "always" && !(fault === "totals moving"));
  return passing && as === "buffered" && require === "none";
}

/** Every world of some sizes. */
export function* worlds(sizes: {
  readonly records: readonly number[];
  readonly pages: readonly number[];
  readonly calls: number;
}): Generator<World> {
  const positions = ["always", ...Array.from({ length: sizes.calls }, (_, i) => i)] as const;
  for (const records of sizes.records)
    for (const pageSize of sizes.pages)
      for (const fault of FAULTS)
        for (const at of fault === "none" ? (["always"] as const) : positions)
          for (const [tokens, declared] of TOKENS)
            for (const skip of ["obeyed", "refused", "ignored", "claimed"] as const)
              for (const heedsSkip of skip === "obeyed" ? [undefined, true] : [undefined, false])
                for (const require of ["none", "count", "cover"] as const)
                  for (const as of ["buffered", "streamed"] as const)
                    for (const keyOrder of [true, false])
                      for (const answers of ["oldest first", "newest first"] as const)
                        yield {
                          records,
                          fault,
                          at,
                          tokens,
                          declared,
                          skip,
                          pageSize,
                          require,
                          as,
                          keyOrder,
                          heedsSkip,
                          answers,
                          totals: "verify",
                        };
}

const TOKENS = [
  ["keyset", "keyset"],
  ["keyset", "unknown"],
  ["offset", "offset"],
  ["offset", "unknown"],
] as const;
