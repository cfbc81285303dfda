/** How many clients each rule takes requests of now, for the page. Ten thousand clients take a while to ask for: other work goes on between, and the result is kept. */
import { setImmediate } from "node:timers/promises";
import type { ClientEntry } from "../ledger/entry.ts";
import { createChooser } from "../rules/choose.ts";
import type { RequestedOperation } from "../rules/conditions/condition.ts";
import type { Rules } from "../rules/rule.ts";

interface TakersParts {
  readonly rules: () => Rules | undefined;
  readonly bucketOf: (client: string) => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** All that rules decide on. */
  readonly operations: readonly RequestedOperation[];
}

const SLICE_MS = 2;
/** A result is kept for this long, and longer if it took long: counting may take this share of the time. */
const [KEPT_MS, SHARE] = [5_000, 0.02];
/** No header or cookie is known: a rule that asks for one counts no client. */
const HEAD = { method: "GET", target: "/", headers: [] };

/** By name of a rule; of the clients that called v1. */
export type Takers = ReadonlyMap<string, number>;

export function createTakers({ rules, bucketOf, wall, now, operations }: TakersParts) {
  const known = new Map(operations.map((one) => [`${one.resource} ${one.operation}`, one]));
  let kept: { readonly of: Rules | undefined; readonly until: number; readonly found: Promise<Takers> } | undefined;
  let chooser: { readonly of: Rules | undefined; readonly choose: ReturnType<typeof createChooser> } | undefined;
  const count = async (clients: readonly ClientEntry[]): Promise<Takers> => {
    const inForce = rules();
    const list = inForce?.rules ?? [];
    // An index of a thousand rules takes 30 ms.
    if (chooser === undefined || chooser.of !== inForce)
      chooser = { of: inForce, choose: createChooser(list, bucketOf) };
    const { choose } = chooser;
    const found = new Map(list.map(({ name }) => [name, 0]));
    const at = wall();
    let begun = now();
    for (const { name: client, lastV1, operations: called } of clients) {
      if (now() - begun > SLICE_MS) {
        await setImmediate();
        begun = now();
      }
      if (lastV1 === undefined) continue;
      const takers = called.flatMap(({ resource, operation }) => {
        const asked = known.get(`${resource} ${operation}`);
        return (asked && choose({ ...asked, client, head: HEAD, at })?.name) ?? [];
      });
      for (const name of new Set(takers)) found.set(name, (found.get(name) ?? 0) + 1);
    }
    return found;
  };
  return (clients: readonly ClientEntry[]): Promise<Takers> => {
    const [of, begun] = [rules(), now()];
    if (kept !== undefined && kept.of === of && begun < kept.until) return kept.found;
    const found = count(clients);
    kept = { of, until: begun + KEPT_MS, found };
    const own = kept;
    return found.then((takers) => {
      const took = now() - begun;
      if (kept === own) kept = { ...own, until: Math.max(own.until, begun + took / SHARE) };
      return takers;
    });
  };
}
