/** Records come and go while comparisons run: that is noise, and a fault of the translation is still found. */
import { describe, expect, test } from "vitest";
import { isDifference } from "../../src/model/comparison.ts";
import type { ApiRequest, Send } from "../../src/model/http.ts";
import { randomOf } from "../support/random.mjs";
import { createRig, gathered, json, type Rig } from "./rig.ts";

const READ: ApiRequest = { method: "GET", target: "/iam/v1/groups", headers: [["authorization", "Bearer t"]] };
const ZEROS = { resourceLimits: {}, verified: false, kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_UNSPECIFIED" };

interface Fault {
  /** Names of records that v2 never lists, and whether it also lists one that is gone. */
  readonly drops?: string;
  readonly invents?: string;
}

/** Both versions over one store, whose records `write` changes before each call. */
function platformOf(records: Map<string, string>, write: (call: number) => void, { drops, invents }: Fault = {}): Send {
  let calls = 0;
  return async ({ target }) => {
    write(calls++);
    const createdAt = "2024-01-01T00:00:00Z";
    const all = [...records].sort(([a], [b]) => (a < b ? -1 : 1));
    if (target.startsWith("/iam/v1/"))
      return json(200, { items: all.map(([id, name]) => ({ id, name, description: "d", createdAt, ...ZEROS })) });
    const shown = all.filter(([id]) => id !== drops);
    if (invents !== undefined) shown.push([invents, "n"]);
    const groups = shown.map(([uid, name]) => ({ uid, name, description: "d", createTime: createdAt }));
    return json(200, { groups, nextPageToken: "", totalCount: `${groups.length}`, skipped: 0 });
  };
}

function store(): Map<string, string> {
  return new Map(Array.from({ length: 8 }, (_, n) => [`a${n}`, "n"]));
}

/** Before most calls a record is created, deleted or renamed. Some live for one call only. `a…` are never deleted. */
function churn(records: Map<string, string>, seed: number): () => void {
  const random = randomOf(seed);
  const passing = new Set<string>();
  let next = 0;
  return () => {
    for (const id of passing) records.delete(id);
    passing.clear();
    const id = `b${1_000 + next++}`;
    const what = random();
    const some = [...records.keys()].filter((one) => one.startsWith("b"));
    const one = some[Math.floor(random() * some.length)];
    if (what < 0.25) records.set(id, "n");
    else if (what < 0.5) passing.add(records.set(id, "n") && id);
    else if (what < 0.7 && one !== undefined) records.delete(one);
    else if (what < 0.9) records.set(`a${Math.floor(random() * 8)}`, `renamed ${next}`);
  };
}

const WAYS: readonly ["served by native" | "translated", (rig: Rig) => Promise<unknown>][] = [
  ["served by native", (rig) => rig.pass(READ)],
  ["translated", async (rig) => gathered(await rig.follow(READ))],
];

/** `count` comparisons, one after another. */
async function compareMany(send: Send, way: (rig: Rig) => Promise<unknown>, count: number): Promise<Rig["reports"]> {
  const rig = await createRig(send);
  for (let n = 0; n < count; n++) {
    await way(rig);
    await rig.idle();
  }
  expect(rig.reports).toHaveLength(count);
  return rig.reports;
}

describe.each(WAYS)("lists %s", (_, way) => {
  test("records that are created, deleted and renamed meanwhile are noise", async () => {
    const records = store();
    const reports = await compareMany(platformOf(records, churn(records, 1)), way, 120);
    const differing = reports.filter(({ result }) => isDifference(result));
    expect(differing.map(({ differences }) => differences)).toEqual([]);
    expect(reports.filter(({ result }) => result === "noise").length).toBeGreaterThan(30);
  });

  test.each([
    ["a record that v2 never lists", { drops: "a3" }, "missing"],
    ["a record that only v2 lists", { invents: "z" }, "extra"],
  ])("%s is found each time, whatever comes and goes", async (_name, fault, result) => {
    const records = store();
    const reports = await compareMany(platformOf(records, churn(records, 2), fault), way, 40);
    expect(new Set(reports.map((report) => report.result))).toEqual(new Set([result]));
    const [id] = Object.values(fault);
    for (const { differences } of reports) expect(differences).toMatchObject([{ class: result, path: "items[]", id }]);
  });
});
