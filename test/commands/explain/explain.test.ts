import { Socket } from "node:net";
import { describe, expect, test, vi } from "vitest";
import type { Explanation } from "../../../src/runtime/explain/explanation.ts";
import { explained } from "./support.ts";

const GROUP = "0a1b2c3d/1122334455667788";
const calls = ({ calls }: Explanation) => calls.map(({ method, target }) => `${method} ${target}`);
const fates = ({ fields }: Explanation) => Object.fromEntries(fields.map(({ v1, becomes }) => [v1, becomes]));
const parameters = ({ parameters }: Explanation) =>
  Object.fromEntries(parameters.map(({ v1, becomes, sent }) => [v1, sent === null ? becomes : `${becomes} ${sent}`]));
const reasons = ({ risks }: Explanation) => risks.flatMap(({ reason }) => reason ?? []);

describe("a full replace", () => {
  test("says of every field what becomes of it", async () => {
    const explanation = await explained(`PUT /iam/v1/groups/${GROUP}`, {
      id: GROUP,
      name: "docs",
      verified: true,
      kind: "KIND_OF_TOMORROW",
      resourceLimits: { clusters: 1 },
      createdAt: null,
      colour: "red",
    });
    expect(fates(explanation)).toEqual({
      id: "dropped",
      name: "same",
      verified: "when-different",
      kind: "left-alone",
      resourceLimits: "dropped",
      createdAt: "dropped",
      colour: "dropped",
      description: "set-to-zero",
    });
    expect(calls(explanation)).toEqual([
      `GET /iam/v2beta1/groups/${GROUP}`,
      `PATCH /iam/v2beta1/groups/${GROUP}?updateMask=name,description,verified`,
    ]);
    expect(explanation.calls[1]).toMatchObject({
      mask: ["name", "description", "verified"],
      body: '{"name":"docs","description":"","verified":true}',
    });
    expect(explanation.calls[0]?.assuming).toBe("the record exists and differs in verified");
    expect(explanation.fields.find(({ v1 }) => v1 === "name")?.calls).toEqual([2]);
  });

  test("says in whole sentences what is left alone, and what a read is for", async () => {
    const { calls, fields } = await explained("PUT /registry/v1/repos/A/b", { name: "x", bundles: ["y"] });
    const target = "/registry/v2beta1/repos/A/b";
    expect(calls[0]).toMatchObject({
      purpose: "reads the stored record: name, bundles go into updateMask only if the record says otherwise",
      also: [`of a record that is synced: PATCH ${target}?updateMask=name,bundles,sync_config,description`],
    });
    expect(calls.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `GET ${target}`,
      `GET ${target}/readme`,
      `PATCH ${target}/readme?updateMask=content`,
      `PATCH ${target}?updateMask=name,catalogTier,bundles,customOverlay,aliases,activeTags,description`,
    ]);
    const why = (name: string) => fields.find(({ v1 }) => v1 === name)?.why;
    const emptied = "left out, so emptied if the stored record has it: v1 replaces everything here";
    for (const name of ["catalogTier", "aliases"]) expect(why(name)).toBe(emptied);
    expect(why("name")).toBe("put into updateMask only if the stored record says otherwise");
  });

  test("reads nothing first when nothing hangs on it, and tells no race", async () => {
    const explanation = await explained(`PUT /iam/v1/groups/${GROUP}`, { name: "docs" });
    expect(calls(explanation)).toEqual([`PATCH /iam/v2beta1/groups/${GROUP}?updateMask=name,description`]);
    expect(explanation.risks.some(({ when }) => when.startsWith("race"))).toBe(false);
    expect(reasons(explanation)).toContain("UPDATE_INCOMPLETE");
  });

  test("says how a mask is spelled again, unless the spelling is fixed", async () => {
    const request = ["PUT /iam/v1/rolebindings/a/b", { identity: "a/c", role: "d" }] as const;
    const [call] = (await explained(...request)).calls;
    expect(call?.mask).toEqual(["identityUid", "roleUid"]);
    expect(call?.also).toEqual([
      "refused with 400 (code 3): sent once more with updateMask=identity_uid,role_uid, and the spelling remembered",
    ]);
    const [fixed] = (await explained(...request, "--upstream-v2-mask-spelling", "snake_case")).calls;
    expect(fixed).toMatchObject({ mask: ["identity_uid", "role_uid"], also: [] });
  });

  test("shows renamed and converted values", async () => {
    const { fields } = await explained("PUT /iam/v1/rolebindings/a/b", { identity: "a/c" });
    expect(fields.find(({ v1 }) => v1 === "identity")).toMatchObject({
      v2: "identityUid",
      becomes: "renamed",
      given: '"a/c"',
      sent: '"a/c"',
    });
    const made = await explained("POST /iam/v1/groups", { name: "x", kind: 2 });
    expect(made.fields.find(({ v1 }) => v1 === "kind")).toMatchObject({
      becomes: "converted",
      given: "2",
      sent: '"ORG_KIND_CUSTOMER"',
    });
  });

  test("tells what the options change", async () => {
    const request = [`PUT /iam/v1/groups/${GROUP}`, { name: "x", colour: 1 }] as const;
    const passed = await explained(...request, "--unknown-fields-request", "pass");
    expect(fates(passed)).toMatchObject({ colour: "passed" });
    const refused = await explained(...request, "--unknown-fields-request", "refuse");
    expect([refused.mode, refused.refusal?.reason, fates(refused)]).toEqual([
      "refused",
      "INVALID_BODY",
      { colour: "refused" },
    ]);
    expect(reasons(await explained(...request, "--updates-mismatch", "report"))).not.toContain("UPDATE_INCOMPLETE");
  });
});

