/** Is a wrong row of the catalogue found by shadow, and does a rule step back on it by itself? (Design section 7.) */
import { describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, send, until, v2Says } from "./rig.ts";

takeDownAfterEach();

// biome-ignore lint/suspicious/noExplicitAny: a copy that is changed on purpose.
type Rows = any[];

/** A copy of the catalogue in which the rows of one message of one operation are other ones. */
async function wrong(resource: string, operation: string, side: "answer" | "body", change: (rows: Rows) => Rows) {
  const copy = structuredClone(await loadCatalogue("v2beta1")) as Catalogue;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const found: any = copy.resources
    .find(({ name }) => name === resource)
    ?.operations.find(({ name }) => name === operation);
  found[side] = { ...found[side], rows: change(structuredClone(found[side].rows)) };
  return copy;
}

/** The v2 names of two members, exchanged. */
const swapped = (one: string, other: string) => (rows: Rows) => {
  const [a, b] = [one, other].map((name) => rows.find(({ v1 }) => v1 === name));
  [a.v2, b.v2] = [b.v2, a.v2];
  return rows;
};
/** Another v2 name of a member. */
const renamed = (name: string, v2: string) => (rows: Rows) =>
  rows.map((row) => (row.v1 === name ? { ...row, v2 } : row));
/** An enum whose first two names of both versions are taken for each other. */
const enumSwapped = (name: string, one: string, other: string) => (rows: Rows) => {
  const table = rows.find(({ v1 }) => v1 === name).values;
  const [a, b] = [one, other].map((v1) => table.values.findIndex(([text]: [string]) => text === v1));
  const [[, , v2a, na], [, , v2b, nb]] = [table.values[a], table.values[b]];
  table.values[a] = [table.values[a][0], table.values[a][1], v2b, nb];
  table.values[b] = [table.values[b][0], table.values[b][1], v2a, na];
  return rows;
};

const shadow = `version: carryover/v1
rules:
  - name: look
    match: {}
    mode: shadow
    shadow: { sample: 1, control: 0 }
`;
const translate = (more = "") => `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
    shadow: { sample: 1, control: 0 }
    stepBack: { differences: 0.1, minRequests: 5, minClients: 2${more} }
`;

const READS: readonly (readonly [string, string, string, (rows: Rows) => Rows])[] = [
  ["names of a group swapped", "group", "/iam/v1/groups?uidp.children_of=ROOT", swapped("name", "description")],
  [
    "two capabilities of a role swapped",
    "role",
    "/iam/v1/roles",
    enumSwapped("capabilities", "groups.list", "groups.create"),
  ],
  [
    "times of an identity swapped",
    "identity",
    "/iam/v1/identities?uidp.children_of=GROUP",
    swapped("createdAt", "updatedAt"),
  ],
  [
    "digest of a tag under another name",
    "tag",
    "/registry/v1/tags?uidp.children_of=REPO",
    renamed("digest", "digests"),
  ],
  ["times of an invite swapped", "group-invite", "/iam/v1/group_invites", swapped("createdAt", "expiration")],
  ["names of a provider swapped", "identity-provider", "/iam/v1/identityProviders", swapped("name", "description")],
];

const target = (rig: CutoverRig, path: string) => {
  const { rootGroup, someGroup, repo } = rig.sandbox.wellKnown;
  return path.replace("ROOT", rootGroup).replace("GROUP", someGroup).replace("REPO", repo);
};

const client = (at: number) => ({
  as: `admin#${at % 3}`,
  headers: { "user-agent": `client-${at % 3}/1.0` },
});

