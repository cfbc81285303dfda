/** Does an operator see which fields the catalogue does not know, by name, and never what they hold? (Design: unknown fields.) */
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { createDouble, ok } from "../listener/support/double.ts";
import { parsePrometheus } from "../observe/prometheus.ts";
import { later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const { resources } = await loadCatalogue("v2beta1");
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

  it("of an answer is counted the same way, whatever was asked", async () => {
    const { rig } = await inFrontOf({ uid: "abc", name: "a", novelty: { [SECRET]: SECRET }, company: SECRET });
    await rig.ask("GET", GROUP);
    await rig.ask("GET", "/iam/v1/groups?id=abc");
    await rig.ask("GET", "/iam/v1/groups");
    await rig.ask("POST", GROUP, { body: { name: "a" } });
    expect(await counts(rig)).toEqual({ "group response": { novelty: 4, company: 4 } });
    expect((await series(rig)).get("resource=group direction=response")).toBe(8);
    expect([JSON.stringify(await seen(rig)), ...rig.lines].join("\n")).not.toContain(SECRET);
  });

  it("inside a message of an answer has its v1 path", async () => {
    const overlay = { accounts: { users: [{ username: "u", novelty: 1 }, { novelty: 2 }] } };
    const double = await createDouble(
      ok(JSON.stringify({ uid: "abc", customOverlay: overlay, sync_config: { odd: 1 } })),
    );
    later(double.close);
    const rig = await rigForTest({ v2Url: double.url, native: false });
    await rig.ask("GET", "/registry/v1/repos/abc");
    expect((await counts(rig))["repo response"]).toEqual({
      "customOverlay.accounts.users.novelty": 1,
      "sync_config.odd": 1,
    });
  });

  it("is not there on a platform that keeps to its contract, whatever of ten resources is read", async () => {
    const rig = await rigForTest({ native: false });
    for (const { domain, v1 } of resources) expect((await rig.ask("GET", `/${domain}/v1/${v1}`)).status).toBe(200);
    expect(await seen(rig)).toEqual([]);
    expect(await series(rig)).toEqual(new Map());
  });

  it("is no business of v2's own clients", async () => {
    const { rig } = await inFrontOf({ uid: "abc", novelty: 1 });
    await rig.ask("GET", "/iam/v2beta1/groups/abc");
    await rig.ask("PATCH", "/iam/v2beta1/groups/abc", { body: { novelty: 1 } });
    expect(await seen(rig)).toEqual([]);
  });
});

describe("names without end", () => {
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`n${at}`, SECRET]));

  it("make no series, and a view of bounded size", async () => {
    const { rig } = await inFrontOf({ uid: "abc", name: "a", ...many });
    // A thousand names of one request count: nine hundred of its body, and a hundred of its answer.
    await rig.ask("POST", GROUP, { body: { name: "a", ...many } });
    await rig.ask("GET", GROUP);
    expect(await series(rig)).toEqual(
      new Map([
        ["resource=group direction=request", 900],
        ["resource=group direction=response", 1_000],
      ]),
    );
    const view = await seen(rig);
    expect(view.map(({ fields, others }) => [fields.length, others])).toEqual([
      [200, 700],
      [200, 700],
    ]);
    for (const line of rig.lines) expect(line.length).toBeLessThan(4_000);
  });

  it("of somebody without a credential leave the room to others", async () => {
    const rig = await rigForTest({ native: false });
    const target = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
    expect((await rig.ask("PUT", target, { as: null, body: { name: "a", ...many } })).status).toBe(401);
    expect((await rig.ask("PUT", target, { body: { name: "a", real: 1 } })).status).toBe(200);
    expect(await seen(rig)).toEqual([
      { resource: "group", direction: "request", fields: [{ name: "real", count: 1 }], others: 900 },
    ]);
  });
});

