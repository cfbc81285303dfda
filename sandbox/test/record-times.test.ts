/** Which records of native v1 show their times. */
import { expect, test } from "vitest";
import type { RecordTimes } from "../src/options.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const BOTH = ["createdAt", "updatedAt"];

/** Where in a value `createdAt` or `updatedAt` occurs; the customer's own maps aside. */
function timesIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => timesIn(item, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (BOTH.includes(key)) return [`${path}${key}`];
    return /^(?:claims|claimPatterns|clientIds|environment|annotations)$/.test(key)
      ? []
      : timesIn(inner, `${path}${key}.`);
  });
}

async function timesOf(recordTimes: RecordTimes, target: (repo: string) => string): Promise<string[]> {
  const sandbox = seededSandbox({ recordTimes });
  const { json } = await ask(sandbox, "GET", target(sandbox.wellKnown.repo));
  return [...new Set(timesIn(json))];
}

const within = (place: string) => BOTH.map((key) => `${place}.${key}`);

test.each([
  ["/iam/v1/groups", within("items"), []],
  ["/iam/v1/identities", within("items"), within("items")],
  ["/iam/v1/roles", within("items"), []],
  ["/iam/v1/rolebindings", [...within("items.group"), ...within("items.role"), "items.createdAt"], ["items.createdAt"]],
  ["/iam/v1/identityProviders", within("items"), []],
  ["/iam/v1/account_associations", within("items"), []],
  ["/iam/v1/group_invites", ["items.createdAt"], ["items.createdAt"]],
  ["/registry/v1/repos", within("items"), []],
  ["/registry/v1/tags", ["items.updatedAt"], []],
  ["/registry/v1/repotagssummary/REPO", ["latestTag.updatedAt"], []],
  ["/vulnerabilities/v1/advisories", within("items"), within("items")],
])("%s: all %j, published %j", async (target, all, published) => {
  const at = (repo: string) => target.replace("REPO", repo);
  expect(await timesOf("all", at)).toEqual(all);
  expect(await timesOf("published", at)).toEqual(published);
});

test("a member that the published message lacks is ignored in requests, whatever its type is", async () => {
  const body = { name: "n", createdAt: "no time" };
  const statuses = (["all", "published"] as const).map(async (recordTimes) => {
    const sandbox = seededSandbox({ recordTimes });
    return (await ask(sandbox, "POST", `/iam/v1/groups/${sandbox.wellKnown.rootGroup}`, { body })).status;
  });
  expect(await Promise.all(statuses)).toEqual([200, 200]);
});