describe("a wrong row that reads use", () => {
  it.each(READS)(
    "%s: shadow finds it with the first request, a translating rule steps back at its minimum",
    async (_, resource, path, change) => {
      const catalogue = await wrong(resource, "list", "answer", change);
      const looking = await cutover({ rules: shadow, catalogue });
      await looking.ask("GET", target(looking, path), client(0));
      await looking.compared(1);
      const { samples } = await looking.view("/samples");
      expect(samples[0]).toMatchObject({ resource, operation: "list" });
      await looking.close();

      const rig = await cutover({ rules: translate(), catalogue });
      let requests = 0;
      for (; requests < 50; requests++) {
        const answer = await rig.ask("GET", target(rig, path), client(requests));
        expect(answer.status).toBe(200);
        if (answer.field("carryover-mode") !== "translate") break;
        await rig.compared(requests + 1);
      }
      expect(requests).toBe(5);
      // What clients get from now on is native's.
      for (let at = 0; at < 6; at++) {
        const answer = await rig.ask("GET", target(rig, path), client(at));
        const native = await send(rig.sandboxUrl, rig.sandbox, "GET", target(rig, path), {});
        expect([answer.text, answer.field("carryover-mode")]).toEqual([native.text, "shadow"]);
      }
      expect(await rig.metric("carryover_rule_step_backs", { rule: "forward" })).toBe(1);
      expect(await rig.metric("carryover_rule_state", { rule: "forward", state: "back" })).toBe(1);
      expect(await rig.metric("carryover_rule_mode", { rule: "forward", mode: "translate" })).not.toBe(1);
      const told = rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /step/.test(msg));
      expect(told).toHaveLength(1);
      expect(told[0]).toMatchObject({ level: "warn", rule: "forward", reason: expect.stringMatching(/differ/) });
      const view = await rig.view("/rules");
      expect(view.rules[0]).toMatchObject({ state: "back", mode: "translate", effective: "shadow", stepBacks: 1 });
      expect(view.transitions[0]).toMatchObject({ kind: "stepped-back", rule: "forward" });
      const progress = await rig.view("/progress");
      expect(progress.rules[0]).toMatchObject({
        name: "forward",
        mode: "translate",
        doing: "shadow",
        state: "stepped-back",
      });
    },
  );

  it("with what rules say of themselves it is 20 comparisons of the 200 requests of which a tenth is compared", async () => {
    const catalogue = await wrong("role", "list", "answer", swapped("name", "description"));
    const rig = await cutover({
      rules: `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
    stepBack: { differences: 0.001 }
`,
      catalogue,
      sandbox: { organisation: false },
    });
    let requests = 0;
    for (; requests < 1000; requests++) {
      const answer = await rig.ask("GET", "/iam/v1/roles?name=viewer", client(requests));
      if (answer.field("carryover-mode") !== "translate") break;
      await rig.idle();
    }
    const compared = (await rig.view("/rules")).transitions[0].reason;
    console.log(`stepped back after ${requests} requests: ${compared}`);
    expect(requests).toBeLessThan(1000);
    expect(compared).toMatch(/20 of 20 /);
  });
});

/** A wrong row of a body: how native is asked so that it matters. */
const WRITES: readonly (readonly [
  string,
  string,
  string,
  (rows: Rows) => Rows,
  (rig: CutoverRig) => readonly [string, string, object],
])[] = [
  [
    "names of a group swapped in an update",
    "group",
    "update",
    swapped("name", "description"),
    (rig) => ["PUT", `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`, { name: "one", description: "two" }],
  ],
  [
    "description of a group under another name in a create",
    "group",
    "create",
    renamed("description", "describe"),
    (rig) => ["POST", `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`, { name: "one", description: "two" }],
  ],
  [
    "capabilities of a role swapped in a create",
    "role",
    "create",
    enumSwapped("capabilities", "groups.list", "groups.create"),
    (rig) => [
      "POST",
      `/iam/v1/roles/${rig.sandbox.wellKnown.emptyGroup}`,
      { name: "one", capabilities: ["groups.list"] },
    ],
  ],
  [
    "names of an identity swapped in a create",
    "identity",
    "create",
    swapped("name", "description"),
    (rig) => [
      "POST",
      `/iam/v1/identities/${rig.sandbox.wellKnown.emptyGroup}`,
      { name: "one", description: "two", claimMatch: { issuer: "https://issuer.example.com", subject: "s" } },
    ],
  ],
];

