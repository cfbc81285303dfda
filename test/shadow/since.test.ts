import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { TranslateInShadow } from "../../src/shadow/request.ts";
import { createRig, json, type RigOptions, settled } from "./rig.ts";

type Body = Readonly<Record<string, unknown>>;

const UID = "p1/b1";
const HEADERS = [
  ["authorization", "Bearer t"],
  ["content-type", "application/json"],
  ["if-match", '"1"'],
] as const;
const BINDINGS = "/iam/v1/rolebindings";
const LIST = `${BINDINGS}?id=p1%2Fb1`;

/** A binding as its writes show it, as a list does, and as v2 holds it. */
const binding = (role: string): Body => ({ id: UID, identity: "i1", group: "p1", role });
const listed = (role: string): Body => ({
  ...binding(role),
  group: { id: "p1", name: "group" },
  role: { id: role, name: `role ${role}`, capabilities: [] },
  createdAt: "2024-01-01T00:00:00Z",
});
const held = (role: string): Body => ({ uid: UID, identityUid: "i1", roleUid: role, group: { uid: "p1" } });
const items = (...records: readonly Body[]): ApiResponse => json(200, { items: records });

const put = (role: string): ApiRequest => write("PUT", `${BINDINGS}/${UID}`, { identity: "i1", role });
const post = (role: string): ApiRequest => write("POST", `${BINDINGS}/p1`, { identity: "i1", role });
function write(method: string, target: string, body: Body): ApiRequest {
  return { method, target, headers: HEADERS, body: json(0, body).body };
}

interface Answers {
  /** Native's to the write. */
  readonly native: ApiResponse;
  /** Native's to the list of one record. */
  readonly now: ApiResponse | Error;
  /** v2's, one for each read; the last one again and again. */
  readonly v2: readonly ApiResponse[];
}

/** The report of `request`, and what was asked for it. */
async function compared(request: ApiRequest, { native, now, v2 }: Answers, options: RigOptions = {}) {
  let reads = 0;
  const platform: Send = async ({ method, target }) => {
    if (!/^\/[a-z]+\/v1\//.test(target)) {
      if (method !== "GET") throw new Error(`${method} ${target} reached v2`);
      return v2[Math.min(reads++, v2.length - 1)] as ApiResponse;
    }
    if (method !== "GET") return native;
    if (now instanceof Error) throw now;
    return now;
  };
  const rig = await createRig(platform, options);
  await rig.pass(request);
  await rig.idle();
  expect(rig.reports).toHaveLength(1);
  expect(rig.shadow.state().heldBytes).toBe(0);
  return { ...rig, report: rig.reports[0] };
}

const OVERTAKEN = { result: "failed", failure: "overtaken", differences: [] };

