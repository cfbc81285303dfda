import { expect, test } from "vitest";
import { type Json, member } from "../../../src/model/json.ts";
import { ids, items, platform, refusal } from "./support.ts";

const here = platform({ size: 250 });
const { someGroup, rootGroup, viewerRole, customRole, tag } = here.known;
const MISSING = `${"0".repeat(40)}/${"0".repeat(16)}`;
const FOREVER = 4 * 86_400_000;

test("T01: a list by id holds that record alone, and v2's list is never asked", async () => {
  expect(ids(await here.same("GET", `/iam/v1/groups?id=${someGroup}`))).toEqual([someGroup]);
  expect(here.sent.map(({ path }) => path)).toEqual([`/iam/v2beta1/groups/${someGroup}`]);
  expect(items(await here.same("GET", `/iam/v1/groups?id=${MISSING}`))).toEqual([]);
  expect(ids(await here.ask("GET", `/iam/v1/groups?nonsense=${someGroup}&uid=x`)).length).toBeGreaterThan(1000);
  expect(here.sent.flatMap(({ query }) => [...query.keys()])).not.toEqual(expect.arrayContaining(["nonsense"]));
});

test("T02, V71: a list of more than one page of v2 comes whole, and without a word of paging", async () => {
  const all = await here.same("GET", "/iam/v1/groups");
  expect(here.sent.length).toBeGreaterThan(5);
  expect(items(all).length).toBeGreaterThan(1300);
  expect(Object.keys(all.body as object)).toEqual(["items"]);
  expect(here.sent.every(({ query }) => query.get("page_size") === "200")).toBe(true);
});

test("T03: a list by id of what is missing, or not for this caller, is empty", async () => {
  for (const [filter, as] of [
    [`iam/v1/groups?id=${MISSING}`, "admin"],
    [`iam/v1/groups?id=${someGroup}`, "nobody"],
    [`iam/v1/groups?id=${someGroup}`, `admin@${here.known.otherRootGroup}`],
    [`iam/v1/account_associations?group=${MISSING}`, "admin"],
    [`registry/v1/tags?id=${tag}`, "nobody"],
  ] as const) {
    const answer = await here.same("GET", `/${filter}`, undefined, as);
    expect([filter, answer.status, answer.text]).toEqual([filter, 200, '{"items":[]}']);
  }
});

test("T15: tags of referrers, dates and epochs are listed unless the client leaves them out", async () => {
  const all = ids(await here.same("GET", "/registry/v1/tags"));
  for (const left of ["exclude_referrers", "excludeDates", "exclude_epochs"]) {
    const rest = ids(await here.same("GET", `/registry/v1/tags?${left}=true`));
    expect([left, rest.length > 0 && rest.length < all.length]).toEqual([left, true]);
  }
  expect(ids(await here.same("GET", "/registry/v1/tags?exclude_referrers=false"))).toEqual(all);
});

test.each(["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", "9"])(
  "T33, V47: a list by %s, for which v2 has no word, is refused and not left unfiltered",
  async (value) => {
    for (const name of ["event_types", "latestEventType"]) {
      const answer = await here.ask("GET", `/vulnerabilities/v1/advisories?${name}=${value}`);
      expect([refusal(answer), here.sent]).toEqual([[400, "INVALID_FILTER"], []]);
    }
  },
);

test("T35: whatever v2 calls the list, v1 clients find it under items", async () => {
  for (const collection of [
    ...["groups", "identities", "roles", "rolebindings", "identityProviders"].map((name) => `iam/v1/${name}`),
    ...["iam/v1/account_associations", "iam/v1/group_invites", "registry/v1/repos", "registry/v1/tags"],
    "vulnerabilities/v1/advisories",
  ]) {
    const { body } = await here.ask("GET", `/${collection}?page_size=200`);
    expect([collection, Object.keys(body as object)[0]]).toEqual([collection, "items"]);
  }
});

test("T43: an empty name is no filter, and is not sent", async () => {
  for (const list of ["/registry/v1/repos", "/iam/v1/groups"]) {
    expect(ids(await here.ask("GET", `${list}?name=`))).toEqual(ids(await here.native("GET", list)));
    expect(here.sent.every(({ query }) => !query.has("name"))).toBe(true);
  }
});

test("T44: the parent / means the built-in roles, any other one the roles right below it", async () => {
  const roots = ids(await here.same("GET", "/iam/v1/roles?parent=%2F"));
  expect(roots).toContain(viewerRole);
  expect(roots.filter((id) => id.includes("/"))).toEqual([]);
  const own = ids(await here.same("GET", `/iam/v1/roles?parent=${rootGroup}`));
  expect(own).toContain(customRole);
  expect(own.every((id) => id.startsWith(`${rootGroup}/`))).toBe(true);
});