describe("a list", () => {
  test("says how it is read on, and what joins cost", async () => {
    const explanation = await explained("GET /iam/v1/rolebindings?uidp.childrenOf=a%2Fb");
    expect(calls(explanation)).toEqual([
      "GET /iam/v2beta1/roleBindings?uidp.children_of=a%2Fb&page_size=200",
      "GET /iam/v2beta1/groups?uidp.ids=GROUP_UID&page_size=200",
      "GET /iam/v2beta1/roles?uidp.ids=ROLE_UID&page_size=200",
      "GET /iam/v2beta1/identities?uidp.ids=IDENTITY_UID&page_size=200",
    ]);
    const [list, , roles] = explanation.calls;
    expect(list?.also).toEqual([
      "again for every further page of 200 records: by skip, several at a time, where records are counted and come by uid; else by page_token, one after another",
    ]);
    expect(roles?.also).toEqual([
      "one such call for each page that names values of role.uid not read yet, more where these are long; at most 600 such calls for one page",
    ]);
    expect(reasons(explanation)).toEqual(
      expect.arrayContaining(["DRAIN_TOO_LARGE", "DRAIN_INCOMPLETE", "OVERLOADED", "UPSTREAM_TIMEOUT"]),
    );
    expect(reasons(explanation)).not.toContain("LIST_UNPROVEN");
  });

  test("has limits and proofs as they are configured", async () => {
    const { risks } = await explained(
      "GET /iam/v1/groups",
      undefined,
      "--lists-require",
      "count",
      "--lists-max-pages",
      "7",
    );
    expect(risks.find(({ reason }) => reason === "LIST_UNPROVEN")?.when).toContain("count");
    expect(risks.find(({ reason }) => reason === "DRAIN_TOO_LARGE")?.when).toContain("7 pages");
  });

  test("says of every parameter what becomes of it", async () => {
    const tags = await explained("GET /registry/v1/tags?excludeDates=true&name=x&id=&digest=&foo=1");
    expect(parameters(tags)).toMatchObject({
      excludeDates: "inverted include_dates=false",
      name: "sent name=x",
      id: "ignored",
      digest: "ignored",
      foo: "ignored",
      exclude_referrers: "added include_referrers=true",
    });
  });

  test("of one id is a Get, and carryover applies the other filters", async () => {
    const explanation = await explained("GET /iam/v1/groups?id=a/b&name=x&uidp.in_root=false");
    expect(calls(explanation)).toEqual(["GET /iam/v2beta1/groups/a/b"]);
    expect(parameters(explanation)).toMatchObject({ id: "get", name: "applied" });
  });

  test("whose filter cannot be read is refused, and the parameter named", async () => {
    const explanation = await explained("GET /iam/v1/groups?uidp.in_root=perhaps&name=x");
    expect(explanation.refusal).toMatchObject({ status: 400, reason: "INVALID_FILTER" });
    expect(parameters(explanation)).toEqual({ "uidp.in_root": "refused" });
    expect(explanation.calls).toEqual([]);
  });
});

