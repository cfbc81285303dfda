import { expect, test } from "vitest";
import { header } from "../../../src/model/http.ts";
import { rigForTest, takeDownAfterEach } from "../app/rig.ts";
import { at, ids, items, platform, refusal } from "./support.ts";

takeDownAfterEach();

const here = platform();
const { rootGroup, someGroup, repo, digest, identity, identityProvider, roleBinding, viewerRole, assumable } =
  here.known;
const LOOKUP = "/iam/v1/identities/lookup";

test.each(["/iam/v1/groups", "/iam/v1/groups/"])("T45: POST %s makes a root group", async (path) => {
  const own = platform({ organisation: false });
  const made = await own.same("POST", path, { name: "root" }, "staff");
  expect([made.status, String(at(made.body, "id")).includes("/")]).toEqual([200, false]);
  expect(own.stores()).toEqual([]);
});

test("T45: POST on the bare identities is another operation, and is not taken for one without a parent", async () => {
  const answer = await here.ask("POST", "/iam/v1/identities", { name: "i" });
  expect([refusal(answer), answer.text.includes("identity create-root")]).toEqual([[501, "NOT_TRANSLATABLE"], true]);
  expect(here.sent).toEqual([]);
});

test.each([
  ["POST", `/iam/v1/rolebindings/batch/${rootGroup}`, [{ identity, role: viewerRole }], "roleBindings:batchCreate"],
  ["POST", `/iam/v1/rolebindings/${rootGroup}`, { identity, role: viewerRole }, `roleBindings/${rootGroup}`],
  ["GET", `${LOOKUP}?issuer=i&subject=s`, undefined, "identities:lookupIdentity"],
  ["PATCH", "/iam/v1/identities/metadata", {}, "identities:updateIdentityMetadata"],
  ["GET", "/iam/v1/groups:lookupGroup", undefined, "groups:lookupGroup"],
  [
    "POST",
    `/iam/v1/identityProviders/${identityProvider}:revokeScimToken`,
    {},
    `identityProviders/${identityProvider}:revokeScimToken`,
  ],
  [
    "POST",
    `/iam/v1/account_associations/${rootGroup}:check`,
    {},
    `accountAssociations/${rootGroup}:checkAccountAssociation`,
  ],
])("T46: %s %s is matched by its literals and verbs before any uid", async (method, path, body, v2) => {
  const own = platform();
  await own.ask(method, path, body);
  expect(own.sent[0]?.path).toBe(`/iam/v2beta1/${v2}`);
});

test("T46, V54: a verb that v1 does not have is refused, and not taken for the end of a uid", async () => {
  const unknown = await here.ask("POST", `/iam/v1/groups/${rootGroup}:nonsense`, { name: "n" });
  expect([refusal(unknown), here.sent]).toEqual([[400, "INVALID_PATH"], []]);
  await here.same("GET", `/iam/v1/groups/${rootGroup}:nonsense`);
  await here.same("GET", "/iam/v1/nonsense");
});

test("V09: a Get by id, which v1 did not have, shows what the list by id shows", async () => {
  for (const [collection, id, filter = "id"] of [
    ["iam/v1/groups", someGroup],
    ["iam/v1/identities", identity],
    ["iam/v1/roles", viewerRole],
    ["iam/v1/rolebindings", roleBinding],
    ["iam/v1/identityProviders", identityProvider],
    ["iam/v1/account_associations", here.known.fullAssociation, "group"],
    ["iam/v1/group_invites", here.known.groupInvite],
    ["registry/v1/repos", repo],
    ["registry/v1/tags", here.known.tag],
    ["vulnerabilities/v1/advisories", here.known.fullAdvisory],
  ] as const) {
    expect([collection, (await here.native("GET", `/${collection}/${id}`)).status]).toEqual([collection, 501]);
    const { body } = await here.ask("GET", `/${collection}/${id}`);
    expect(items(await here.ask("GET", `/${collection}?${filter}=${id}`))).toEqual([body]);
  }
});

test("T46: a digest with its colon, and a readme, are no verbs and no uids", async () => {
  await here.same("GET", `/registry/v1/repos/${repo}/digests/${digest}/architectures`);
  expect(here.sent[0]?.path).toBe(`/registry/v2beta1/repos/${repo}/digests/${digest}/architectures`);
  expect((await here.ask("GET", `/registry/v1/repos/${repo}/readme`)).status).toBe(501);
  expect((await here.ask("GET", `/registry/v1/tags/${here.known.tag}/history`)).status).toBe(501);
});

