/** v1 calls on tags. v2 has no update for them, only create. */
import type { JsonObject } from "../../../src/model/json.ts";
import {
  at,
  type Call,
  del,
  escapedId,
  get,
  idOf,
  many,
  post,
  put,
  repoId,
  type Scenario,
  type Seen,
  scenario,
  without,
} from "./call.ts";
import { alone, atPlace, badBodies, inPlace, MISSING, madeBy, otherMethods, strangers } from "./words.ts";

const TAGS = "/registry/v1/tags";
const SUMMARY = "/registry/v1/repotagssummary";
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const repo: Call = post("repo", inPlace("/registry/v1/repos"), { name: "repo" });
const here = madeBy(TAGS, "repo");
const one = madeBy(TAGS, "one");
const listed = at(`${TAGS}?uidp.children_of=`, idOf("repo"));
const itself = at(`${TAGS}?id=`, idOf("one"));
const FULL: JsonObject = { name: "latest", digest: digest("1"), deprecated: true, bundles: ["base", "fips"] };

const creating: readonly Scenario[] = [
  atPlace("creating tags", [
    repo,
    post("one", here, FULL, { shows: FULL }),
    post("of a name and digest only", here, { name: "two", digest: digest("2") }, 200, {
      shows: { deprecated: false, bundles: [] },
    }),
    post("of every kind of letter", here, { name: "_1.2-r3_A", digest: digest("3") }),
    post("one again changes it", here, { name: "latest", digest: digest("4") }, 200, {
      shows: (seen) => ({ id: seen.id("one"), digest: digest("4"), deprecated: false, bundles: [] }),
    }),
    post("one again as it was", here, FULL, { shows: (seen) => ({ ...FULL, id: seen.id("one") }) }),
    post("members of the server do nothing", here, {
      name: "three",
      digest: digest("5"),
      id: "mine",
      lastUpdated: "2001-01-01T00:00:00Z",

      uid: 1,
    }),
    post("null members are left out", here, { name: "four", digest: digest("6"), deprecated: null, bundles: null }),
    post("unknown members do nothing", here, { name: "five", digest: digest("7"), colour: {}, updateTime: "t" }),
    post("explicit zeros", here, { name: "six", digest: digest("8"), deprecated: false, bundles: [] }),
    get("all of them", listed, { items: 7 }),
    get("one by id", itself, { items: 1, every: FULL }),
    get("one by digest", at(`${TAGS}?digest=${digest("2")}&uidp.children_of=`, idOf("repo")), { items: 1 }),
    get("one by id and digest", at(`${TAGS}?digest=${digest("1")}&id=`, idOf("one")), { items: 1 }),
    get("one by id and another digest", at(`${TAGS}?digest=${digest("2")}&id=`, idOf("one")), { items: 0 }),
  ]),
  atPlace("tags that cannot be created", [
    repo,
    ...badBodies((name, body, status) => post(name, here, body, status), "name"),
    post("without a name", here, { digest: digest("1") }, 400, { field: "name" }),
    post("with a name that is none", here, { name: "a/b", digest: digest("1") }, 400, { field: "name" }),
    post("with a number for a digest", here, { name: "x", digest: 1 }, 400),
    post("with a text for a truth", here, { ...FULL, deprecated: "true" }, 400),
    post("with a text for a list", here, { ...FULL, bundles: "base" }, 400),
    post("with null in a list", here, { ...FULL, bundles: [null] }, 400),
    post("of a repo that is not there", `${TAGS}/${MISSING}`, FULL, 404),
    ...strangers((name, status, extra) => post(name, here, FULL, status, extra)),
    get("none of them is there", listed, { items: 0 }),
  ]),
];

