import { describe, expect, it } from "vitest";
import { createDouble, ok } from "../../server/support/double.ts";
import { parsePrometheus } from "../../telemetry/prometheus.ts";
import { later, type Rig, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUP = "/iam/v1/groups/abc";
const SECRET = "V4lue";

interface Seen {
  readonly resource: string;
  readonly direction: string;
  readonly fields: readonly { readonly name: string; readonly count: number }[];
  readonly others: number;
}

async function seen(rig: Rig): Promise<readonly Seen[]> {
  const answer = await fetch(`${rig.adminUrl}/unknown-fields`);
  expect(answer.headers.get("content-type")).toContain("application/json");
  return (await answer.json()) as readonly Seen[];
}

/** `{"group request": {"novelty": 2}}`. */
async function counts(rig: Rig): Promise<Record<string, Record<string, number>>> {
  const entries = (await seen(rig)).map(({ resource, direction, fields }) => {
    return [`${resource} ${direction}`, Object.fromEntries(fields.map(({ name, count }) => [name, count]))];
  });
  return Object.fromEntries(entries);
}

async function series(rig: Rig): Promise<ReadonlyMap<string, number>> {
  const { samples } = parsePrometheus(await (await fetch(`${rig.adminUrl}/metrics`)).text());
  const own = samples.filter(({ name }) => name === "carryover_unknown_fields_total");
  return new Map(own.map(({ labels, value }) => [[...labels].map((pair) => pair.join("=")).join(" "), value]));
}

async function inFrontOf(record: object, flags: Record<string, string> = {}) {
  const double = await createDouble(({ line }, socket) => {
    socket.write(ok(JSON.stringify(line.includes("page_size") ? { groups: [record, record] } : record)));
  });
  later(double.close);
  return { rig: await rigForTest({ v2Url: double.url, native: false, flags }), double };
}

describe("a field that the catalogue does not know", () => {
  it("of a request is counted by resource and name, once a request, wherever it stands", async () => {
    const rig = await rigForTest({ native: false });
    const { someGroup, identity } = rig.sandbox.wellKnown;
    const put = { name: "a", novelty: SECRET, snake_novelty: [SECRET] };
    for (let at = 0; at < 2; at++) await rig.ask("PUT", `/iam/v1/groups/${someGroup}`, { body: put });
    await rig.ask("POST", `/iam/v1/groups/${someGroup}`, { body: { name: "b", novelty: { [SECRET]: SECRET } } });
    const claimMatch = { issuer: "https://a.example", subject: "s", deep: SECRET, claims: { [SECRET]: "x" } };
    await rig.ask("PUT", `/iam/v1/identities/${identity}`, { body: { name: "i", claimMatch, company: SECRET } });
    expect(await counts(rig)).toEqual({
      "group request": { novelty: 3, snake_novelty: 2 },
      "identity request": { "claimMatch.deep": 1, company: 1 },
    });
    expect(await series(rig)).toEqual(
      new Map([
        ["resource=group direction=request", 5],
        ["resource=identity direction=request", 2],
      ]),
    );
    const shown = [JSON.stringify(await seen(rig)), ...rig.lines].join("\n");
    expect(shown).toContain("snake_novelty");
    expect(shown).not.toContain(SECRET);
  });
});

describe("DIFF-11: unknownFields.response", () => {
  const record = { uid: "abc", name: "a", novelty: { x: [SECRET] } };

  it.each([
    ["pass", { x: [SECRET] }],
    ["drop", undefined],
  ])("%s decides whether clients get such a field, which is counted either way", async (policy, shown) => {
    const { rig } = await inFrontOf(record, { unknownFieldsResponse: policy });
    expect((await rig.ask("GET", GROUP)).json.novelty).toEqual(shown);
    expect((await rig.ask("GET", "/iam/v1/groups")).json.items[0].novelty).toEqual(shown);
    expect(await counts(rig)).toEqual({ "group response": { novelty: 2 } });
    expect((await series(rig)).get("resource=group direction=response")).toBe(2);
    expect([JSON.stringify(await seen(rig)), ...rig.lines].join("\n")).not.toContain(SECRET);
  });
});