it("a hostile name is counted, and shown so that it does nothing", async () => {
  const hostile = [
    "__proto__",
    "constructor",
    "a\u0000b",
    "\u001b[2J\u009b31m",
    "line\nbreak\r",
    "\u202eright to left",
    "</script><script>alert(1)</script>",
    'quote" \\',
    "x".repeat(50_000),
    "",
    "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
  ];
  const text = `{"name":"a",${hostile.map((name) => `${JSON.stringify(name)}:1`).join(",")}}`;
  const rig = await rigForTest({ native: false });
  const target = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
  expect((await rig.ask("PUT", target, { body: text })).status).toBe(200);
  const answer = await fetch(`${rig.adminUrl}/unknown-fields`);
  expect(answer.headers.get("content-type")).toContain("application/json");
  const view = await answer.text();
  for (const shown of [view, rig.lines.join("")]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there.
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|eyJ|x{81}/);
  }
  const [place] = JSON.parse(view) as Seen[];
  expect(place?.fields.reduce((sum, { count }) => sum + count, 0)).toBe(hostile.length);
  expect(place?.fields.map(({ name }) => name)).toContain("a\\u{0}b");
  expect((await series(rig)).get("resource=group direction=request")).toBe(hostile.length);
});

describe("unknownFields.request", () => {
  const body = '{"name":"a","novelty":1.50,"verified":false}';
  const sent = async (policy: string, method: string, target = GROUP, text = body) => {
    const { rig, double } = await inFrontOf({ uid: "abc", name: "a" }, { unknownFieldsRequest: policy });
    const answer = await rig.ask(method, target, { body: text });
    const writes = double.requests.filter(({ line }) => !line.startsWith("GET"));
    return { answer, rig, bodies: writes.map((one) => one.body.toString()), lines: writes.map(({ line }) => line) };
  };

  it.each(["POST", "PUT"])("drop leaves them out of a %s, as v1's decoder did", async (method) => {
    const { bodies, answer, rig } = await sent("drop", method);
    expect([answer.status, bodies.length, bodies.join().includes("novelty")]).toEqual([200, 1, false]);
    expect((await counts(rig))["group request"]).toEqual({ novelty: 1 });
  });

  it.each(["POST", "PUT"])("pass sends them along in a %s to the byte, and names none in a mask", async (method) => {
    const { bodies, lines, rig } = await sent("pass", method);
    expect(bodies.join()).toContain('"novelty":1.50');
    expect(lines.join()).not.toContain("novelty");
    expect((await counts(rig))["group request"]).toEqual({ novelty: 1 });
  });

  it.each(["POST", "PUT"])("refuse answers a %s with 400 and their place, and sends nothing", async (method) => {
    const { answer, rig, bodies } = await sent("refuse", method);
    expect([answer.status, answer.json.code, reasonOf(answer), bodies]).toEqual([400, 3, "INVALID_BODY", []]);
    expect(answer.json.details[1].fieldViolations[0].field).toBe("novelty");
    expect((await counts(rig))["group request"]).toEqual({ novelty: 1 });
  });

  it("refuse names the place inside a message", async () => {
    const nested = '{"name":"a","claimMatch":{"issuer":"https://a.example","subject":"s","deep":1}}';
    const { answer } = await sent("refuse", "POST", "/iam/v1/identities/abc", nested);
    expect([answer.status, answer.json.details[1].fieldViolations[0].field]).toEqual([400, "claimMatch.deep"]);
  });
});

describe("unknownFields.response", () => {
  const record = { uid: "abc", name: "a", novelty: { x: [1] } };

  it.each([
    ["pass", { x: [1] }],
    ["drop", undefined],
  ])("%s holds for every kind of answer", async (policy, shown) => {
    const { rig } = await inFrontOf(record, { unknownFieldsResponse: policy });
    expect((await rig.ask("GET", GROUP)).json.novelty).toEqual(shown);
    expect((await rig.ask("GET", "/iam/v1/groups?id=abc")).json.items[0].novelty).toEqual(shown);
    expect((await rig.ask("GET", "/iam/v1/groups")).json.items[0].novelty).toEqual(shown);
    expect((await rig.ask("POST", GROUP, { body: { name: "a" } })).json.novelty).toEqual(shown);
    expect((await rig.ask("PUT", GROUP, { body: { name: "a" } })).json.novelty).toEqual(shown);
    expect((await counts(rig))["group response"]).toEqual({ novelty: 5 });
  });
});