const replacing: readonly Scenario[] = [
  atPlace("replacing and removing tags", [
    repo,
    post("one", here, FULL),
    get("it", itself, { items: 1 }),
    put("what a read gave", one, alone("it"), {
      shows: (seen) => without(alone("it")(seen), "lastUpdated", "updatedAt"),
    }),
    put("another digest", one, { ...FULL, digest: digest("2") }, { shows: { digest: digest("2") } }),
    put("without a digest: it stays", one, without(FULL, "digest"), { shows: { ...FULL, digest: digest("2") } }),
    put("with an empty digest: it stays", one, { ...FULL, digest: "" }, { shows: { digest: digest("2") } }),
    put("with null for a digest: it stays", one, { ...FULL, digest: null }, { shows: { digest: digest("2") } }),
    put("by its name only: the rest is cleared", one, { name: "latest" }, 200, {
      shows: { digest: digest("2"), deprecated: false, bundles: [] },
    }),
    put("deprecated again", one, { name: "latest", deprecated: true }, { shows: { deprecated: true } }),
    put("other bundles", one, { name: "latest", bundles: ["ai", "ai"] }, { shows: { bundles: ["ai", "ai"] } }),
    put("unknown members do nothing", one, { ...FULL, colour: 1, lastUpdated: "2001-01-01T00:00:00Z", id: "x" }),
    put("with %2F", at(`${TAGS}/`, escapedId("one")), FULL, { shows: FULL }),
    get("it as it is now", itself, { items: 1, every: FULL }),
    ...badBodies((name, body, status) => put(name, one, body, status), "name"),
    put("with a name that is none", one, { ...FULL, name: "a/b" }, 400, { field: "name" }),
    put("with a text for a truth", one, { ...FULL, deprecated: "yes" }, 400),
    put("one that is not there", `${TAGS}/${MISSING}`, FULL, 404),
    ...strangers((name, status, extra) => put(name, one, FULL, status, extra)),
    ...otherMethods(one, ["PATCH", "HEAD"]),
    get("it is as it was", itself, { items: 1, every: FULL }),
    ...strangers((name, status, extra) => del(name, one, status, extra)),
    del("it", one, { shows: {} }),
    del("it once more", one, 404),
    del("one that was never there", `${TAGS}/${MISSING}`, 404),
    get("it is gone", itself, { items: 0 }),
    put("what is gone", one, FULL, 404),
  ]),
];

/** One tag of each kind that a list can leave out, and one of none. */
const KINDS: readonly (readonly [kind: string, name: string])[] = [
  ["plain", "latest"],
  ["versioned", "1.2.3"],
  ["dated", "1.2.3-20260301"],
  ["epoch", "1.2.3-r4"],
  ["dated epoch", "1.2.3-r4-20260301"],
  ["signature", `sha256-${"a".repeat(64)}.sig`],
  ["attestation", `sha256-${"a".repeat(64)}.att`],
  ["bill of materials", `sha256-${"a".repeat(64)}.sbom`],
];
const exclusions = ["exclude_referrers", "exclude_dates", "exclude_epochs"];
/** Each set of exclusions, in turn in snake case and in camel case. */
const sets: readonly string[] = Array.from({ length: 8 }, (_, bits) =>
  exclusions
    .filter((_name, index) => (bits & (1 << index)) !== 0)
    .map((name) => (bits % 2 === 0 ? name : name.replace(/_(.)/, (_match, letter: string) => letter.toUpperCase())))
    .map((name) => `${name}=true`)
    .join("&"),
);
const summary = at(`${SUMMARY}/`, idOf("repo"));

const excluding: readonly Scenario[] = [
  atPlace("tags left out of lists", [
    repo,
    ...KINDS.map(([kind, name], index) =>
      post(kind, here, { name, digest: digest(String(index)) }, { shows: { name } }),
    ),
    get("every tag there is", TAGS, { items: 8 }),
    ...sets.map((set) => get(`with ${set || "nothing"}`, (seen) => `${listed(seen)}&${set}`)),
    get("without referrers", (seen) => `${listed(seen)}&exclude_referrers=true`, { items: 5 }),
    get("with all of them, said so", (seen) => `${listed(seen)}&${exclusions.join("=false&")}=false`, { items: 8 }),
    get("without referrers, in capitals", (seen) => `${listed(seen)}&exclude_referrers=TRUE`),
    get("without referrers, by a number", (seen) => `${listed(seen)}&exclude_referrers=1`),
    get(
      "without referrers, by both spellings",
      (seen) => `${listed(seen)}&exclude_referrers=true&excludeReferrers=true`,
      400,
    ),
    get("a referrer by id, without referrers", at(`${TAGS}?exclude_referrers=true&id=`, idOf("signature")), {
      items: 0,
    }),
    get("a dated one by id, without dates", at(`${TAGS}?exclude_dates=true&id=`, idOf("dated")), { items: 0 }),
    get("an epoch by id, without epochs", at(`${TAGS}?exclude_epochs=true&id=`, idOf("epoch")), { items: 0 }),
    get("a plain one by id, without any of them", at(`${TAGS}?${exclusions.join("=true&")}=true&id=`, idOf("plain")), {
      items: 1,
    }),
    get(
      "a referrer by name, without referrers",
      (seen) => `${listed(seen)}&exclude_referrers=true&name=${KINDS[5]?.[1]}`,
      { items: 0 },
    ),
    get("since one of them", (seen) => `${listed(seen)}&updated_since=${lastUpdated("epoch")(seen)}`, {
      items: "some",
    }),
    get("by id, since another", (seen) => `${TAGS}?id=${seen.id("plain")}&updatedSince=${lastUpdated("epoch")(seen)}`, {
      items: 0,
    }),
    get("by id, since itself", (seen) => `${TAGS}?id=${seen.id("epoch")}&updatedSince=${lastUpdated("epoch")(seen)}`),
    get(
      "by id, since the one before",
      (seen) => `${TAGS}?id=${seen.id("epoch")}&updatedSince=${lastUpdated("plain")(seen)}`,
      { items: 1 },
    ),
  ]),
  atPlace("summaries of the tags of a repo", [
    repo,
    get("of none", summary),
    ...KINDS.map(([kind, name], index) => post(kind, here, { name, digest: digest(String(index)) })),
    get("of all of them", summary),
    ...sets.map((set) => get(`with ${set || "nothing"}`, (seen) => `${summary(seen)}?${set}`)),
    put("the first is the latest now", madeBy(TAGS, "plain"), { name: "latest" }),
    get("of all of them after that", summary),
    get("as a viewer", summary, { as: "viewer" }),
    get("without a token", summary, 401, { as: "anonymous" }),
    get("with a forged token", summary, 401, { as: "forged" }),
    get("with an empty truth", at(`${SUMMARY}/`, idOf("repo"), "?exclude_dates="), 400),
    get("with no truth", at(`${SUMMARY}/`, idOf("repo"), "?excludeDates=often"), 400),
    get("with %2F", at(`${SUMMARY}/`, escapedId("repo"))),
  ]),
  atPlace("more than 200 tags", [
    repo,
    many("of one repo", 203, (index) => post(`number ${index}`, here, { name: `1.${index}`, digest: digest("a") })),
    get("all of a repo", listed, { items: 203 }),
    get("one of a name", `${TAGS}?name=1.150`, { items: 1 }),
    get("a summary of them", summary),
    post("the 150th again, which is not on the first page", here, { name: "1.150", digest: digest("b") }, 200, {
      shows: (seen) => ({ id: seen.id("number 150"), digest: digest("b") }),
    }),
  ]),
];

