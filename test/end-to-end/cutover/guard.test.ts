/** The guard: v2 fails clients that native v1 would have served. */
import { describe, expect, it } from "vitest";
import { headerValues, type SendLayer } from "../../../src/model/http.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover } from "./rig.ts";

takeDownAfterEach();

const ROLES = "/iam/v1/roles?name=viewer";
const NOW = Date.UTC(2026, 10, 28, 12);
const rules = (more = "") => `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
${more === "" ? "" : `    ${more}\n`}`;

/** The status of each version's responses; 0: as usual. */
interface Sickness {
  v1: number;
  v2: number;
}

const faults =
  (sick: Sickness): SendLayer =>
  (next) =>
  (request, options) => {
    const status = request.target.includes("/v2beta1/") ? sick.v2 : sick.v1;
    if (status === 0) return next(request, options);
    const headers = [
      ["content-type", "application/json"],
      ["ratelimit-policy", "100;w=60"],
    ] as const;
    return Promise.resolve({ status, headers, body: Buffer.from('{"code":14,"message":"sick","details":[]}') });
  };

interface Watched extends CutoverRig {
  readonly sick: Sickness;
  readonly clock: { now: number };
  /** Ten requests of four clients within a second; the modes and statuses of their responses. */
  second(): Promise<string[]>;
}

async function guarded(more?: string, flags: Record<string, string> = {}): Promise<Watched> {
  const [sick, clock] = [{ v1: 0, v2: 0 }, { now: NOW }];
  const rig = await cutover({
    rules: rules(more),
    sandbox: { organisation: false, faults: faults(sick) },
    wall: () => clock.now,
    flags: { upstreamV2Breaker: "false", upstreamV1Breaker: "false", ...flags },
  });
  let asked = 0;
  const second = async () => {
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => {
        const at = asked++;
        const headers = { "user-agent": `client-${at % 4}/1.0` };
        return rig.ask("GET", `${ROLES}&description=${at}`, { as: `admin#${at % 4}`, headers });
      }),
    );
    clock.now += 1_000;
    return responses.map(({ status, headers }) => `${status} ${headerValues(headers, "carryover-mode").join("+")}`);
  };
  return { ...rig, sick, clock, second };
}

/** Seconds until every client gets `expected`; infinite if not within 15. */
async function secondsUntil({ second }: Watched, expected: string): Promise<number> {
  for (let at = 0; at <= 15; at++) if ((await second()).every((one) => one === expected)) return at;
  return Number.POSITIVE_INFINITY;
}

/** A second in which at least one request is compared: a busy machine skips comparisons. */
async function comparedSecond(rig: Watched): Promise<void> {
  const compared = () => rig.metric("carryover_comparisons_total");
  const before = await compared();
  for (let tries = 0; tries < 50 && (await compared()) === before; tries++) {
    if (tries > 0) rig.clock.now -= 1_000;
    await rig.second();
    await rig.idle();
  }
}

const ruleOf = async (rig: CutoverRig) => (await rig.view("/rules")).rules[0];

