/** No response of v1 is left for a cache to keep. */
import { expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";

takeDownAfterEach();

it("T-ISO-12: every response of v1 says that no cache may keep it, whatever was asked and whatever became of it", async () => {
  const rig = await rigForTest();
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