/** The time of the tag that `call` made. */
const lastUpdated =
  (call: string) =>
  (seen: Seen): string =>
    encodeURIComponent(String((seen.answer(call) as JsonObject)["lastUpdated"]));

const REPOS = "/registry/v1/repos";
const image = (suffix: string) => (seen: Seen) => `${REPOS}/${seen.known.repo}/digests/${imageDigest(seen)}/${suffix}`;
const imageDigest = (seen: Seen): string => String(alone("its tag")(seen)["digest"]);

const images: readonly Scenario[] = [
  scenario("images of tags", [
    get("tags of the repo", at(`${TAGS}?uidp.children_of=`, repoId), { items: "some" }),
    get("its tag", at(`${TAGS}?id=`, idOf("tags of the repo")), { items: 1 }),
    get("a summary of it", at(`${SUMMARY}/`, repoId)),
    ...sets.map((set) => get(`a summary with ${set || "nothing"}`, ({ known }) => `${SUMMARY}/${known.repo}?${set}`)),
    get("architectures", image("architectures")),
    get("architectures, as a viewer", image("architectures"), { as: "viewer" }),
    ...strangers((name, status, extra) => get(`architectures ${name}`, image("architectures"), status, extra)).filter(
      ({ as }) => as !== "viewer",
    ),
    get("size of amd64", image("size?arch=amd64"), { shows: { arch: "amd64" } }),
    get("size of arm64", image("size?arch=arm64"), { shows: { arch: "arm64" } }),
    get("size of nothing that there is", image("size?arch=s390x"), 404),
    get("size of two", image("size?arch=amd64&arch=arm64"), 400),
    get("size of amd64, as a viewer", image("size?arch=amd64"), { as: "viewer" }),
    get("size without a token", image("size?arch=amd64"), 401, { as: "anonymous" }),
    get("size as an outsider", image("size?arch=amd64"), 403, { as: "outsider" }),
    get("v2's name of one does nothing", image("size?architecture=arm64&arch=amd64"), { shows: { arch: "amd64" } }),
    get(
      "architectures, with %2F and an escaped colon",
      (seen) =>
        `${REPOS}/${encodeURIComponent(seen.known.repo)}/digests/${encodeURIComponent(imageDigest(seen))}/architectures`,
    ),
    get(
      "architectures of a digest that is not there",
      ({ known }) => `${REPOS}/${known.repo}/digests/${digest("0")}/architectures`,
      404,
    ),
    get(
      "size of a digest that is not there",
      ({ known }) => `${REPOS}/${known.repo}/digests/${digest("0")}/size?arch=amd64`,
      404,
    ),
    get("architectures of a repo that is not there", `${REPOS}/${MISSING}/digests/${digest("0")}/architectures`, 404),
  ]),
];

export const tagScenarios: readonly Scenario[] = [...creating, ...replacing, ...excluding, ...images];