describe("the answer", () => {
  test("names the v2 members that each member comes from", async () => {
    const { answer } = await explained("GET /iam/v1/rolebindings");
    const of = (name: string) => answer.find(({ v1 }) => v1 === name);
    expect(of("id")).toMatchObject({ v2: ["uid"], becomes: "renamed", absent: null });
    expect(of("role")).toMatchObject({ v2: ["role.uid"], becomes: "joined" });
    expect(of("identity")).toMatchObject({ v2: ["identity.uid", "identityUid"], becomes: "moved", absent: '""' });
    expect(of("createdAt")).toMatchObject({ v2: ["createTime"], becomes: "renamed", absent: null });
  });

  test("has no zeros for a platform that never leaves any out", async () => {
    const { answer } = await explained("GET /iam/v1/groups", undefined, "--upstream-v2-omits-zeros", "no");
    expect(answer.every(({ absent }) => absent === null)).toBe(true);
  });

  test("cuts what v1 never showed, and times that only the specification speaks of where they are not wanted", async () => {
    const cut = async (collection: string, ...flags: string[]) => {
      const { answer } = await explained(`GET /iam/v1/${collection}`, undefined, ...flags);
      return answer.flatMap(({ becomes, v2 }) => (becomes === "cut" ? v2 : []));
    };
    expect(await cut("identities")).toContain("company");
    expect(await cut("groups")).toEqual([]);
    expect(await cut("groups", "--v1-record-times", "published")).toEqual(["createTime", "updateTime"]);
  });
});

