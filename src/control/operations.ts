/** Which operations does a rule that may move take, and which of them hold it back? (Design section 7: promotion.) */
import {
  type Hindrance,
  hindrance,
  isTelling,
  type OperationEvent,
  reduce,
  UNKNOWN_OPERATION,
} from "../cutover/operation.ts";
import { type Comparison, isDifference, isJudged } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import { type Held, type Named, nameOf } from "./state.ts";

/** More than a catalogue has. What comes beyond is never known to be right, so it holds the rule back. */
const MOST = 300;
const BEYOND = "further operations";

/** An operation that does not move, by its names: `group list`. */
export interface Hinderer extends Hindrance {
  readonly operation: string;
}

/** True for a `shadow` rule with `promoteWhen`: only of such a rule it matters what it takes. */
export function mayMove({ rule }: Held): boolean {
  return rule.mode === "shadow" && rule.promoteWhen !== undefined;
}

/** A request that the rule left to native is over. What native refused asks for nothing that would have to be right. */
export function noteRequest(held: Held, exchange: Exchange): void {
  const { mode, aborted, status } = exchange;
  if (mode === "shadow" && !aborted && status >= 200 && status < 400) note(held, exchange, { kind: "request" });
}

/** A comparison that the rule asked for is over, failed ones included. */
export function noteComparison(held: Held, comparison: Comparison): void {
  const { result, failure } = comparison;
  const event: OperationEvent = isJudged(result)
    ? { kind: "compared", differs: isDifference(result) }
    : { kind: "failed", failure: failure ?? "internal" };
  note(held, comparison, event);
}

function note(held: Held, named: Named, event: OperationEvent): void {
  if (!mayMove(held) || !isTelling(event)) return;
  const { operations } = held;
  const name = nameOf(named);
  const known = operations.get(name);
  if (known !== undefined || operations.size < MOST) operations.set(name, reduce(known ?? UNKNOWN_OPERATION, event));
  else operations.set(BEYOND, reduce(operations.get(BEYOND) ?? UNKNOWN_OPERATION, { kind: "request" }));
}

/** Operations that hold the rule back, or that it left behind when it moved; those that are asked for most first. */
export function hinderers(held: Held): readonly Hinderer[] {
  const found: Hinderer[] = [];
  for (const operation of held.operations.keys()) {
    if (held.moved.has(operation)) continue;
    const hindered = hindranceOf(held, operation);
    if (hindered === undefined || !(held.promotion.promoted || isInUse(hindered))) continue;
    found.push({ operation, ...hindered });
  }
  return found.sort((a, b) => b.requests - a.requests);
}

/** True when every operation that the rule serves may move. */
export function isClear(held: Held): boolean {
  for (const operation of held.operations.keys()) {
    const hindered = hindranceOf(held, operation);
    if (hindered !== undefined && isInUse(hindered)) return false;
  }
  return true;
}

/** False where native refused whatever was asked, and nothing came of comparing that: it does not move, and holds nothing. */
function isInUse({ requests, compared }: Hindrance): boolean {
  return requests > 0 || compared > 0;
}

function hindranceOf({ rule, operations, promotion }: Held, operation: string): Hindrance | undefined {
  const { promoteWhen, shadow } = rule;
  return hindrance(operations.get(operation) ?? UNKNOWN_OPERATION, {
    sample: shadow.sample,
    differencesBelow: promoteWhen?.differencesBelow ?? 0,
    late: promotion.promoted,
  });
}

/** All that may move does; called when the rule is about to. */
export function moveAll(held: Held): void {
  for (const operation of held.operations.keys()) {
    if (hindranceOf(held, operation) === undefined) held.moved.add(operation);
  }
}

/** An operation that was first asked for after its rule had moved follows when it is known to be right; true when it does. */
export function follows(held: Held, named: Named): boolean {
  const name = nameOf(named);
  if (held.moved.has(name) || hindranceOf(held, name) !== undefined) return false;
  held.moved.add(name);
  return true;
}