test("T52: who asks again and again until there is something is never told that there is nothing by a 404", async () => {
  const waiting = platform({ organisation: false });
  const list = `/iam/v1/groups?name=new&uidp.children_of=${waiting.known.rootGroup}`;
  expect((await waiting.same("GET", list)).text).toBe('{"items":[]}');
  expect((await waiting.same("GET", `/iam/v1/groups?id=${MISSING}`)).text).toBe('{"items":[]}');
  expect((await waiting.same("GET", `/registry/v1/tags?uidp.children_of=${MISSING}`)).text).toBe('{"items":[]}');
  await waiting.same("POST", `/iam/v1/groups/${waiting.known.rootGroup}`, { name: "new" });
  expect(items(await waiting.same("GET", list))).toHaveLength(1);
  // What is written is not polled for: there the platform's word stands.
  expect((await waiting.same("PUT", `/iam/v1/groups/${MISSING}`, { name: "new" })).status).toBe(404);
  expect((await waiting.same("DELETE", `/iam/v1/groups/${MISSING}`)).status).toBe(404);
});

/** A platform whose tokens run out between these pages; lists have to be read by token. */
function forgetful(runsOut: (page: number) => boolean) {
  let [now, page] = [Date.parse("2026-03-01T08:00:00Z"), 0];
  return platform(
    { size: 250, clock: () => new Date(now) },
    {
      ignoreSkip: true,
      faults: (next) => async (request, options) => {
        page += 1;
        if (runsOut(page)) now += FOREVER;
        return next(request, options);
      },
    },
  );
}

test("T53: a token that ran out, so that the list began anew, ends in an error and never in records twice", async () => {
  const answer = forgetful(() => true);
  expect(refusal(await answer.ask("GET", "/iam/v1/groups"))).toEqual([502, "DRAIN_INCOMPLETE"]);
  expect(answer.sent.length).toBeLessThan(10);
});

test("T53: a list that began anew once is read again from its beginning, and comes whole", async () => {
  const once = forgetful((page) => page === 3);
  const found = ids(await once.ask("GET", "/iam/v1/groups"));
  expect([new Set(found).size, found.length]).toEqual([
    found.length,
    ids(await here.native("GET", "/iam/v1/groups")).length,
  ]);
});

test("T67, V08: a platform whose list of identity providers is shadowed answers an error, never an empty list; ids still work", async () => {
  const shadowed = platform({}, { shadowedProviderList: true });
  const { identityProvider } = shadowed.known;
  expect((await shadowed.ask("GET", "/iam/v1/identityProviders")).status).toBeGreaterThanOrEqual(400);
  expect(ids(await shadowed.same("GET", `/iam/v1/identityProviders?id=${identityProvider}`))).toEqual([
    identityProvider,
  ]);
  expect(items(await here.same("GET", "/iam/v1/identityProviders")).length).toBeGreaterThan(5);
});

type Page = {
  readonly items: Json[];
  readonly nextPageToken: string;
  readonly totalCount: string;
  readonly id: string;
};
const advisories = "/vulnerabilities/v1/advisories";

test("T39, V50: a page of advisories keeps its owner, its token and its count", async () => {
  const page = (await here.same("GET", `${advisories}?uidp.descendants_of=${rootGroup}&page_size=10`)).body as Page;
  expect([page.id, page.items.length, Number(page.totalCount) > 60]).toEqual([rootGroup, 10, true]);
  const none = await here.same("GET", `${advisories}?uidp.children_of=${someGroup}`);
  expect(none.body).toMatchObject({ id: someGroup, items: [] });
  const token = encodeURIComponent(page.nextPageToken);
  const next = await here.ask("GET", `${advisories}?uidp.descendants_of=${rootGroup}&page_size=10&page_token=${token}`);
  expect(here.sent[0]?.query.get("page_token")).toBe(page.nextPageToken);
  expect(items(next).map((item) => item["id"])).not.toEqual(page.items.map((item) => member(item, "id")));
});

test("T40, V49: a page larger than v2 serves is v2's largest, and its token leads to the rest", async () => {
  const strict = platform({}, { largePages: "refuse" });
  const seen: string[] = [];
  let token = "";
  do {
    const answer = await strict.ask("GET", `${advisories}?page_size=5000&page_token=${encodeURIComponent(token)}`);
    expect([answer.status, strict.sent[0]?.query.get("page_size")]).toEqual([200, "200"]);
    seen.push(...ids(answer));
    token = String(member(answer.body, "nextPageToken"));
  } while (token !== "");
  expect(seen.toSorted()).toEqual(ids(await strict.native("GET", `${advisories}?page_size=5000`)));
});

test.each([
  ["ID_DESC", "uid desc"],
  ["CREATED_AT_ASC", "created_at"],
  ["CREATED_AT_DESC", "created_at desc"],
])("T42: the order %s is asked of v2 by the name of its store: %s", async (v1, v2) => {
  await here.ask("GET", `${advisories}?order_by=${v1}`);
  expect(here.sent[0]?.query.get("order_by")).toBe(v2);
});
