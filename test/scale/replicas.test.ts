import { describe, expect, it } from "vitest";
import type { MigrationReport } from "../../src/fleet/report-lines.ts";
import type { SendLayer } from "../../src/model/http.ts";
import { report } from "../commands/report/support.ts";
import { type Ask, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { type CutoverChoices, cutover, type Front } from "../end-to-end/cutover/rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const ROLES = "/iam/v1/roles?name=viewer";

async function replicas(count: number, choices: CutoverChoices = {}) {
  const rig = await cutover({ sandbox: { seed: "scale", clock: () => new Date("2026-01-01T00:00:00Z") }, ...choices });
  const all: Front[] = [rig];
  while (all.length < count) all.push(await rig.replica());
  return { ...rig, all, root: `${GROUPS}/${rig.sandbox.wellKnown.rootGroup}` };
}

const as = (client: string, more: Ask = {}): Ask => ({ ...more, headers: { "user-agent": `${client}/1.0` } });

type Call = readonly [method: string, target: string, ask: Ask];

interface Replicas {
  readonly all: readonly Front[];
  readonly root: string;
}

/** Lists of one page and of several, gets, refusals, an update that leaves a field out, v2: by five clients, without a pattern. */
function work(root: string): readonly Call[] {
  const calls: readonly Call[] = [
    ["GET", GROUPS, {}],
    ["GET", root, {}],
    ["GET", "/iam/v1/roles", {}],
    ["PUT", root, { body: { name: "renamed", odd: 1 } }],
    ["GET", root.replace("v1", "v2beta1"), {}],
    ["GET", `${GROUPS}/0123456789abcdef`, {}],
    ["GET", "/iam/v1/nothing", {}],
    ["GET", "/elsewhere", {}],
    ["GET", root, { as: null }],
  ];
  return Array.from({ length: 60 }, (_, i) => {
    const [method = "", target = "", ask = {}] = calls[(i * 7 + (i >> 3)) % calls.length] ?? [];
    return [method, target, as(`client-${(i * i) % 5}`, ask)] as const;
  });
}

/** Calls that a platform serves only to an authenticated client. The others need no valid token. */
const letIn = (root: string): readonly Call[] =>
  work(root).filter(([, target, { as: who }]) => who !== null && !/0123456789abcdef|nothing|elsewhere/.test(target));

/** One after another, each to a replica chosen without regard to what it is. */
async function doWork({ all, root }: Replicas, only: readonly Call[] = work(root)): Promise<void> {
  for (const [i, [method, target, ask]] of only.entries())
    await all[(i * i + (i >> 2)) % all.length]?.ask(method, target, ask);
}

async function reported(all: readonly Front[]): Promise<MigrationReport> {
  const { code, out, err } = await report([...all.map(({ adminUrl }) => adminUrl), "--json"]);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

/** Without what is of an instance, or of a moment. */
const timeless = ({ requests, resources, ledger, clients, breaks }: MigrationReport) => ({
  requests,
  resources: resources.map(({ lastV1, ...rest }) => ({ ...rest, v1: rest.v1, called: lastV1 !== null })),
  ledger: { v1: ledger.v1, v2: ledger.v2, bound: ledger.bound },
  clients: clients.map(({ name, v1, v2, over, difficulty, needs, operations }) => ({
    ...{ name, v1, v2, over, difficulty, needs },
    operations: operations.map(({ resource, operation, requests: made }) => ({ resource, operation, made })),
  })),
  breaks,
});

describe("two replicas", () => {
  it("report together what one alone reports, each client and each operation exactly", async () => {
    const [alone, several] = [await replicas(1), await replicas(2)];
    await doWork(alone, letIn(alone.root));
    await doWork(several, letIn(several.root));
    const together = await reported(several.all);
    expect(timeless(together)).toEqual(timeless(await reported(alone.all)));
    expect(together.instances.map(({ sameAs, fault }) => [sameAs, fault])).toEqual(several.all.map(() => [null, null]));
    expect((together.requests.v1 ?? 0) + (together.requests.v2 ?? 0)).toBe(letIn("").length);
    expect(together.clients.every(({ over }) => over === 0)).toBe(true);
  });

  it("take the same clients for a percentage, and others under another salt", async () => {
    const rules = `version: carryover/v1
rules:
- name: some
  match: { percent: 30 }
  mode: translate
- name: rest
  match: {}
  mode: native
`;
    const several = await replicas(2, { rules });
    const salted = await several.replica({ cutoverSalt: "another" });
    const taken = async (one: Front): Promise<string[]> => {
      const clients = Array.from({ length: 40 }, (_, i) => `client-${i}`);
      const modes = await Promise.all(
        clients.map(async (client) => (await one.ask("GET", several.root, as(client))).field("carryover-mode")),
      );
      return clients.filter((_, i) => modes[i] === "translate");
    };
    const [first = [], ...others] = await Promise.all(several.all.map(taken));
    expect(others).toEqual(others.map(() => first));
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(40);
    expect(await taken(salted)).not.toEqual(first);
  });

  it("step back each by itself, and the report says which did", async () => {
    const wrong: SendLayer = (next) => (request, options) =>
      request.target.includes("/v2beta1/")
        ? Promise.resolve({
            status: 200,
            headers: [["content-type", "application/json"]],
            body: Buffer.from("<html>"),
          })
        : next(request, options);
    const rules = `version: carryover/v1
rules:
- name: forward
  match: {}
  mode: translate
  shadow: { sample: 0 }
  stepBack: { failures: 0.2, minRequests: 10, minClients: 1 }
`;
    const several = await replicas(2, { rules, sandbox: { organisation: false, faults: wrong } });
    const [first, ...others] = several.all;
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await several.ask("GET", ROLES, as("one"))).status);
    expect(statuses).toEqual([...Array<number>(10).fill(502), 200, 200]);
    for (const one of others) {
      expect((await one.ask("GET", ROLES, as("one"))).status).toBe(502);
      expect(await one.metric("carryover_rule_step_backs")).toBe(0);
    }
    const told = (await reported(several.all)).rules.map(({ state, on }) => [state, on]);
    expect(told.toSorted()).toEqual([
      ["as-written", others.map(({ adminUrl }) => adminUrl)],
      ["stepped-back", [first?.adminUrl]],
    ]);
  });
});

it("an instance that is asked behind two addresses is counted once", async () => {
  const { all, root } = await replicas(1);
  await doWork({ all, root });
  const [{ adminUrl = "" } = {}] = all;
  const { out } = await report([adminUrl, adminUrl.replace("127.0.0.1", "localhost"), "--json"]);
  const { instances, requests } = JSON.parse(out);
  expect(instances.map(({ sameAs }: { sameAs: unknown }) => sameAs === null)).toEqual([true, false]);
  expect(requests.v1 + requests.v2).toBeLessThan(work("").length);
});
