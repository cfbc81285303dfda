/** What clients are told of the end of v1, on the wire, and whether the successor that they are shown leads on (RFC 9745, RFC 8594). */
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, takeDownAfterAll } from "../app/rig.ts";
import { as, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterAll();

const DOCS = "https://example.com/migrate?from=v1&x=(a)";
const PUBLIC = "https://v1.example.com";
const HEADERS = `deprecation: 2026-12-01, sunset: 2099-06-30, documentation: "${DOCS}"`;
/** The clients `native`, `shadow` and `translate` are told, each in its mode; nobody else is. */
const rules = (headers = HEADERS) => `version: carryover/v1
rules:
  - { name: native, match: { client: native }, mode: native, headers: { ${headers} } }
  - { name: shadow, match: { client: shadow }, mode: shadow, headers: { ${headers} } }
  - { name: translate, match: { client: translate }, mode: translate, headers: { ${headers} } }
`;
const MODES = ["native", "shadow", "translate"];

const fields = (answer: Answer, name: string) =>
  answer.headers.filter(([key]) => key === name).map(([, value]) => value);
/** How many there are of the three. */
const announced = (answer: Answer) => ["deprecation", "sunset", "link"].flatMap((name) => fields(answer, name)).length;
const links = (answer: Answer) =>
  fields(answer, "link")
    .flatMap((value) => [...value.matchAll(/<([^>]*)>((?:\s*;\s*[a-z]+="[^"]*")*)/g)])
    .map(([, target, parameters]) => ({ target: target ?? "", rel: /rel="([^"]*)"/.exec(parameters ?? "")?.[1] }));
const successor = (answer: Answer) => links(answer).find(({ rel }) => rel === "successor-version")?.target;

let rig: CutoverRig;
beforeAll(async () => {
  rig = await cutover({ rules: rules(), flags: { listsShareSeconds: "5s", listsShareCollapse: "true" } });
});

describe("in every mode", () => {
  it("Deprecation, Sunset and Link stand once each, in their exact form, and only where the rule says so", async () => {
    for (const mode of MODES) {
      const told = await rig.ask("GET", "/iam/v1/roles?name=viewer", as(mode));
      expect(fields(told, "deprecation")).toEqual([`@${Date.UTC(2026, 11, 1) / 1000}`]);
      expect(fields(told, "sunset")).toEqual(["Tue, 30 Jun 2099 00:00:00 GMT"]);
      expect(links(told)).toEqual([
        { target: "/iam/v2beta1/roles?name=viewer", rel: "successor-version" },
        { target: DOCS, rel: "deprecation" },
        { target: DOCS, rel: "sunset" },
      ]);
      expect(announced(await rig.ask("GET", "/iam/v2beta1/roles?name=viewer", as(mode)))).toBe(0);
    }
    expect(announced(await rig.ask("GET", "/iam/v1/roles?name=viewer", as("somebody")))).toBe(0);
  });

  it("an operation without a successor is told of the end; carryover's own refusals of a method are not", async () => {
    for (const mode of MODES) {
      const head = await rig.ask("HEAD", "/iam/v1/roles", as(mode));
      expect(links(head).map(({ rel }) => rel)).toEqual(mode === "translate" ? [] : ["deprecation", "sunset"]);
      const lacking = await rig.ask("GET", "/iam/v1/externalGroupRoleMappings", as(mode));
      expect([successor(lacking), fields(lacking, "deprecation").length]).toEqual([undefined, 1]);
    }
  });

  it("writes and refusals of the platform say it as well", async () => {
    for (const mode of MODES) {
      const made = await rig.ask("POST", "/iam/v1/groups/", { ...as(mode), body: { name: mode } });
      expect([made.status, announced(made)]).toEqual([200, 5]);
      const path = `/iam/v1/groups/${made.json.id}`;
      const changed = await rig.ask("PUT", path, { ...as(mode), body: { name: `${mode} again` } });
      const found = await rig.ask("GET", successor(changed) ?? "", as(mode));
      expect([found.status, found.json.name]).toEqual([200, `${mode} again`]);
      expect(fields(await rig.ask("DELETE", path, as(mode)), "sunset")).toHaveLength(1);
      const gone = await rig.ask("DELETE", path, as(mode));
      expect([gone.status, announced(gone)]).toEqual([404, 5]);
    }
    await rig.idle();
  });
});

describe("the successor", () => {
  it("asked with the same token answers with the same records", async () => {
    const { rootGroup, someGroup, emptyGroup, repo, advisory } = rig.sandbox.wellKnown;
    const reads: readonly (readonly [string, string])[] = [
      ["/iam/v1/roles?name=viewer", "roles"],
      [`/iam/v1/groups?uidp.children_of=${someGroup}`, "groups"],
      [`/iam/v1/groups?uidp.childrenOf=${someGroup}`, "groups"],
      [`/iam/v1/groups?id=${encodeURIComponent(emptyGroup)}`, ""],
      [`/iam/v1/rolebindings?uidp.children_of=${rootGroup}`, "roleBindings"],
      ["/iam/v1/account_associations", "accountAssociations"],
      ["/iam/v1/group_invites", "groupInvites"],
      ["/iam/v1/identityProviders", "identityProviders"],
      [`/registry/v1/tags?uidp.children_of=${repo}`, "tags"],
      [`/vulnerabilities/v1/advisories?id=${encodeURIComponent(advisory)}`, ""],
    ];
    const ids = (list: { id?: string; uid?: string; group?: string }[]) =>
      list.map((one) => one.uid ?? one.id ?? one.group).toSorted();
    for (const [path, member] of reads) {
      const answer = await rig.ask("GET", path, as("translate"));
      const next = successor(answer) ?? "";
      const followed = await rig.ask("GET", next, as("translate"));
      expect([path, next, followed.status]).toEqual([path, expect.stringMatching(/^\/[a-z]+\/v2beta1\//), 200]);
      const records = member === "" ? [followed.json] : [...followed.json[member]];
      for (let token = followed.json.nextPageToken; token; ) {
        const page = await rig.ask("GET", `${next}${next.includes("?") ? "&" : "?"}page_token=${token}`);
        records.push(...page.json[member]);
        token = page.json.nextPageToken;
      }
      expect([path, ids(records)]).toEqual([path, ids(answer.json.items)]);
      expect(ids(records).length).toBeGreaterThan(0);
    }
  });

  it("of a request with odd characters cannot break out of the field", async () => {
    for (const query of [
      'name=>;rel="evil"',
      "name=%3E%3B%20rel%3D%22x%22",
      "name=%0d%0aset-cookie:%20a=b",
      "name=a,b",
    ]) {
      const answer = await rig.ask("GET", `/iam/v1/roles?${query}`, as("native"));
      expect(fields(answer, "set-cookie")).toEqual([]);
      expect(links(answer).filter(({ rel }) => rel === "evil")).toEqual([]);
      expect(links(answer).every(({ target }) => !/[\s"<>]/.test(target))).toBe(true);
    }
  });

  it("is absolute where clients know carryover by a public address, base path included, and only when it is wanted", async () => {
    const other = await cutover({
      rules: rules(),
      sandbox: { organisation: false },
      flags: { listenPublicUrl: PUBLIC, listenBasePath: "/api" },
    });
    const { rootGroup } = other.sandbox.wellKnown;
    const target = `/api/iam/v1/groups?id=${rootGroup}`;
    for (const mode of MODES) {
      const answer = await other.ask("GET", target, as(mode));
      expect([answer.status, successor(answer)]).toEqual([200, `${PUBLIC}/api/iam/v2beta1/groups/${rootGroup}`]);
    }
    await other.change(rules("deprecation: 2026-12-01, successor: false"));
    const without = await other.ask("GET", target, as("translate"));
    expect([links(without), fields(without, "deprecation").length]).toEqual([[], 1]);
    await other.idle();
  });

  it("has the base path once where no public address is known", async () => {
    const other = await cutover({
      rules: rules(),
      sandbox: { organisation: false },
      flags: { listenBasePath: "/api" },
    });
    for (const mode of ["native", "translate"]) {
      const answer = await other.ask("GET", "/api/iam/v1/roles?name=viewer", as(mode));
      expect(successor(answer)).toBe("/api/iam/v2beta1/roles?name=viewer");
      expect((await other.ask("GET", successor(answer) ?? "")).status).toBe(200);
    }
  });
});

describe("beside others", () => {
  it("a list that two clients share tells each what its own rule says", async () => {
    const ask = (client: string) => rig.ask("GET", "/iam/v1/groups", as(client));
    await rig.change(`${rules()}  - { name: rest, match: {}, mode: translate }\n`);
    const together = await Promise.all([ask("translate"), ask("somebody"), ask("translate")]);
    const later = [await ask("somebody"), await ask("translate")];
    expect([...together, ...later].map(announced)).toEqual([5, 0, 5, 0, 5]);
    expect(later.some((answer) => answer.field("age") !== undefined)).toBe(true);
  });

  it("native v1's own Link goes through", async () => {
    const other = await cutover({
      rules: rules(),
      sandbox: {
        organisation: false,
        faults: (next) => async (request, options) => {
          const answer = await next(request, options);
          return { ...answer, headers: [...answer.headers, ["link", '<https://platform.example/help>; rel="help"']] };
        },
      },
    });
    const answer = await other.ask("GET", "/iam/v1/roles?name=viewer", as("native"));
    expect(links(answer).map(({ rel }) => rel)).toEqual(["help", "successor-version", "deprecation", "sunset"]);
  });
});
