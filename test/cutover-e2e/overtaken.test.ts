/** Is a write that somebody has overtaken told from one that is translated wrongly? (Design section 7: shadow for writes.) */
import { describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import type { SendLayer } from "../../src/model/message.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover, send } from "./rig.ts";

takeDownAfterEach();

interface GatedRig extends CutoverRig {
  /** Lets v2 answer. */
  open(): void;
  /** The uid of a group without anything in it, and of two identities and a role to bind. */
  readonly uids: Readonly<Record<"group" | "one" | "other" | "role" | "otherRole", string>>;
}

/** v2's reads wait until the gate is open: all that is written before has overtaken what it says. */
async function gated(catalogue?: Catalogue): Promise<GatedRig> {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const faults: SendLayer = (next) => async (request, options) => {
    if (request.target.includes("/v2beta1/")) await opened;
    return next(request, options);
  };
  const rig = await cutover({
    rules: COMPARE_ALL,
    sandbox: { faults },
    flags: { shadowConcurrent: "100" },
    ...(catalogue === undefined ? {} : { catalogue }),
  });
  const { emptyGroup: group } = rig.sandbox.wellKnown;
  const ids = async (path: string): Promise<string[]> =>
    (await send(rig.sandboxUrl, rig.sandbox, "GET", path, {})).json.items.map(({ id }: { id: string }) => id);
  const [one = "", other = ""] = await ids("/iam/v1/identities");
  const [role = "", otherRole = ""] = await ids("/iam/v1/roles");
  return { ...rig, open, uids: { group, one, other, role, otherRole } };
}

/** What native answers with 200; resolves with the uid in it. */
async function write(rig: CutoverRig, client: string, method: string, path: string, body?: object): Promise<string> {
  const answer = await rig.ask(method, path, { ...as(client), ...(body === undefined ? {} : { body }) });
  expect([method, path, answer.status]).toEqual([method, path, 200]);
  return answer.json.id;
}

/** How many comparisons ended in what, when `count` are over: results, and the reasons of those that failed. */
async function outcome(rig: CutoverRig, count: number): Promise<Readonly<Record<string, number>>> {
  await rig.compared(count);
  const metrics = await rig.text("/metrics");
  const words = [
    ...metrics.matchAll(/^carryover_comparison(?:s|_failures)_total\{.*(?:result|reason)="([^"]+)".*\} [1-9]/gm),
  ].map(([, word = ""]) => word);
  const sum = (word: string): Promise<number> =>
    rig
      .metric("carryover_comparisons_total", { result: word })
      .then(async (of) => of || rig.metric("carryover_comparison_failures_total", { reason: word }));
  const counts = await Promise.all(words.map(async (word) => [word, await sum(word)] as const));
  const { failed: _, ...others } = Object.fromEntries(counts);
  return others;
}

const BINDINGS = "/iam/v1/rolebindings";

describe("before v2 was read, somebody", () => {
  it("changed a binding that was made: what the first writes show is overtaken, the last is proved", async () => {
    const rig = await gated();
    const { group, one, other, role, otherRole } = rig.uids;
    const uid = await write(rig, "ui", "POST", `${BINDINGS}/${group}`, { identity: one, role });
    await write(rig, "ui", "PUT", `${BINDINGS}/${uid}`, { identity: one, role: otherRole });
    await write(rig, "ci", "PUT", `${BINDINGS}/${uid}`, { identity: other, role: otherRole });
    rig.open();
    expect(await outcome(rig, 3)).toEqual({ equal: 1, overtaken: 2 });
    const asked = rig.arrived.filter(({ method, target }) => method === "GET" && target.startsWith(`${BINDINGS}?`));
    expect(asked.map(({ target }) => target)).toEqual(Array(2).fill(`${BINDINGS}?id=${encodeURIComponent(uid)}`));
    expect((await rig.view("/samples")).samples).toEqual([]);
  });

  it("changed it at the same time as another client: nothing differs", async () => {
    const rig = await gated();
    const { group, one, other, role, otherRole } = rig.uids;
    const uid = await write(rig, "ui", "POST", `${BINDINGS}/${group}`, { identity: one, role });
    await Promise.all([
      write(rig, "ui", "PUT", `${BINDINGS}/${uid}`, { identity: one, role: otherRole }),
      write(rig, "ci", "PUT", `${BINDINGS}/${uid}`, { identity: other, role }),
    ]);
    rig.open();
    expect(await outcome(rig, 3)).toEqual({ equal: 1, overtaken: 2 });
  });

  it("deleted it: there is nothing to compare, and the DELETE is proved", async () => {
    const rig = await gated();
    const { group, one, role } = rig.uids;
    const uid = await write(rig, "ui", "POST", `${BINDINGS}/${group}`, { identity: one, role });
    await write(rig, "ci", "DELETE", `${BINDINGS}/${uid}`);
    rig.open();
    expect(await outcome(rig, 2)).toEqual({ equal: 1, gone: 1 });
  });

  it("deleted a group whose update needs the stored record: there is nothing to compare", async () => {
    const rig = await gated();
    const uid = await write(rig, "ui", "POST", `/iam/v1/groups/${rig.uids.group}`, { name: "g" });
    await write(rig, "ui", "PUT", `/iam/v1/groups/${uid}`, { name: "h", verified: false, kind: "ORG_KIND_CUSTOMER" });
    await write(rig, "ci", "DELETE", `/iam/v1/groups/${uid}`);
    rig.open();
    expect(await outcome(rig, 3)).toEqual({ equal: 1, gone: 2 });
  });

  it("made again, under the same uid, what was deleted: the DELETE is overtaken", async () => {
    const rig = await gated();
    const path = `/iam/v1/account_associations/${rig.uids.group}`;
    const body = { name: "a", amazon: { account: "123456789012" } };
    expect((await send(rig.sandboxUrl, rig.sandbox, "POST", path, { body })).status).toBe(200);
    await write(rig, "ui", "DELETE", path);
    await write(rig, "ci", "POST", path, body);
    rig.open();
    expect(await outcome(rig, 2)).toEqual({ equal: 1, overtaken: 1 });
  });
});

describe("a wrong row", () => {
  /** A copy of the catalogue that takes the role of a binding for another member of v2's. */
  async function wrong(side: "answer" | "body"): Promise<Catalogue> {
    const copy = structuredClone(await loadCatalogue("v2beta1")) as Catalogue;
    // biome-ignore lint/suspicious/noExplicitAny: a copy that is changed on purpose.
    const operations: any = copy.resources.find(({ name }) => name === "role-binding")?.operations;
    for (const operation of operations) {
      if (operation.kind !== "create" && operation.kind !== "update") continue;
      const { rows, v2Only } = structuredClone(operation[side]);
      const row = rows.find(({ v1 }: { v1: string }) => v1 === "role");
      Object.assign(row, side === "body" ? { v2: "roleName", from: [] } : { v2: null, from: ["identity.uid"] });
      operation[side] = { rows, v2Only: [...v2Only, "roleUid"] };
    }
    return copy;
  }
  const FOUND = { body: { missing: 1, value: 1 }, answer: { value: 2 } };

  it.each(["body", "answer"] as const)("of the %s is found where nobody wrote in between", async (side) => {
    const rig = await gated(await wrong(side));
    const { group, one, role, otherRole } = rig.uids;
    rig.open();
    const uid = await write(rig, "ui", "POST", `${BINDINGS}/${group}`, { identity: one, role });
    await rig.compared(1);
    await write(rig, "ui", "PUT", `${BINDINGS}/${uid}`, { identity: one, role: otherRole });
    expect(await outcome(rig, 2)).toEqual(FOUND[side]);
    const { samples } = await rig.view("/samples");
    for (const { differences } of samples) {
      expect(differences.map(({ path }: { path: string }) => path)).toContain("role");
    }
  });

  it.each(["body", "answer"] as const)("of the %s is found where somebody did, too", async (side) => {
    const rig = await gated(await wrong(side));
    const { group, one, other, role, otherRole } = rig.uids;
    const uid = await write(rig, "ui", "POST", `${BINDINGS}/${group}`, { identity: one, role });
    await write(rig, "ci", "PUT", `${BINDINGS}/${uid}`, { identity: other, role: otherRole });
    rig.open();
    expect(await outcome(rig, 2)).toEqual(FOUND[side]);
    const { samples } = await rig.view("/samples");
    expect(samples).toHaveLength(2);
  });
});
