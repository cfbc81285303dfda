import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PromoteSettings } from "../../src/model/rules.ts";
import type { CallerIdentity } from "../../src/rollout/evidence-window.ts";
import {
  canPromote,
  evidence,
  initialPromotion,
  type PromotionState,
  promote,
  reducePromotion,
} from "../../src/rollout/promotion.ts";
import { upperBound } from "../../src/rollout/upper-bound.ts";
import { caller } from "./caller.ts";

const SETTINGS: PromoteSettings = { differencesBelow: 0.001, minClients: 3, automatic: true };

/** A rule that takes one operation, which holds nothing back. */
function seen(state: PromotionState, client: string, differs: boolean): PromotionState {
  const after = reducePromotion(state, { who: caller(client), differs });
  return !after.promoted && after.settings.automatic && canPromote(after) ? promote(after) : after;
}

function compare(state: PromotionState, count: number, { differs = false, clients = 3 } = {}): PromotionState {
  let present = state;
  for (let n = 0; n < count; n++) present = seen(present, `c${n % clients}`, differs);
  return present;
}

describe("moving on", () => {
  test("three thousand comparisons without a difference are enough for a thousandth, and not one less", () => {
    const before = compare(initialPromotion(SETTINGS, undefined), 2_995);
    expect([canPromote(before), before.promoted]).toEqual([false, false]);
    const after = compare(before, 1);
    expect([canPromote(after), after.promoted]).toEqual([true, true]);
    expect(evidence(after)).toEqual({ comparisons: 2_996, differences: 0, clients: 3, bound: upperBound(0, 2_996) });
  });

  test("a difference is made up for by more comparisons", () => {
    const one = compare(compare(initialPromotion(SETTINGS, undefined), 1, { differs: true }), 4_742);
    expect(one.promoted).toBe(false);
    expect(compare(one, 10).promoted).toBe(true);
  });

  test("without `automatic` it only says that it could", () => {
    const state = compare(initialPromotion({ ...SETTINGS, automatic: false }, undefined), 5_000);
    expect([canPromote(state), state.promoted]).toEqual([true, false]);
    expect(canPromote(compare(state, 10, { differs: true }))).toBe(false);
  });

  test("it stays promoted whatever is compared later", () => {
    const state = compare(initialPromotion(SETTINGS, undefined), 3_000);
    const later = compare(state, 50, { differs: true });
    expect([canPromote(later), later.promoted]).toEqual([false, true]);
  });

  test("too few clients keep it where it is, but never more are asked for than the rule names", () => {
    expect(compare(initialPromotion(SETTINGS, undefined), 9_000, { clients: 2 }).promoted).toBe(false);
    expect(compare(initialPromotion(SETTINGS, 2), 9_000, { clients: 2 }).promoted).toBe(true);
    expect(compare(initialPromotion(SETTINGS, 2), 9_000, { clients: 1 }).promoted).toBe(false);
  });

  test("one credential under many names is one client, and so is one name with many credentials", () => {
    const feed = (who: (n: number) => CallerIdentity): boolean => {
      let state = initialPromotion(SETTINGS, undefined);
      for (let n = 0; n < 9_000; n++) state = reducePromotion(state, { who: who(n), differs: false });
      return canPromote(state);
    };
    expect(feed((n) => caller(`c${n}`, "the same"))).toBe(false);
    expect(feed((n) => caller("the same", `k${n}`))).toBe(false);
    expect(feed((n) => caller(`c${n % 3}`))).toBe(true);
  });

  test("a rule that never moves has a bound all the same, and is not promoted", () => {
    const state = compare(initialPromotion(undefined, undefined), 5_000);
    expect(evidence(state).bound).toBeLessThan(0.001);
    expect(state.promoted).toBe(false);
  });
});

test("the bound is never lower than what lets it be left unworked", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 0, max: 5_000 }), (comparisons, differences) => {
      fc.pre(differences <= comparisons);
      expect(upperBound(differences, comparisons)).toBeGreaterThanOrEqual(
        Math.min(1, (differences + 2.99) / comparisons),
      );
    }),
  );
});

describe("ageing", () => {
  test("what was wrong before it was mended is forgotten after two halves of comparisons", () => {
    const wrong = compare(initialPromotion(SETTINGS, undefined), 500, { differs: true });
    expect(compare(wrong, 23_400).promoted).toBe(false);
    expect(compare(wrong, 24_000).promoted).toBe(true);
  });

  test("a stretch of luck between differences promotes nothing", () => {
    let state = initialPromotion(SETTINGS, undefined);
    state = compare(state, 30, { differs: true });
    for (let round = 0; round < 40; round++) state = compare(compare(state, 2_000), 5, { differs: true });
    expect(state.promoted).toBe(false);
    expect(evidence(state).bound).toBeGreaterThan(0.002);
  });

  test("promotion is never without the bound and the clients, in any history, and memory stays bounded", () => {
    const settings = { differencesBelow: 0.2, minClients: 3, automatic: true };
    let moved = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            client: fc.constantFrom("a", "b", "c", "d", "e"),
            differs: fc.constantFrom(...Array(9).fill(false), true),
          }),
          {
            size: "max",
            maxLength: 400,
          },
        ),
        (history) => {
          let state = initialPromotion(settings, undefined);
          for (const [n, { client, differs }] of history.entries()) {
            const before = state.promoted;
            state = seen(state, client, differs);
            expect(JSON.stringify(state).length).toBeLessThan(600);
            if (state.promoted === before) continue;
            // Less than one half: nothing is forgotten yet.
            const past = history.slice(0, n + 1);
            if (n >= 99) return;
            moved++;
            expect(upperBound(past.filter(({ differs }) => differs).length, past.length)).toBeLessThan(0.2);
            expect(new Set(past.map(({ client }) => client)).size).toBeGreaterThanOrEqual(3);
          }
        },
      ),
    );
    expect(moved).toBeGreaterThan(10);
  });
});
