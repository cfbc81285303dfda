/**
 * Data that v1 has and v2 cannot hold. No response can equal native v1's here. A write must be refused, or its response
 * must show what was kept: it is never half done silently. A read shows everything else.
 */
import { describe, expect, test } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { header } from "../../../src/model/http.ts";
import type { Json } from "../../../src/model/json.ts";
import { frontOf } from "../../support/front.ts";
import { at, type Call, get, idOf, leafId, post, put, rootId, type Seen } from "./call.ts";
import { inMemory, parsed, type Side, startSide, unchanged } from "./harness.ts";
import { jsonDifferences } from "./json-diff.ts";

const translated = inMemory(frontOf(await loadCatalogue("v2beta1")));

/** The same platform twice: native v1, and carryover in front of v2. */
async function pairOf(both: SandboxOptions = {}): Promise<{ readonly native: Side; readonly carried: Side }> {
  return { native: await startSide({}, inMemory(unchanged), both), carried: await startSide({}, translated, both) };
}

const identities = at("/iam/v1/identities/", leafId);
const roles = at("/iam/v1/roles/", leafId);
const CLAIM = { issuer: "https://i", subject: "s" };

const plain = await pairOf();
describe("DIFF-14: a write that v2 cannot hold is refused, and nothing is written", () => {
  // v2 wants exactly one relationship of an identity, and at least one capability of a new role.
  const calls: readonly Call[] = [
    post("an identity without a relationship", identities, { name: "x" }, 400),
    post(
      "an identity whose only relationship v1 does not know",
      identities,
      { name: "x", servicePrincipal: "NOBODY" },
      400,
    ),
    post("an identity with v2's name of a relationship", identities, { name: "x", staticKeys: { issuer: "i" } }, 400),
    post("a role without capabilities", roles, { name: "x" }, 400),
    post("a role with an empty list of them", roles, { name: "x", capabilities: [] }, 400),
  ];
  test.each(calls)("$name", async (call) => {
    const before = JSON.stringify(plain.carried.sandbox.snapshot());
    const native = await plain.native.ask(call);
    const carried = await plain.carried.ask(call);
    expect(native.status).toBe(200);
    expect(parsed(carried)).toMatchObject({ code: 3 });
    expect(carried.status).toBe(call.status);
    expect(JSON.stringify(plain.carried.sandbox.snapshot())).toBe(before);
  });
});

const richer = await pairOf({ beyondV2: true });
describe("what a read and a replace can still do", () => {
  const both = async (call: Call): Promise<[native: Json, carried: Json]> => {
    return [parsed(await richer.native.ask(call)), parsed(await richer.carried.ask(call))];
  };

  test("DIFF-19: a replace without a relationship keeps it, and its answer shows that", async () => {
    await both(post("an identity", identities, { name: "one", description: "d", claimMatch: CLAIM }));
    const [native, carried] = await both(put("away", at("/iam/v1/identities/", idOf("an identity")), { name: "two" }));
    expect(jsonDifferences(native, carried)).toEqual([
      '/claimMatch: (absent), {"issuer":"https://i","subject":"s","claims":{},"claimPatterns":{}}',
    ]);
  });

  test("DIFF-16: a replace by staff that leaves verified out keeps it, and its answer shows that", async () => {
    const call = put("root", at("/iam/v1/groups/", rootId), { name: "acme" }, { as: "staff" });
    const [native, carried] = await both(call);
    expect(jsonDifferences(native, carried)).toEqual(["/verified: false, true"]);
  });

  test("DIFF-48: an advisory's event without a name in v2 is there without its kind, and nothing else is missing", async () => {
    const [native, carried] = await both(get("all", "/vulnerabilities/v1/advisories?page_size=200"));
    const found = jsonDifferences(native, carried);
    expect(found.length).toBeGreaterThan(0);
    expect(
      found.filter((line) => !/^\/items\/\d+\/events\/\d+\/componentLocationChanged: \{.*, \(absent\)$/.test(line)),
    ).toEqual([]);
  });

  test("DIFF-33: a repo's sync shows that it takes no packages, whatever is stored", async () => {
    const [native, carried] = await both(get("everything", "/registry/v1/repos?name=everything"));
    expect(jsonDifferences(native, carried)).toEqual(["/items/0/sync_config/syncApks: true, false"]);
  });

  test("DIFF-30: a replace of a synced repo keeps the members that it leaves out, and its response and header show that", async () => {
    const full = {
      name: "one",
      description: "d",
      catalogTier: "FIPS",
      bundles: ["base"],
      aliases: ["uno"],
      activeTags: ["latest"],
      readme: "# one",
      customOverlay: { contents: { packages: ["curl"] } },
    };
    const place = at("/registry/v1/repos/", leafId);
    await both(post("its source", place, { name: "source" }, { as: "staff" }));
    const sent = (seen: Seen) => ({ ...full, sync_config: { source: seen.id("its source") } });
    await both(post("a repo", place, sent, { as: "staff" }));
    const call = put("less", at("/registry/v1/repos/", idOf("a repo")), { name: "one" }, { as: "staff" });
    const native = await richer.native.ask(call);
    const carried = await richer.carried.ask(call);
    const kept = ["activeTags", "aliases", "bundles", "catalogTier", "customOverlay", "readme"];
    const places = jsonDifferences(parsed(native), parsed(carried)).map((line) => /^\/(\w+)/.exec(line)?.[1]);
    expect([...new Set(places)].sort()).toEqual(kept);
    expect(header(carried.headers, "carryover-mismatch")?.split(", ").sort()).toEqual(kept);
    expect(parsed(carried)).toMatchObject({ ...full, description: "", sync_config: null });
  });
});

describe("a platform that guards a repo's fields with a further capability", () => {
  const full = { name: "one", catalogTier: "FIPS", bundles: ["base"], aliases: ["uno"], activeTags: ["latest"] };

  test.each(["forbid", "refuse"] as const)(
    "DIFF-31: by %s: an ordinary replace works, and says what stayed",
    async (repoGuard) => {
      const { ask } = await startSide({}, translated, { repoGuard });
      const place = at("/registry/v1/repos/", leafId);
      await ask(post("a repo", place, { ...full, readme: "# one" }, { as: "staff" }));
      const carried = await ask(
        put("less", at("/registry/v1/repos/", idOf("a repo")), { name: "one", description: "d" }),
      );
      expect([carried.status, parsed(carried)]).toMatchObject([200, { ...full, description: "d", readme: "# one" }]);
      const named = header(carried.headers, "carryover-mismatch")?.split(", ").sort();
      expect(named).toEqual(["activeTags", "aliases", "bundles", "catalogTier", "readme"]);
    },
  );
});