describe("v2 fails reads that native v1 serves", () => {
  it.each([503, 401, 403, 429])("with %i: the rule steps back within ten seconds, and says why", async (status) => {
    const rig = await guarded();
    for (let at = 0; at < 5; at++) await rig.second();
    rig.sick.v2 = status;
    expect(await secondsUntil(rig, "200 shadow")).toBeLessThanOrEqual(10);
    const { says, state } = await ruleOf(rig);
    expect(says.includes("(ratelimit-policy: 100;w=60)")).toBe(status === 429);
    expect([state, says]).toEqual([
      "back",
      expect.stringMatching(/^stepped back: v2 failed \d+ of \d+ requests for role list .* native v1 served/),
    ]);
  });

  it("and native fails them too: nothing moves", async () => {
    const rig = await guarded();
    [rig.sick.v1, rig.sick.v2] = [503, 503];
    expect(await secondsUntil(rig, "503 shadow")).toBe(Number.POSITIVE_INFINITY);
    expect(await ruleOf(rig)).toMatchObject({ state: "forward" });
  });

  it("under guard: warn: it is logged once, and nothing moves", async () => {
    const rig = await guarded("guard: warn");
    await rig.second();
    rig.sick.v2 = 503;
    for (let at = 0; at < 15; at++) await rig.second();
    expect(await ruleOf(rig)).toMatchObject({ state: "forward" });
    const { clients } = await rig.view("/clients");
    expect(clients[0].errors).toEqual({ platform: expect.any(Number), v2: expect.any(Number) });
    const alarms = rig.lines.filter((line) => line.includes("cutover: alarm"));
    expect(alarms).toHaveLength(1);
    rig.sick.v2 = 0;
    rig.clock.now += 901_000;
    for (let at = 0; at < 3; at++) await rig.second();
    const { events } = await rig.view("/events?rule=forward");
    expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(["failing", "alarm", "guard-cleared"]);
    expect(new Set(events[1].requests).size).toBe(3);
    expect(JSON.parse(alarms[0] ?? "")).toMatchObject({ event: events[1].id, requests: events[1].requests.join(", ") });
  });

  it("under guard: off: native is not asked", async () => {
    const rig = await guarded("guard: off");
    rig.sick.v2 = 503;
    for (let at = 0; at < 3; at++) await rig.second();
    expect(rig.arrived.filter(({ target }) => target.includes("/v1/"))).toEqual([]);
  });

  it("at most two of a rule are repeated in a second", async () => {
    const rig = await guarded("guard: warn");
    rig.sick.v2 = 503;
    for (let at = 0; at < 5; at++) await rig.second();
    const repeated = rig.arrived.filter(({ target }) => target.includes("/v1/")).length;
    expect([repeated > 5, repeated <= 10]).toEqual([true, true]);
  });
});

describe("a rule that stepped back for v2", () => {
  it("returns only after its quiet time, and only when v2 responds in comparisons", async () => {
    const rig = await guarded("guard: { returnAfter: 60s }");
    rig.sick.v2 = 503;
    await secondsUntil(rig, "200 shadow");
    // Comparisons that v2 fails end the quiet time, so it begins again.
    rig.clock.now += 120_000;
    await comparedSecond(rig);
    rig.sick.v2 = 0;
    await comparedSecond(rig);
    rig.clock.now += 50_000;
    await comparedSecond(rig);
    expect(await ruleOf(rig)).toMatchObject({ state: "back" });
    rig.clock.now += 10_000;
    await comparedSecond(rig);
    expect(await ruleOf(rig)).toMatchObject({ state: "returning" });
  });
});

describe("onFailure: native", () => {
  it("serves every read from native while v2 fails, and the guard still sees v2", async () => {
    const rig = await guarded("onFailure: native");
    rig.sick.v2 = 503;
    const seen: string[][] = [];
    for (let at = 0; at < 12; at++) seen.push(await rig.second());
    expect(new Set(seen.flat())).toEqual(new Set(["200 native; after=v2", "200 shadow"]));
    expect(seen.at(-1)).toContain("200 shadow");
    expect(await ruleOf(rig)).toMatchObject({ state: "back" });
  });

  it("serves what the operator lists of 401, 403 and 429, and nothing else below 500", async () => {
    const rig = await guarded("onFailure: { statuses: [403] }");
    rig.sick.v2 = 403;
    expect(new Set(await rig.second())).toEqual(new Set(["200 native; after=v2"]));
    rig.sick.v2 = 401;
    expect(new Set(await rig.second())).toEqual(new Set(["401 translate"]));
  });

  it("compares v2's refusal with native's response, not native with itself", async () => {
    const rig = await guarded("onFailure: { statuses: [403] }\n    shadow: { sample: 1, control: 0 }");
    rig.sick.v2 = 403;
    await rig.second();
    await rig.idle();
    const { comparisons, differences } = await ruleOf(rig);
    expect(comparisons).toBeGreaterThan(0);
    expect(differences).toBe(comparisons);
  });

  it("gives the client v2's failure when native fails too", async () => {
    const rig = await guarded("onFailure: native");
    [rig.sick.v1, rig.sick.v2] = [500, 503];
    expect(new Set(await rig.second())).toEqual(new Set(["503 translate"]));
  });
});
