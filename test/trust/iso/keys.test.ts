/** Do two requests that ask for different things ever have one key, and is any answer of v1 left for a cache to keep? */
import { describe, expect, it } from "vitest";
import { credentialOf } from "../../../src/share/credential.ts";
import { keyOf } from "../../../src/share/key.ts";
import { rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { randomOf, seedOf } from "./support/tenants.ts";

takeDownAfterEach();

const OPTIONS = { secret: Buffer.alloc(32, 7), origin: "https://platform.example", ruleVersion: "1" };
/** Few characters, among them all that separate anything in a key, a target or a field: collisions are as likely as can be. */
const CHARACTERS = ['"', ",", "[", "]", "\\", "=", ".", "a", "b", "\0", "\x1f", " "];

describe("the key of what is shared", () => {
  it("T-ISO-05: is another for every other tuple of credential, path, query and fields", { timeout: 600_000 }, () => {
    const tuples = scale(20_000, 1_000_000);
    const random = randomOf(seedOf("T-ISO-05"));
    const text = (most: number) =>
      Array.from(
        { length: Math.floor(random() * (most + 1)) },
        () => CHARACTERS[Math.floor(random() * CHARACTERS.length)],
      ).join("");
    const token = () => `a${text(3).replace(/[^ab.]/g, "-")}`;
    const meanings = new Map<string, string>();
    let distinct = 0;
    let collisions = 0;
    for (let nth = 0; nth < tuples; nth++) {
      const [who, path, query, accept, language, cookie] = [token(), text(3), text(3), text(2), text(2), text(2)];
      const headers = [
        ["authorization", `Bearer ${who}`],
        ["accept", accept],
        ["accept-language", language],
        ["cookie", cookie],
      ] as const;
      const credential = credentialOf(headers, OPTIONS.secret);
      if (credential === undefined) throw new Error(`no credential: ${who}`);
      const key = keyOf({ method: "GET", target: `/${path}?${query}`, headers }, credential, OPTIONS);
      const meaning = JSON.stringify([who, path, query, accept, language, cookie]);
      const before = meanings.get(key);
      if (before === undefined) distinct++;
      else if (before !== meaning) collisions++;
      meanings.set(key, meaning);
    }
    expect(collisions).toBe(0);
    expect(distinct).toBeGreaterThan(tuples / 3);
    figure("T-ISO-05", "random tuples made into keys, separators included", tuples, "tuples");
    figure("T-ISO-05", "keys that two different tuples shared", collisions, "keys");
  });
});

describe("an answer to a v1 client", () => {
  it("T-ISO-12: says that no cache may keep it, whatever was asked and whatever became of it", async () => {
    const rig = await rigForTest({ flags: { listsShareCollapse: "true", listsShareSeconds: "5s" } });
    const { someGroup, rootGroup, emptyGroup, identity, customRole, repo } = rig.sandbox.wellKnown;
    const asked: readonly (readonly [method: string, target: string, body?: object])[] = [
      ...["iam/v1/groups", "iam/v1/identities", "iam/v1/roles", "iam/v1/rolebindings", "iam/v1/identityProviders"].map(
        (path) => ["GET", `/${path}`] as const,
      ),
      ...[
        "iam/v1/account_associations",
        "iam/v1/group_invites",
        "registry/v1/repos",
        "registry/v1/tags",
        "vulnerabilities/v1/advisories",
      ].map((path) => ["GET", `/${path}`] as const),
      // The second time out of what was kept.
      ["GET", "/iam/v1/groups"],
      ["GET", `/iam/v1/groups/${someGroup}`],
      ["GET", `/iam/v1/groups?id=${identity}`],
      ["GET", "/iam/v1/groups/none"],
      ["PUT", `/iam/v1/roles/${customRole}`, { name: "r" }],
      ["PUT", `/iam/v1/roles/${customRole}`, { name: 7 }],
      ["POST", `/iam/v1/groups/${rootGroup}`, { name: "n" }],
      ["DELETE", `/iam/v1/groups/${emptyGroup}`],
      ["GET", `/registry/v1/repos/${repo}`],
      ["HEAD", "/iam/v1/groups"],
      ["GET", "/nowhere"],
    ];
    for (const as of ["admin", "nobody", null]) {
      for (const [method, target, body] of asked) {
        const { headers, status } = await rig.ask(method, target, { as, ...(body === undefined ? {} : { body }) });
        const all = (name: string) =>
          headers
            .filter(([key]) => key === name)
            .map(([, value]) => value)
            .join(",")
            .toLowerCase();
        const what = `${as} ${method} ${target}: ${status}`;
        expect([what, all("cache-control")]).toEqual([what, "private, no-store"]);
        expect([what, all("vary").split(/, */)]).toEqual([what, expect.arrayContaining(["authorization"])]);
        expect([what, all("etag"), all("last-modified"), all("expires")]).toEqual([what, "", "", ""]);
      }
    }
    figure("T-ISO-12", "v1 answers looked at for their Cache-Control and Vary", 3 * asked.length, "answers");
  });
});
