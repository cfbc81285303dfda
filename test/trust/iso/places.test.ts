import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../../src/model/http.ts";
import { type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const isPage = ({ target }: { readonly target: string }) => target.startsWith("/iam/v2beta1/groups?");

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

describe("places for lists", () => {
  it("T-ISO-11: a tenant that takes all the lists it may leaves the others their places", async () => {
    const { faults, shut, open } = gate();
    let isGreedy = (_value: string): boolean => false;
    const heldForOne: SendLayer = (next) => {
      const held = faults(next);
      return (request, options) =>
        (request.headers.some(([, value]) => isGreedy(value)) ? held : next)(request, options);
    };
    const rig = await rigForTest({
      flags: { listsMaxConcurrent: "4" },
      sandbox: { faults: heldForOne },
    });
    const greedyToken = rig.sandbox.token("admin#greedy");
    isGreedy = (value) => value.endsWith(greedyToken);
    shut();
    const greedy = Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        rig.ask("GET", `${GROUPS}?uidp.in_root=${at % 2 === 0}&x=${at}`, { as: "admin#greedy" }),
      ),
    );
    await arrivedAll(rig, 12);
    for (const as of ["admin#one", "admin#two"]) expect((await rig.ask("GET", GROUPS, { as })).status).toBe(200);
    open();
    for (const answer of await greedy) expect(answer.status).toBe(200);
  });
});