describe("a record without a time of its last writing", () => {
  test.each([
    ["update", put("r1")],
    ["create", post("r1")],
  ])("%s: native says what v2 says: somebody has written it since", async (_name, request) => {
    const answers = { native: json(200, binding("r1")), now: items(listed("r2")), v2: [json(200, held("r2"))] };
    const { report, v1 } = await compared(request, answers);
    expect(report).toMatchObject({ ...OVERTAKEN, calls: { v1: 1, v2: 2 } });
    // As the caller, without what belongs to the body and to the record before it was written.
    const headers = [
      ["authorization", "Bearer t"],
      ["accept-encoding", "identity"],
    ];
    expect(v1).toEqual([{ method: "GET", target: LIST, headers }]);
  });

  const STANDS = { result: "value", failure: undefined, controlled: true };
  test.each<[string, ApiResponse, readonly ApiResponse[], object, string[]]>([
    [
      "native says what it said: the difference stands, and v2 is asked no more",
      items(listed("r1")),
      [json(200, held("r2"))],
      { ...STANDS, calls: { v1: 1, v2: 1 } },
      ["role"],
    ],
    [
      "v2 says a third thing, and goes on saying it: the difference stands",
      items(listed("r2")),
      [json(200, held("r3"))],
      { ...STANDS, calls: { v1: 1, v2: 2 } },
      ["role"],
    ],
    [
      "what differs beside that stands",
      items(listed("r2")),
      [json(200, { ...held("r2"), identityUid: "i9" })],
      STANDS,
      ["identity", "role"],
    ],
    [
      "a third write between the first read of v2 and native's answer is one more",
      items(listed("r3")),
      [json(200, held("r2")), json(200, held("r3"))],
      OVERTAKEN,
      [],
    ],
    ["native does not show it and v2 still does: it stands", items(), [json(200, held("r2"))], STANDS, ["role"]],
    [
      "v2 cannot be read again: there is nothing to compare",
      items(listed("r3")),
      [json(200, held("r2")), json(503, {})],
      { result: "failed", failure: "platform" },
      [],
    ],
  ])("%s", async (_name, now, v2, expected, paths) => {
    const { report } = await compared(put("r1"), { native: json(200, binding("r1")), now, v2 });
    expect(report).toMatchObject(expected);
    expect(report?.differences.map(({ path }) => path).toSorted()).toEqual(paths);
  });

  test.each([
    ["an empty list", items()],
    ["a list that leaves out what is empty", json(200, {})],
    ["404", json(404, { code: 5, message: "no", details: [] })],
  ])("neither version has it any more (%s): it is gone", async (_name, now) => {
    const v2 = [json(200, held("r2")), json(404, { code: 5, message: "no", details: [] })];
    const { report } = await compared(put("r1"), { native: json(200, binding("r1")), now, v2 });
    expect(report).toMatchObject({ result: "failed", failure: "gone", calls: { v1: 1, v2: 2 } });
  });

  test.each([
    ["is in trouble", json(503, { code: 14, message: "no", details: [] })],
    ["does not answer", new Error("no connection")],
    ["lets nobody list", json(403, { code: 7, message: "no", details: [] })],
    ["answers no JSON", json(200, "<html>")],
    ["answers something else", json(200, { id: UID })],
    ["answers other records", items({ ...listed("r2"), id: "p1/b2" })],
    ["answers more than is compared", json(200, { items: [listed("r2")], padding: "x".repeat(2 ** 20) })],
    ["answers more than is held", json(200, { items: [listed("r2")], padding: "x".repeat(2 ** 22) })],
  ])("native %s: the difference stands as it is", async (_name, now) => {
    const answers = { native: json(200, binding("r1")), now, v2: [json(200, held("r2"))] };
    const { report } = await compared(put("r1"), answers);
    expect(report).toMatchObject({ result: "value", controlled: false, calls: { v1: 1, v2: 1 } });
  });

  test("a native that hangs ends with the time of the comparison; the client has its answer", async () => {
    const hanging: Send = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    const rig = await createRig(
      async ({ target }) => json(200, target.startsWith(BINDINGS) ? binding("r1") : held("r2")),
      { native: hanging },
    );
    expect((await rig.pass(put("r1"))).status).toBe(200);
    while (rig.v1.length === 0) await settled();
    await rig.clock.pass(20_000);
    expect(rig.reports).toMatchObject([{ result: "failed", failure: "timeout", calls: { v1: 1, v2: 1 } }]);
    expect(rig.shadow.state()).toMatchObject({ running: 0, waiting: 0, heldBytes: 0 });
  });
});

describe("nothing is asked again", () => {
  test("where nothing differs", async () => {
    const answers = { native: json(200, binding("r1")), now: items(listed("r2")), v2: [json(200, held("r1"))] };
    expect((await compared(put("r1"), answers)).report).toMatchObject({ result: "equal", calls: { v1: 0, v2: 1 } });
  });

  test("where v2 had no part in it: the translation refuses by itself what native did", async () => {
    const answers = { native: json(200, binding("r1")), now: items(listed("r2")), v2: [json(200, held("r2"))] };
    const { report } = await compared(write("PUT", `${BINDINGS}/${UID}`, { identity: 7 }), answers);
    expect(report).toMatchObject({ result: "status", controlled: false, calls: { v1: 0, v2: 0 } });
  });

  test("where native refused", async () => {
    const answers = { native: json(403, {}), now: items(listed("r2")), v2: [json(200, held("r2"))] };
    expect((await compared(put("r1"), answers)).v1).toEqual([]);
    const translate: TranslateInShadow = async (_request, layer, signal) => {
      await layer(async () => json(200, {}))({ method: "GET", target: "/x", headers: [] }, { signal });
      throw new Problem("INVALID_BODY", "by itself");
    };
    const { report } = await compared(put("r1"), answers, { translate });
    expect(report).toMatchObject({ result: "status", controlled: false, calls: { v1: 0 } });
  });
});

