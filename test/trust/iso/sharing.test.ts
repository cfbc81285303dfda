import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../../src/model/http.ts";
import { type Rig, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { dial } from "../../listener/support/client.ts";
import { figure } from "../../support/figures.ts";
import { takeAnswer } from "./support/client.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const SHARED = { listsShareSeconds: "5s" };
const isPage = ({ target }: { readonly target: string }) => target.startsWith("/iam/v2beta1/groups?");

/** Pages of groups that were read of the platform, by the Authorization that they were read with. */
function pagesBy(rig: Rig): ReadonlyMap<string, number> {
  const pages = new Map<string, number>();
  for (const request of rig.arrived.filter(isPage)) {
    const who = request.headers.find(([name]) => name === "authorization")?.[1] ?? "nobody";
    pages.set(who, (pages.get(who) ?? 0) + 1);
  }
  return pages;
}

/** Holds every page of groups back from `shut` until `open`. */
function gate(): { readonly faults: SendLayer; shut(): void; open(): void } {
  const state = { open: () => {}, opened: Promise.resolve() };
  const faults: SendLayer = (next) => async (request, options) => {
    if (isPage(request)) await state.opened;
    return next(request, options);
  };
  const shut = () => {
    state.opened = new Promise<void>((resolve) => {
      state.open = resolve;
    });
  };
  return { faults, shut, open: () => state.open() };
}

async function arrivedAll(rig: Rig, count: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${rig.adminUrl}/metrics`)).text();
    if (Number(/^carryover_in_flight_requests (\d+)$/m.exec(text)?.[1]) >= count) return;
    await sleep(5);
  }
}

describe("lists that are shared", () => {
  it("T-ISO-02: the same path asked with two tokens at once is read once for each, and each gets its own", async () => {
    const { faults, shut, open } = gate();
    shut();
    const rig = await rigForTest({ flags: SHARED, sandbox: { faults } });
    const { rootGroup, otherRootGroup } = rig.sandbox.wellKnown;
    const who = [`admin@${rootGroup}`, `admin@${otherRootGroup}`];
    const answers = Promise.all(
      Array.from({ length: 20 }, (_, at) => rig.ask("GET", GROUPS, { as: who[at % 2] ?? "" })),
    );
    await arrivedAll(rig, 20);
    open();
    const texts = (await answers).map(({ text }) => text);
    expect(new Set(texts).size).toBe(2);
    expect(texts[0]).toContain(`"id":"${rootGroup}"`);
    expect(texts[0]).not.toContain(`"id":"${otherRootGroup}`);
    expect(texts[1]).toContain(`"id":"${otherRootGroup}"`);
    expect(texts[1]).not.toContain(`"id":"${rootGroup}`);
    const pages = pagesBy(rig);
    expect([...pages.keys()].toSorted()).toEqual(who.map((name) => `Bearer ${rig.sandbox.token(name)}`).toSorted());
    figure("T-ISO-02", "lists read for two credentials that asked for the same at once", pages.size, "lists");
  });

  it("T-ISO-03: 50 equal lists of one token are read once, and go on for the others when the first client leaves", async () => {
    const { faults, shut, open } = gate();
    const rig = await rigForTest({ flags: SHARED, sandbox: { faults } });
    // How many pages one takes alone, once it is known that this platform heeds `skip`.
    for (const _ of [1, 2]) {
      rig.arrived.length = 0;
      await rig.ask("GET", GROUPS, { headers: { "cache-control": "no-cache" } });
    }
    const alone = rig.arrived.filter(isPage).length;
    rig.arrived.length = 0;
    shut();
    const port = Number(new URL(rig.url).port);
    const text = `GET ${GROUPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${rig.sandbox.token("admin")}\r\n\r\n`;
    const leader = await dial(port);
    leader.send(text);
    await arrivedAll(rig, 1);
    const followers = await Promise.all(Array.from({ length: 50 }, () => dial(port)));
    for (const follower of followers) follower.send(text);
    await arrivedAll(rig, 51);
    leader.leave();
    while (!rig.exchanges.some(({ aborted }) => aborted)) await sleep(2);
    open();
    const answers = await Promise.all(
      followers.map(async ({ until }) => {
        const whole = await until((so) => takeAnswer(Buffer.from(so, "latin1")) !== undefined);
        return takeAnswer(Buffer.from(whole, "latin1"));
      }),
    );
    for (const { leave } of followers) leave();
    expect(answers.map((answer) => answer?.status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(new Set(answers.map((answer) => String(answer?.body))).size).toBe(1);
    const together = rig.arrived.filter(isPage).length;
    expect(together).toBe(alone);
    figure("T-ISO-03", "lists read for 50 equal requests of one credential", together / alone, "lists");
  });

  it("T-ISO-04: a token that the platform has revoked opens nothing any more once its kept list has expired", async () => {
    const state = { revoked: "" };
    const faults: SendLayer = (next) => (request, options) => {
      const own = request.headers.some(([name, value]) => name === "authorization" && value === state.revoked);
      if (!own) return next(request, options);
      return Promise.resolve({
        status: 401,
        headers: [["content-type", "application/json"]],
        body: Buffer.from('{"code":16,"message":"revoked","details":[]}'),
      });
    };
    const rig = await rigForTest({ flags: { listsShareSeconds: "200ms" }, sandbox: { faults } });
    const began = performance.now();
    expect((await rig.ask("GET", GROUPS)).status).toBe(200);
    state.revoked = `Bearer ${rig.sandbox.token("admin")}`;
    let last = began;
    let status = 200;
    while (status === 200) {
      last = performance.now();
      status = (await rig.ask("GET", GROUPS)).status;
    }
    expect(status).toBe(401);
    // It was answered from memory for a while.
    expect(last).toBeGreaterThan(began);
    expect(pagesBy(rig).size).toBe(1);
    // Others are not affected, and the one that is stays out.
    expect((await rig.ask("GET", GROUPS, { as: "viewer" })).status).toBe(200);
    expect((await rig.ask("GET", GROUPS)).status).toBe(401);
  });

  it("T-ISO-08: an error for the first is not copied to those that wait for it: each is told by the platform", async () => {
    const { faults: held, shut, open } = gate();
    let [status, code, refused] = [0, 0, 0];
    const failing: SendLayer = (next) => {
      const waiting = held(next);
      return async (request, options) => {
        // Repeats of the first included: it has to fail for good.
        if (!isPage(request) || refused >= (status === 503 ? 2 : 1)) return waiting(request, options);
        refused++;
        const good = await waiting(request, options);
        const body = Buffer.from(JSON.stringify({ code, message: "not you", details: [] }));
        return { ...good, status, body, headers: [["content-type", "application/json"]] };
      };
    };
    const rig = await rigForTest({ flags: SHARED, sandbox: { faults: failing } });
    for ([status, code] of [
      [401, 16],
      [403, 7],
      [429, 8],
      [500, 13],
      [503, 14],
    ] as const) {
      refused = 0;
      shut();
      const asked = Promise.all(Array.from({ length: 8 }, () => rig.ask("GET", GROUPS, { as: `admin#${status}` })));
      await arrivedAll(rig, 8);
      open();
      const answers = await asked;
      const statuses = answers.map((answer) => answer.status).toSorted();
      expect([status, ...statuses]).toEqual([status, ...Array(7).fill(200), status]);
      expect(answers.filter(({ text }) => text.includes("not you"))).toHaveLength(1);
    }
  });

  it("T-ISO-11: a tenant that takes all the lists it may leaves the others' places and kept lists alone", async () => {
    const { faults, shut, open } = gate();
    let isGreedy = (_value: string): boolean => false;
    const heldForOne: SendLayer = (next) => {
      const held = faults(next);
      return (request, options) =>
        (request.headers.some(([, value]) => isGreedy(value)) ? held : next)(request, options);
    };
    const rig = await rigForTest({
      flags: { ...SHARED, listsMaxConcurrent: "4" },
      sandbox: { faults: heldForOne },
    });
    const greedyToken = rig.sandbox.token("admin#greedy");
    isGreedy = (value) => value.endsWith(greedyToken);
    // Two tenants whose lists are kept.
    const keepers = ["admin#one", "admin#two"];
    for (const as of keepers) await rig.ask("GET", GROUPS, { as });
    shut();
    const greedy = Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        rig.ask("GET", `${GROUPS}?uidp.in_root=${at % 2 === 0}&x=${at}`, { as: "admin#greedy" }),
      ),
    );
    await arrivedAll(rig, 12);
    rig.arrived.length = 0;
    for (const as of keepers) {
      const answer = await rig.ask("GET", GROUPS, { as });
      expect([answer.status, answer.field("age") !== undefined]).toEqual([200, true]);
    }
    expect(rig.arrived.filter(({ headers }) => !headers.some(([, value]) => isGreedy(value)))).toEqual([]);
    // And one who comes anew has a place.
    expect((await rig.ask("GET", GROUPS, { as: "admin#new" })).status).toBe(200);
    open();
    for (const answer of await greedy) expect(answer.status).toBe(200);
    figure("T-ISO-11", "kept lists of others lost to a tenant that asks for more than its share", 0, "lists");
  });
});