test("T47: a uid of several segments is one, with %2F or /, in paths and filters, and collections have two spellings", async () => {
  const encoded = encodeURIComponent(someGroup);
  const own = platform();
  for (const uid of [someGroup, encoded]) {
    expect(ids(await own.same("GET", `/iam/v1/groups?id=${uid}`))).toEqual([someGroup]);
    await own.same("PUT", `/iam/v1/groups/${uid}`, { name: "renamed" });
    expect(own.sent.at(-1)?.path).toBe(`/iam/v2beta1/groups/${someGroup}`);
    await own.same("POST", `/iam/v1/groups/${uid}`, { name: "below" });
  }
  for (const name of ["rolebindings", "roleBindings"]) {
    expect(ids(await own.ask("GET", `/iam/v1/${name}?id=${roleBinding}`))).toEqual([roleBinding]);
  }
  expect(own.stores()).toEqual([]);
});

test("T48, V42: looking up somebody shows the whole identity, one who never registered is not found, one not to be read is forbidden", async () => {
  const { issuer, subject } = assumable;
  const who = `${LOOKUP}?issuer=${encodeURIComponent(issuer)}&subject=${encodeURIComponent(subject)}`;
  expect((await here.same("GET", who)).body).toMatchObject({ id: identity, claimMatch: assumable });
  const nobody = await here.ask("GET", `${LOOKUP}?issuer=https://i&subject=nobody`);
  expect([nobody.status, at(nobody.body, "code")]).toEqual([404, 5]);
  const outsider = await here.ask("GET", who, undefined, `admin@${here.known.otherRootGroup}`);
  expect([outsider.status, at(outsider.body, "code")]).toEqual([403, 7]);
});

test.each(["generate", "regenerate"])(
  "T50: the token of %sScimToken is asked for once, shown once, kept nowhere and written to no log",
  async (verb) => {
    const rig = await rigForTest();
    const { notIssued, live } = rig.sandbox.wellKnown.scim;
    const uid = verb === "generate" ? notIssued : live;
    const provider = rig.sandbox.snapshot().identityProviders.find((one) => one["uid"] === live);
    const body = verb === "generate" ? {} : { etag: at(provider ?? null, "scim.etag") };
    const answer = await rig.ask("POST", `/iam/v1/identityProviders/${uid}:${verb}ScimToken`, { body });
    const token = answer.json.token as string;
    expect([answer.status, token.length > 10]).toEqual([200, true]);
    expect(answer.field("cache-control")).toContain("no-store");
    expect(rig.lines.join("\n")).not.toContain(token);
    expect(JSON.stringify(rig.exchanges)).not.toContain(token);
  },
);

test("T51: terms that are not accepted are told by v1's type of the detail, and their id keeps its name", async () => {
  const waiting = platform({ gated: (_method, path) => path.includes("roups") });
  const answer = await waiting.same("GET", "/iam/v1/groups");
  expect([answer.status, at(answer.body, "code")]).toEqual([400, 9]);
  expect(answer.text).toContain('"id":"terms-2026-01"');
  expect(answer.text).toContain(".iam.TermsNotAcceptedDetail");
});

test.each(["application/grpc", "application/grpc+proto", "application/grpc-web"])(
  "T58, V61: messages in binary are refused and never forwarded under another name: %s",
  async (type) => {
    const rig = await rigForTest();
    for (const target of ["/iam/v1/groups", "/iam.v1.Groups/List", "/iam/v2beta1/groups"]) {
      const answer = await rig.ask("POST", target, { body: new Uint8Array(5), headers: { "content-type": type } });
      expect([target, answer.status, answer.json.code]).toEqual([target, 415, 12]);
    }
    expect(rig.arrived).toEqual([]);
  },
);

test.each([{ emptyDeletes: true }, { emptyDeletes: false }])(
  "T64: a delete answers {} whatever v2 answers: %j",
  async (second) => {
    const own = platform({}, second);
    const gone = await own.same("DELETE", `/iam/v1/groups/${own.known.emptyGroup}`);
    expect([gone.status, gone.text, header(gone.headers, "content-type")]).toEqual([200, "{}", "application/json"]);
    expect(own.stores()).toEqual([]);
  },
);