describe("who serves it", () => {
  const NATIVE = ["--upstream-v2-url", "http://v2.example.com", "--upstream-v1-url", "http://v1.example.com"];

  test.each<[string, readonly string[], string, string | undefined]>([
    ["GET /iam/v1/groups", [], "translate", undefined],
    ["POST /iam/v1/externalGroupRoleMappings/a", [], "refused", "NOT_TRANSLATABLE"],
    ["POST /iam/v1/externalGroupRoleMappings/a", NATIVE, "native", undefined],
    ["POST /iam/v1/externalGroupRoleMappings/a", [...NATIVE, "--fallback", "refuse"], "refused", "NOT_TRANSLATABLE"],
    ["GET /iam/v2beta1/groups?page_size=1", [], "pass", undefined],
    ["GET /sts/exchange?aud=x", [], "refused", "UNKNOWN_PATH"],
    ["GET /sts/exchange?aud=x", ["--upstream-sts-url", "http://sts.example.com"], "pass", undefined],
    ["GET /nowhere", [], "refused", "UNKNOWN_PATH"],
    ["GET /iam/v1/nowhere", [], "refused", "NOT_FOUND"],
    ["GET /iam/v1/nowhere", NATIVE, "native", undefined],
    ["GET /iam/v1/groups//a", [], "refused", "INVALID_PATH"],
    ["GET /iam/v1/groups/../a", [], "refused", "INVALID_PATH"],
    ["PATCH /iam/v1/groups/a", [], "refused", "METHOD_NOT_ALLOWED"],
    ["HEAD /iam/v1/groups", [], "refused", "METHOD_NOT_ALLOWED"],
    ["OPTIONS /iam/v1/groups/a", [], "translate", undefined],
  ])("%s with %j: %s", async (request, flags, mode, reason) => {
    const explanation = await explained(request, undefined, ...flags);
    expect([explanation.mode, explanation.refusal?.reason]).toEqual([mode, reason]);
    expect(explanation.calls.length > 0).toBe(mode !== "refused");
  });

  test("what is guessed says so", async () => {
    const { mode, notes } = await explained("GET /registry/v1/repotagssummary/A");
    expect([mode, notes]).toEqual([
      "translate",
      expect.arrayContaining(["what v1 answers is guessed in part (docs/coverage.md)"]),
    ]);
  });

  test("what is refused only for want of native v1 says what would bring it there", async () => {
    const hints = async (request: string, ...flags: string[]) => (await explained(request, undefined, ...flags)).notes;
    expect(await hints("GET /ping/v1/ping")).toEqual([
      "with --upstream-v1-url (the address of native v1) it would go there as it is",
    ]);
    expect(await hints("GET /ping/v1/ping", ...NATIVE, "--fallback", "refuse")).toEqual([
      "with --fallback native it would go to native v1 as it is",
    ]);
    expect(await hints("GET /ping/v1/ping", ...NATIVE)).toEqual([]);
    expect(await hints("GET /ping/v1/pong")).toEqual([expect.stringContaining("--upstream-v1-url")]);
  });

  test("a method that v1 does not have says which there are, each with its operation", async () => {
    const hints = async (request: string) => (await explained(request)).notes;
    const record = "methods of this path: GET (get), POST (create), PUT (update), DELETE (delete)";
    expect(await hints("PATCH /iam/v1/groups/a")).toEqual([record]);
    expect(await hints("update /iam/v1/groups/a")).toEqual([record]);
    expect(await hints("HEAD /iam/v1/groups")).toEqual(["methods of this path: GET (list), POST (create)"]);
    expect(await hints("put /iam/v1/groups/a")).not.toContain(record);
  });

  test("a path that only v2 has is no operation of v1, and nothing promises that native v1 has it", async () => {
    const said = ["get-readme is no operation of v1: only v2 has this path"];
    const refused = await explained("GET /registry/v1/repos/A/b/readme");
    expect([refused.mode, refused.refusal?.reason, refused.notes]).toEqual(["refused", "NOT_TRANSLATABLE", said]);
    const native = await explained("GET /registry/v1/repos/A/b/readme", undefined, ...NATIVE);
    expect([native.mode, native.notes]).toEqual(["native", said]);
    expect(native.summary).toBe(
      "get-readme of repo: no operation of v1, handed to native v1 all the same (fallback: native)",
    );
    const other = await explained("GET /registry/v1/repos/A/b/deployment", undefined, ...NATIVE);
    expect(other.summary).toBe("get-deployment of repo: not translated, native v1 serves it (fallback: native)");
  });

  test("a path of native v1 that only an option names", async () => {
    const flags = [...NATIVE, "--fallback", "refuse", "--listen-extra-prefixes", "v1:/legacy"];
    const { mode, summary } = await explained("GET /legacy/x", undefined, ...flags);
    expect(mode).toBe("native");
    expect(summary).toContain("native v1 serves it (listen.extraPrefixes)");
  });

  test("what passes through goes as it came, to whom it goes", async () => {
    const { calls } = await explained(
      "GET /sts/exchange?aud=http%3A%2F%2Fhere",
      undefined,
      ...NATIVE,
      "--upstream-sts-url",
      "http://sts",
      "--listen-public-url",
      "http://here",
    );
    expect(calls[0]).toMatchObject({ upstream: "sts", target: "/sts/exchange?aud=http%3A%2F%2Fv2.example.com" });
  });

  test.each<[string, readonly string[], string]>([
    ["a second Authorization", ["-H", "Authorization: Bearer a", "-H", "authorization: Bearer b"], "UNAUTHENTICATED"],
    ["gRPC", ["-H", "Content-Type: application/grpc"], "GRPC_UNSUPPORTED"],
    ["a condition over several calls", ["-H", "If-Match: x"], "CONDITION_UNSUPPORTED"],
    ["a body that is too long", ["--limits-body-bytes", "1024"], "BODY_TOO_LARGE"],
    ["a target that is too long", ["--limits-uri-bytes", "256"], "URI_TOO_LONG"],
  ])("%s is refused as the listener would", async (_, flags, reason) => {
    const body = { name: "x".repeat(2_000), verified: true };
    const { refusal } = await explained(`PUT /iam/v1/groups/a?x=${"y".repeat(300)}`, body, ...flags);
    expect(refusal?.reason).toBe(reason);
  });

  test("a placeholder in the place of a token is no malformed token", async () => {
    for (const token of ["$TOKEN", "$(cat token)", "<token>", "…"]) {
      expect(
        (await explained("GET /iam/v1/groups", undefined, "-H", `Authorization: Bearer ${token}`)).refusal,
      ).toBeNull();
    }
  });

  test("a base path is taken off, or missed", async () => {
    const flags = ["--listen-base-path", "/api"];
    expect((await explained("GET /api/iam/v1/groups", undefined, ...flags)).notes).toEqual([]);
    const bare = await explained("GET /iam/v1/groups", undefined, ...flags);
    expect([bare.refusal, bare.notes.join()]).toEqual([null, expect.stringContaining("listen.basePath")]);
  });
});