describe("a wrong row that writes use", () => {
  it.each(WRITES)(
    "%s: shadow finds it with the first write, without writing",
    async (_, resource, operation, change, make) => {
      const rig = await cutover({ rules: shadow, catalogue: await wrong(resource, operation, "body", change) });
      const [method, path, body] = make(rig);
      // So that leaving it out matters.
      const before = { name: "zero", description: "before" };
      if (method === "PUT") await send(rig.sandboxUrl, rig.sandbox, method, path, { body: before });
      const answer = await rig.ask(method, path, { ...client(0), body });
      expect([answer.status, answer.field("carryover-mode")]).toEqual([200, "shadow"]);
      await rig.compared(1);
      const { samples } = await rig.view("/samples");
      expect(samples).toHaveLength(1);
      expect(samples[0]).toMatchObject({ resource, operation, kind: "write" });
      expect(rig.arrived.filter((one) => one.target.includes("/v2beta1/") && one.method !== "GET")).toEqual([]);
      expect((await rig.view("/progress")).bounds[0]).toMatchObject({
        resource,
        operation,
        comparisons: 1,
        differences: 1,
      });
    },
  );
});

describe("a row that was mended", () => {
  it("lets its rule return by itself after a quiet time, to more and more clients, none of whom goes back", async () => {
    const platform = { wrong: true };
    const rig = await cutover({
      rules: translate(", window: 10s, returnAfter: 3s").replace("minClients: 2", "minClients: 1"),
      sandbox: {
        organisation: false,
        faults: v2Says((text) => (platform.wrong ? text.replaceAll('"viewer"', '"viewed"') : text)),
      },
      flags: { clientsIdentify: "header:x-client" },
    });
    const mode = async (name: string) =>
      (await rig.ask("GET", "/iam/v1/roles?name=viewer", { headers: { "x-client": name } })).field("carryover-mode");
    for (let at = 0; (await mode(`c${at}`)) === "translate"; at++) await rig.idle();
    const state = async () => (await rig.view("/rules")).rules[0].state as string;
    expect(await state()).toBe("back");
    platform.wrong = false;
    const names = Array.from({ length: 40 }, (_, at) => `c${at}`);
    const seen = new Set<string>();
    const shares: number[] = [];
    let forward = new Set<string>();
    await until(
      async () => {
        const now = new Set<string>();
        const before = await state();
        for (const name of names) {
          if ((await mode(name)) === "translate") now.add(name);
          await rig.idle();
        }
        if ((await state()) !== before) return before;
        expect([...forward].filter((name) => !now.has(name))).toEqual([]);
        forward = now;
        seen.add(before);
        if (shares.at(-1) !== now.size) shares.push(now.size);
        return before;
      },
      (word) => word === "forward",
    );
    expect([...seen]).toEqual(expect.arrayContaining(["returning", "forward"]));
    expect(shares.at(-1)).toBe(40);
    expect(shares.filter((share) => share > 0 && share < 40).length).toBeGreaterThan(0);
    const kinds = (await rig.view("/rules")).transitions.map(({ kind }: { kind: string }) => kind).toReversed();
    expect(kinds).toEqual(["rules", "stepped-back", "returning", "returning", "returning", "returned"]);
  });

  it("lets an operator bring it back at once: a rule that was changed begins afresh", async () => {
    const platform = { wrong: true };
    const rig = await cutover({
      rules: translate(),
      sandbox: {
        organisation: false,
        faults: v2Says((text) => (platform.wrong ? text.replaceAll('"viewer"', '"viewed"') : text)),
      },
    });
    const mode = async (at: number) =>
      (await rig.ask("GET", "/iam/v1/roles?name=viewer", client(at))).field("carryover-mode");
    for (let at = 0; (await mode(at)) === "translate"; at++) await rig.idle();
    platform.wrong = false;
    for (let at = 0; at < 20; at++) {
      expect(await mode(at)).toBe("shadow");
      await rig.idle();
    }
    await rig.change(translate(", window: 6m"));
    for (let at = 0; at < 20; at++) {
      expect(await mode(at)).toBe("translate");
      await rig.idle();
    }
  });
});
