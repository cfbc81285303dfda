import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drained, drainedByCursor, type Platform, pageOf, quiet, raw, respond, uidsOf } from "../drain/simulator.ts";
import type { Tokens } from "../support/platform-pages.ts";
import { scale } from "../support/scale.ts";
import { variants } from "../support/tier.ts";

const FAULTS = [
  "none",
  "repeat",
  "cycle",
  "restart",
  "cut",
  "empty",
  "short",
  "503",
  "twice",
  "torn",
  "long",
  "skipped",
  "uncounted",
] as const;
type Fault = (typeof FAULTS)[number];

const list = fc.uniqueArray(fc.stringMatching(/^[a-f]{1,3}$/), { maxLength: 25 }).map((keys) => keys.toSorted());
const pageSize = fc.integer({ min: 1, max: 7 });
const tokens = fc.constantFrom<Tokens[]>("keyset", "offset");

/** A token, of either kind, that leads to page one. */
const BEGINNING = "k:";

function beforeAnyRecord(token: string | undefined): boolean {
  return token === undefined || token.trim() === BEGINNING;
}

function strangers(count: number): { uid: string }[] {
  return Array.from({ length: count }, (_, i) => ({ uid: `stranger-${i}` }));
}

/** `fault` instead of the right answer. Whatever it does, no record is withheld in a way that a correct list could look like. */
function faulty(keys: readonly string[], kind: Tokens, fault: Fault): Platform {
  return (selector, call) => {
    const page = pageOf(keys, selector, kind);
    const first = pageOf(keys, { size: selector.size }, kind);
    const known = keys[0] === undefined || selector.token === undefined ? [] : [{ uid: keys[0] }];
    switch (fault) {
      case "none":
        return respond(page);
      case "repeat":
        return respond({ ...page, next: selector.token ?? page.next });
      case "cycle":
        return respond({ ...page, next: first.next });
      case "restart":
        return respond({ ...first, next: first.next === "" ? "" : kind === "offset" ? `${first.next}.0` : first.next });
      case "cut":
        // Before any record came, page one without its token looks like a shorter list: no reader can tell them apart.
        return beforeAnyRecord(selector.token) ? respond(page) : respond({ ...first, next: "" });
      case "empty":
        return respond({ ...page, items: [], next: `${selector.token ?? BEGINNING} ` });
      case "short":
        return respond(pageOf(keys, { ...selector, size: Math.max(1, selector.size - 2) }, kind));
      case "503":
        return raw(503, "{}");
      case "twice": {
        const fewer = selector.size === 1 ? page : pageOf(keys, { ...selector, size: selector.size - 1 }, kind);
        return respond({ ...fewer, items: [...fewer.items, ...known] });
      }
      case "torn":
        return raw(200, JSON.stringify(page).slice(0, (call * 13) % 30));
      case "long":
        return respond({ ...page, items: [...page.items, ...strangers(selector.size + 1 - page.items.length)] });
      case "skipped":
        return respond({ ...page, skipped: 1 });
      case "uncounted":
        return respond({ ...page, total: undefined });
    }
  };
}

describe("every small list, page size and fault", () => {
  it("a drain gives exactly the list, or an error, or the platform's own refusal", async () => {
    const script = fc.array(fc.constantFrom(...FAULTS), { maxLength: 12 });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(list, pageSize, tokens, script, async (keys, size, kind, faults) => {
        const platform: Platform = (s, call) => faulty(keys, kind, faults[call] ?? "none")(s, call);
        const outcome = await drained(platform, { limits: { pageSize: size } });
        if (outcome.result?.kind === "list") {
          expect(uidsOf(outcome).toSorted()).toEqual(keys);
          expect(outcome.result.records).toBe(keys.length);
        } else if (outcome.result === undefined) {
          expect(["DRAIN_INCOMPLETE", "UPSTREAM_INVALID"]).toContain(outcome.problem?.reason);
        } else {
          expect(outcome.result.response.status).toBe(503);
        }
        expect(outcome.claims.released).toBe(outcome.claims.taken);
        expect(outcome.requests.length).toBeLessThanOrEqual(2 * (4 * keys.length + 4));
        seen.add(outcome.problem?.reason ?? outcome.result?.kind ?? "stranger");
      }),
      { numRuns: variants(400, scale(1_000, 2_000)) },
    );
    // A property that only ever met errors would prove nothing.
    expect([...seen].toSorted()).toEqual(["DRAIN_INCOMPLETE", "UPSTREAM_INVALID", "list", "refused"]);
  });

  it("one fault anywhere that a second reading does not meet costs no record and no error", async () => {
    const fault = fc.constantFrom<Fault[]>(...FAULTS.filter((name) => name !== "503"));
    await fc.assert(
      fc.asyncProperty(list, pageSize, tokens, fault, fc.nat(6), async (keys, size, kind, name, at) => {
        const platform: Platform = (s, call) => faulty(keys, kind, call === at ? name : "none")(s, call);
        expect(uidsOf(await drained(platform, { limits: { pageSize: size } })).toSorted()).toEqual(keys);
      }),
      { numRuns: variants(250, 1_000) },
    );
  });

  it("a list proved by count or cover is exact, even when the platform loses records in silence", async () => {
    const lossy = fc.array(fc.boolean(), { minLength: 25, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(list, pageSize, lossy, async (keys, size, drops) => {
        const platform: Platform = (selector) => {
          const page = pageOf(keys, selector, "keyset");
          return respond({ ...page, items: page.items.filter((_, i) => drops[i] !== true) });
        };
        // Read by rank, a page that lacks records cannot be detected: proofs rest on whole pages.
        const outcome = await drainedByCursor(platform, { limits: { pageSize: size } });
        if (outcome.result?.kind !== "list" || outcome.result.witness === "none") return;
        expect(uidsOf(outcome)).toEqual(keys);
      }),
      { numRuns: variants(200, 500) },
    );
  });
});

describe("a list that others write to while it is read", () => {
  /** After each call some keys appear and some go. */
  const churn = fc.array(
    fc.record({
      add: fc.array(fc.stringMatching(/^[a-f]{1,3}$/), { maxLength: 4 }),
      remove: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    { maxLength: 12 },
  );

  it("gives every record that existed throughout, and no record twice, with tokens that are keys", async () => {
    await fc.assert(
      fc.asyncProperty(list, pageSize, churn, async (start, size, writes) => {
        let now = start;
        const persistent = new Set(start);
        const ever = new Set(start);
        const platform: Platform = (selector, call) => {
          const answer = quiet(now)(selector, call);
          const write = writes[call];
          if (write === undefined) return answer;
          for (const nth of write.remove) {
            const gone = now[nth % Math.max(1, now.length)];
            now = now.filter((key) => key !== gone);
            if (gone !== undefined) persistent.delete(gone);
          }
          for (const key of write.add) ever.add(key);
          now = [...new Set([...now, ...write.add])].toSorted();
          return answer;
        };
        const uids = uidsOf(await drained(platform, { limits: { pageSize: size } }));
        expect(new Set(uids).size).toBe(uids.length);
        expect([...persistent].filter((key) => !uids.includes(key))).toEqual([]);
        expect(uids.filter((key) => !ever.has(key))).toEqual([]);
      }),
      { numRuns: variants(250, 1_000) },
    );
  });
});