describe("a record with such a time", () => {
  const AT = "2024-01-01T00:00:00Z";
  const ZEROS = { resourceLimits: {}, verified: false, kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_UNSPECIFIED" };
  const v1 = (more: Body): Body => ({ id: "g1", name: "n", description: "d", updatedAt: AT, ...ZEROS, ...more });
  const v2 = (more: Body): ApiResponse =>
    json(200, { uid: "g1", name: "n", description: "d", updateTime: AT, ...more });
  const putGroup = (more: Body = {}): ApiRequest =>
    write("PUT", "/iam/v1/groups/g1", { name: "n", description: "d", ...more });

  test("two writes may have the same", async () => {
    const answers = { native: json(200, v1({})), now: items(v1({ name: "m" })), v2: [v2({ name: "m" })] };
    expect((await compared(putGroup(), answers)).report).toMatchObject(OVERTAKEN);
  });

  test("a member that the client left to zero and somebody has set since, whatever mismatches count as", async () => {
    const answers = {
      native: json(200, v1({ description: "" })),
      now: items(v1({ description: "e" })),
      v2: [v2({ description: "e" })],
    };
    for (const mismatch of ["report", "zeros", "fail"] as const) {
      const request = write("PUT", "/iam/v1/groups/g1", { name: "n" });
      expect((await compared(request, answers, { translation: { mismatch } })).report).toMatchObject(OVERTAKEN);
    }
  });

  test("a member that the client spelt otherwise", async () => {
    const claimMatch = (subject: string) => ({ issuer: "x", subject, claims: {}, claimPatterns: {} });
    const both = { name: "n", description: "d" };
    const identity = (subject: string): Body => ({
      ...both,
      id: "p1/i1",
      updatedAt: AT,
      lastSeen: null,
      claimMatch: claimMatch(subject),
    });
    const of = (subject: string): Body => ({
      ...both,
      uid: "p1/i1",
      updateTime: AT,
      claimMatch: claimMatch(subject),
    });
    const body = { ...both, claim_match: claimMatch("s1") };
    const request = write("PUT", "/iam/v1/identities/p1/i1", body);
    const answers = { native: json(200, identity("s1")), now: items(identity("s2")), v2: [json(200, of("s2"))] };
    expect((await compared(request, answers)).report).toMatchObject(OVERTAKEN);
  });

  test.each([
    ["does not show the member", {}],
    ["shows it empty", { code: "" }],
  ])("a list that %s says nothing of it: the difference stands", async (_name, shown) => {
    const request = write("POST", "/iam/v1/group_invites/p1", { role: "r1", ttl: "60s" });
    const answers = {
      native: json(200, { id: "p1/v1", role: { id: "r1" }, code: "told once" }),
      now: items({ id: "p1/v1", role: { id: "r1" }, ...shown }),
      v2: [json(200, { uid: "p1/v1", role: { uid: "r2" } })],
    };
    const { report } = await compared(request, answers);
    expect(report).toMatchObject({ failure: undefined, controlled: true, calls: { v1: 1, v2: 1 } });
  });

  test("what only the answer to a write shows of a member says nothing either", async () => {
    const oidc = { issuer: "x", clientId: "c" };
    const provider = { id: "p1/x1", name: "n", updatedAt: AT };
    const answers = {
      native: json(200, { ...provider, oidc: { ...oidc, clientSecret: "told once" } }),
      now: items({ ...provider, oidc }),
      v2: [json(200, { uid: "p1/x1", name: "n", updateTime: AT, oidc })],
    };
    const request = write("POST", "/iam/v1/identityProviders/p1", {
      name: "n",
      defaultRole: "r1",
      oidc: { ...oidc, clientSecret: "told once" },
    });
    const { report } = await compared(request, answers);
    expect(report).toMatchObject({ result: "missing", controlled: true, calls: { v1: 1, v2: 1 } });
  });

  test("v2's may be later still when it is read again", async () => {
    const later = v2({ name: "o", updateTime: "2024-01-01T00:00:01Z" });
    const answers = { native: json(200, v1({})), now: items(v1({ name: "m" })), v2: [v2({ name: "m" }), later] };
    expect((await compared(putGroup(), answers)).report).toMatchObject(OVERTAKEN);
  });

  test("an update that reads first, of a record that is gone: neither version has it", async () => {
    const none = json(404, { code: 5, message: "no", details: [] });
    const request = { ...putGroup({ verified: true }), headers: HEADERS.slice(0, 2) };
    const { report } = await compared(request, { native: json(200, v1({ verified: true })), now: items(), v2: [none] });
    expect(report).toMatchObject({ result: "failed", failure: "gone", calls: { v1: 1, v2: 2 } });
  });

  test("a member that no read can prove, and that somebody has changed: the difference stands", async () => {
    const repo = (overlay: string) => ({
      id: "p1/r1",
      name: "n",
      sync_config: { apkoOverlay: overlay },
      updatedAt: AT,
    });
    const answers = {
      native: json(200, repo("one")),
      now: items(repo("other")),
      v2: [json(200, { uid: "p1/r1", name: "m", updateTime: AT })],
    };
    const request = { ...write("PUT", "/registry/v1/repos/p1/r1", { name: "n" }), headers: HEADERS.slice(0, 2) };
    const { report } = await compared(request, answers);
    expect(report).toMatchObject({ failure: undefined, controlled: true, calls: { v1: 1, v2: 3 } });
    expect(report?.differences.map(({ path }) => path)).toContain("name");
  });

  test("a member that the built call would lose is lost whoever wrote since", async () => {
    const made = v1({ id: "p1/g1", motto: "x" });
    const request = write("POST", "/iam/v1/groups/p1", { name: "n", description: "d", motto: "x" });
    const answers = {
      native: json(200, made),
      now: items({ ...made, name: "m" }),
      v2: [v2({ uid: "p1/g1", name: "m", motto: "x" })],
    };
    const { report } = await compared(request, answers);
    expect(report).toMatchObject({ result: "missing", failure: undefined, controlled: true });
    expect(report?.differences.map(({ path }) => path)).toContain("motto");
  });
});

describe("a delete", () => {
  const target = "/iam/v1/account_associations/g1";
  const request: ApiRequest = { method: "DELETE", target, headers: HEADERS };
  const v2 = [json(200, { group: "g1", name: "a" })];

  test("of what was made again under the same uid is overtaken", async () => {
    const now = items({ group: "g1", name: "a" });
    const { report, v1 } = await compared(request, { native: json(200, {}), now, v2 });
    expect(report).toMatchObject({ ...OVERTAKEN, calls: { v1: 1, v2: 1 } });
    expect(v1.map((asked) => asked.target)).toEqual(["/iam/v1/account_associations?group=g1"]);
  });

  test.each([
    ["native does not have", items(), true],
    ["native says nothing of", json(503, {}), false],
  ])("of what %s and v2 has differs", async (_name, now, controlled) => {
    const { report } = await compared(request, { native: json(200, {}), now, v2 });
    expect(report).toMatchObject({ result: "extra", failure: undefined, controlled, calls: { v1: 1, v2: 1 } });
  });

  test("that answers otherwise differs, made again or not", async () => {
    const now = items({ group: "g1", name: "a" });
    const { report } = await compared(request, { native: json(200, { said: "more" }), now, v2 });
    expect(report?.differences.map(({ path }) => path)).toContain("said");
  });
});
