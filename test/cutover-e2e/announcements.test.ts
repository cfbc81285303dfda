/** What are clients told of the end of v1, and does the way there that they are shown lead on? (RFC 9745, RFC 8594.) */
import { describe, expect, it } from "vitest";
import type { Answer } from "../app/rig.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, send } from "./rig.ts";

takeDownAfterEach();

const DOCS = "https://example.com/migrate?from=v1&x=(a)";
const rules = (
  mode: string,
  headers = `deprecation: 2026-12-01, sunset: 2099-06-30, documentation: "${DOCS}"`,
) => `version: carryover/v1
rules:
  - name: told
    match: { client: [ui, web] }
    mode: ${mode}
    headers: { ${headers} }
  - name: rest
    match: {}
    mode: ${mode}
`;

const fields = (answer: Answer, name: string) =>
  answer.headers.filter(([key]) => key === name).map(([, value]) => value);

/** Links as `[target, parameters]`. */
const links = (answer: Answer) =>
  fields(answer, "link")
    .flatMap((value) => [...value.matchAll(/<([^>]*)>((?:\s*;\s*[a-z]+="[^"]*")*)/g)])
    .map(([, target, parameters]) => ({ target: target ?? "", rel: /rel="([^"]*)"/.exec(parameters ?? "")?.[1] }));
const successor = (answer: Answer) => links(answer).find(({ rel }) => rel === "successor-version")?.target;

const PUBLIC = "https://v1.example.com";

describe.each(["native", "shadow", "translate"])("in mode %s", (mode) => {
  it("Deprecation, Sunset and Link stand once each, in their exact form, and only where the rule says so", async () => {
    const rig = await cutover({ rules: rules(mode), sandbox: { organisation: false } });
    const told = await rig.ask("GET", "/iam/v1/roles?name=viewer", as("ui"));
    expect(fields(told, "deprecation")).toEqual([`@${Date.UTC(2026, 11, 1) / 1000}`]);
    expect(fields(told, "sunset")).toEqual(["Tue, 30 Jun 2099 00:00:00 GMT"]);
    expect(links(told)).toEqual([
      { target: "/iam/v2beta1/roles?name=viewer", rel: "successor-version" },
      { target: DOCS, rel: "deprecation" },
      { target: DOCS, rel: "sunset" },
    ]);
    const untold = await rig.ask("GET", "/iam/v1/roles?name=viewer", as("somebody"));
    expect(["deprecation", "sunset", "link"].flatMap((name) => fields(untold, name))).toEqual([]);
    const modern = await rig.ask("GET", "/iam/v2beta1/roles?name=viewer", as("ui"));
    expect(["deprecation", "sunset", "link"].flatMap((name) => fields(modern, name))).toEqual([]);
  });

  it("a method that v1 lacks is told of v1's end as well, whoever says that it lacks it", async () => {
    const rig = await cutover({ rules: rules(mode), sandbox: { organisation: false } });
    const told = await rig.ask("HEAD", "/iam/v1/roles", as("ui"));
    // Carryover's own refusals are made behind every rule.
    const served = told.field("carryover-mode") === "native";
    expect(served).toBe(mode !== "translate");
    expect(fields(told, "sunset")).toEqual(served ? ["Tue, 30 Jun 2099 00:00:00 GMT"] : []);
    expect(links(told).map(({ rel }) => rel)).toEqual(served ? ["deprecation", "sunset"] : []);
  });

  it("the successor, asked with the same token, answers with the same records", async () => {
    const rig = await cutover({ rules: rules(mode) });
    const { rootGroup, someGroup, emptyGroup, repo, advisory } = rig.sandbox.wellKnown;
    const reads: readonly (readonly [string, string])[] = [
      ["/iam/v1/roles?name=viewer", "roles"],
      [`/iam/v1/groups?uidp.children_of=${someGroup}`, "groups"],
      [`/iam/v1/groups?uidp.childrenOf=${someGroup}`, "groups"],
      [`/iam/v1/groups?id=${emptyGroup}`, ""],
      [`/iam/v1/groups?id=${encodeURIComponent(emptyGroup)}`, ""],
      [`/iam/v1/rolebindings?uidp.children_of=${rootGroup}`, "roleBindings"],
      ["/iam/v1/account_associations", "accountAssociations"],
      ["/iam/v1/group_invites", "groupInvites"],
      ["/iam/v1/identityProviders", "identityProviders"],
      [`/registry/v1/tags?uidp.children_of=${repo}`, "tags"],
      [`/vulnerabilities/v1/advisories?id=${encodeURIComponent(advisory)}`, ""],
    ];
    for (const [path, member] of reads) {
      const answer = await rig.ask("GET", path, as("ui"));
      const next = successor(answer) ?? "";
      expect([path, next]).toEqual([path, expect.stringMatching(/^\/(iam|registry|vulnerabilities)\/v2beta1\//)]);
      const followed = await rig.ask("GET", next, as("ui"));
      expect([path, followed.status]).toEqual([path, 200]);
      const records = member === "" ? [followed.json] : [...followed.json[member]];
      for (let token = followed.json.nextPageToken; token; ) {
        const page = await rig.ask("GET", `${next}${next.includes("?") ? "&" : "?"}page_token=${token}`, as("ui"));
        records.push(...page.json[member]);
        token = page.json.nextPageToken;
      }
      const ids = (list: { id?: string; uid?: string; group?: string }[]) =>
        list.map((one) => one.uid ?? one.id ?? one.group).toSorted();
      expect([path, ids(records)]).toEqual([path, ids(answer.json.items)]);
      expect(ids(records).length).toBeGreaterThan(0);
    }
  });

  it("writes say it as well, and the successor is where the record is", async () => {
    const rig = await cutover({ rules: rules(mode), sandbox: { organisation: false } });
    const made = await rig.ask("POST", "/iam/v1/groups/", { ...as("ui"), body: { name: "made" } });
    expect(fields(made, "deprecation")).toHaveLength(1);
    const changed = await rig.ask("PUT", `/iam/v1/groups/${made.json.id}`, { ...as("ui"), body: { name: "again" } });
    expect(successor(changed)).toBe(`/iam/v2beta1/groups/${made.json.id}`);
    const found = await rig.ask("GET", successor(changed) ?? "", as("ui"));
    expect([found.status, found.json.name]).toEqual([200, "again"]);
    const gone = await rig.ask("DELETE", `/iam/v1/groups/${made.json.id}`, as("ui"));
    expect(fields(gone, "sunset")).toHaveLength(1);
    await rig.idle();
  });
});

describe("the successor", () => {
  it("of what v2 lacks is not made up", async () => {
    const rig = await cutover({ rules: rules("translate"), sandbox: { organisation: false } });
    const answer = await rig.ask("GET", "/iam/v1/externalGroupRoleMappings", as("ui"));
    expect(answer.field("carryover-mode")).toBe("native");
    expect(successor(answer)).toBeUndefined();
    expect(fields(answer, "deprecation")).toHaveLength(1);
  });

  it("is absolute where clients know carryover by a public address, base path included, and only when it is wanted", async () => {
    const rig = await cutover({
      rules: rules("translate"),
      sandbox: { organisation: false },
      flags: { listenPublicUrl: PUBLIC, listenBasePath: "/api" },
    });
    const { rootGroup } = rig.sandbox.wellKnown;
    const answer = await rig.ask("GET", `/api/iam/v1/groups?id=${rootGroup}`, as("ui"));
    expect(answer.status).toBe(200);
    expect(successor(answer)).toBe(`${PUBLIC}/api/iam/v2beta1/groups/${rootGroup}`);
    await rig.change(rules("translate", "deprecation: 2026-12-01, successor: false"));
    const without = await rig.ask("GET", `/api/iam/v1/groups?id=${rootGroup}`, as("ui"));
    expect([links(without), fields(without, "deprecation").length]).toEqual([[], 1]);
  });

  it("of a request with odd characters cannot break out of the field", async () => {
    const rig = await cutover({ rules: rules("native"), sandbox: { organisation: false } });
    for (const query of [
      "name=%3E%3B%20rel%3D%22x%22",
      'name=>;rel="evil"',
      "name=%0d%0aset-cookie:%20a=b",
      "name=a,b",
    ]) {
      const answer = await rig.ask("GET", `/iam/v1/roles?${query}`, as("ui"));
      expect(fields(answer, "set-cookie")).toEqual([]);
      expect(links(answer).filter(({ rel }) => rel === "evil")).toEqual([]);
      expect(links(answer).every(({ target }) => !/[\s"<>]/.test(target))).toBe(true);
    }
  });
});

describe("a list that two clients share", () => {
  it("tells each what its own rule says", async () => {
    const rig = await cutover({
      rules: rules("translate"),
      flags: { listsShareSeconds: "5s", listsShareCollapse: "true" },
    });
    const ask = (client: string) => rig.ask("GET", "/iam/v1/groups", as(client));
    const [ui, somebody, web] = await Promise.all([ask("ui"), ask("somebody"), ask("web")]);
    const later = [await ask("somebody"), await ask("ui")];
    for (const answer of [ui, web, later[1]]) {
      expect(answer && fields(answer, "deprecation")).toEqual([`@${Date.UTC(2026, 11, 1) / 1000}`]);
      expect(answer && links(answer)).toHaveLength(3);
    }
    for (const answer of [somebody, later[0]]) {
      expect(answer && ["deprecation", "sunset", "link"].flatMap((name) => fields(answer, name))).toEqual([]);
    }
    expect(later.some((answer) => answer.field("age") !== undefined)).toBe(true);
  });
});

describe("native v1's own Link and Deprecation", () => {
  it("go through beside carryover's", async () => {
    const rig = await cutover({
      rules: rules("native"),
      sandbox: {
        organisation: false,
        faults: (next) => async (request, options) => {
          const answer = await next(request, options);
          return {
            ...answer,
            headers: [...answer.headers, ["link", '<https://platform.example.com/help>; rel="help"']],
          };
        },
      },
    });
    const answer = await rig.ask("GET", "/iam/v1/roles?name=viewer", as("ui"));
    expect(
      links(answer)
        .map(({ rel }) => rel)
        .toSorted(),
    ).toEqual(["deprecation", "help", "successor-version", "sunset"]);
    const direct = await send(rig.sandboxUrl, rig.sandbox, "GET", "/iam/v1/roles?name=viewer", {});
    expect(answer.text).toBe(direct.text);
  });
});
