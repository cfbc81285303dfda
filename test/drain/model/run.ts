/** Runs one drain. The choices decide which page is served next and what is written in between. */
import type { Choices } from "./choices.ts";
import type { Fault } from "./platform.ts";
import type { Scenario, Trace } from "./scenario.ts";
import { answer, toggle, type World, worldOf } from "./world.ts";

/** A drain of a small list that needs more answers than this does not end. */
export const ANSWER_BOUND = 80;

/** Runs one drain through the schedule that `choices` makes. Never rejects: what went wrong is in the trace. */
export async function runDrain(scenario: Scenario, choices: Choices): Promise<Trace> {
  const world = worldOf(scenario, choices);
  const { trace } = world;
  for (;;) {
    await settled(world);
    if (trace.ended || trace.left !== undefined || isStuck(world) || world.answered >= ANSWER_BOUND) break;
    advance(world);
  }
  trace.leftOver = world.waiting.length;
  return trace;
}

/** Lets everything happen that needs no answer and no client. */
async function settled(world: World): Promise<void> {
  await turn();
  for (let i = 0; i < 5 && world.trace.left !== undefined; i += 1) await turn();
  for (let i = 0; i < 50 && isStuck(world); i += 1) await turn();
  for (let i = 0; i < 20 && isStuck(world); i += 1) await new Promise((resolve) => setTimeout(resolve, 5));
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isStuck({ trace, waiting, pull }: World): boolean {
  return !trace.ended && trace.left === undefined && waiting.length === 0 && pull === undefined;
}

type Move =
  | { readonly kind: "answer"; readonly at: number; readonly fault?: Fault }
  | { readonly kind: "pull" | "leave" | "give-up" };

function advance(world: World): void {
  const { pull, trace, choices } = world;
  if (pull !== undefined && trace.scenario.as === "pulled" && trace.scenario.leaves !== true) {
    pull();
    return;
  }
  const moves = movesOf(world);
  const move = moves[choices.choose(moves.length)];
  if (move === undefined) throw new Error("a run without a next step");
  if (move.kind === "answer") {
    if (world.answered > 0) write(world);
    answer(world, move.at, move.fault);
    return;
  }
  trace.steps.push(move.kind);
  if (move.kind === "pull") pull?.();
  else leave(world, move.kind);
}

/** What can happen next; the oldest request comes first. */
function movesOf(world: World): readonly Move[] {
  const { trace, waiting, pull } = world;
  const places = [...waiting.keys()];
  const faults = world.faultsLeft > 0 ? (trace.scenario.style.faults ?? []) : [];
  const moves: Move[] = places.map((at) => ({ kind: "answer", at }));
  if (pull !== undefined) moves.push({ kind: "pull" });
  moves.push(...places.flatMap((at) => faults.map((fault): Move => ({ kind: "answer", at, fault }))));
  if (trace.scenario.leaves === true) moves.push({ kind: "leave" });
  if (trace.scenario.leaves === true && pull !== undefined) moves.push({ kind: "give-up" });
  return moves;
}

function leave(world: World, how: "leave" | "give-up"): void {
  world.trace.left = world.trace.requests.length;
  if (how === "leave") world.stopper.abort(new Error("the client left"));
  else world.giveUp?.();
}

/** Writes before an answer: each key at most once and in order, as no reader can tell more than that apart. */
function write(world: World): void {
  const { universe } = world.trace.scenario;
  for (let from = 0; world.writesLeft > 0; ) {
    const candidates = [...universe].slice(from);
    const picked = world.choices.choose(candidates.length + 1, 0.8);
    const key = candidates[picked - 1];
    if (key === undefined) return;
    from += picked;
    toggle(world, key);
  }
}