test("a body that nobody reads is said to be none", async () => {
  const { notes, refusal } = await explained("DELETE /iam/v1/groups/a", { a: 1 });
  expect([refusal, notes]).toEqual([null, ["the body is not read: this operation has none"]]);
});

test("nothing is ever sent", async () => {
  const connect = vi.spyOn(Socket.prototype, "connect");
  const flags = ["--upstream-v2-url", "http://127.0.0.1:9", "--upstream-v1-url", "http://127.0.0.1:9"];
  for (const request of [
    "GET /iam/v1/rolebindings",
    "GET /iam/v1/terms/a",
    "GET /iam/v2beta1/groups",
    "DELETE /iam/v1/roles/a",
  ]) {
    expect((await explained(request, undefined, ...flags)).calls.length).toBeGreaterThan(0);
  }
  expect(connect).not.toHaveBeenCalled();
  connect.mockRestore();
});

describe("a form that is posted", () => {
  const COUNTS = "POST /registry/v1/vuln_reports/counts";

  test("is explained as the GET of a path without a POST, which native v1 gets as it came", async () => {
    const translated = await explained("POST /iam/v1/groups:lookupGroup?b=2", "a=1");
    expect([translated.mode, translated.operation, translated.request.method, translated.request.target]).toEqual([
      ...["translate", "lookup-group", "GET", "/iam/v1/groups:lookupGroup?a=1&b=2"],
    ]);
    expect(translated.notes[0]).toMatch(/^a form: it runs as the GET of its path/);
    const native = await explained(
      COUNTS,
      "a=1",
      "--upstream-v1-url",
      "http://127.0.0.1:9",
      "--cutover-mode",
      "native",
    );
    expect([native.mode, native.operation]).toEqual(["native", "count"]);
    expect(native.calls.map(({ upstream, method, target }) => [upstream, method, target])).toEqual([
      ["v1", "POST", "/registry/v1/vuln_reports/counts"],
    ]);
  });

  test("with the method override GET is one where the path has a POST; beyond limits.uriBytes it is refused", async () => {
    const override = ["-H", "X-HTTP-Method-Override: GET"];
    const got = await explained("POST /iam/v1/groups", "name=a", ...override);
    expect([got.operation, got.calls[0]?.method]).toEqual(["list", "GET"]);
    const long = await explained(COUNTS, `a=${"x".repeat(9000)}`);
    expect([long.mode, long.refusal?.reason]).toEqual(["refused", "URI_TOO_LONG"]);
  });
});
