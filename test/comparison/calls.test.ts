/** Do the calls of the comparison do what their names say, before anything translates them? And is there one for each operation? */

import { describe, expect, test } from "vitest";
import { directly } from "./harness.ts";
import { compareScenario, startTally } from "./run.ts";
import { groupScenarios, otherScenarios } from "./scenarios.ts";

const untranslated = { name: "untranslated", second: {} };
const tally = startTally("native v1 with itself");

for (const scenario of [...groupScenarios, ...otherScenarios]) {
  compareScenario(directly, untranslated, scenario, tally);
}

const ID = "[0-9a-f]{40}(/[0-9a-f]{16})*";
/** Every operation that v1 has of the ten resources and that v2 can serve, in one call or several. */
const OPERATIONS: readonly string[] = [
  "GET /iam/v1/groups",
  `POST /iam/v1/groups/?`,
  ...["POST", "PUT", "DELETE"].map((method) => `${method} /iam/v1/groups/${ID}`),
  "GET /iam/v1/groups:(lookupGroup)",
  "GET /iam/v1/groups:(checkEligibility)",
  `POST /iam/v1/groups/${ID}:requestGroupAccess`,
  ...["identities", "roles", "rolebindings", "identityProviders", "account_associations"].flatMap((collection) => [
    `GET /iam/v1/${collection}`,
    ...["POST", "PUT", "DELETE"].map((method) => `${method} /iam/v1/${collection}/${ID}`),
  ]),
  "GET /iam/v1/identities/lookup",
  "PATCH /iam/v1/identities/metadata",
  `POST /iam/v1/rolebindings/batch/${ID}`,
  ...["generateScimToken", "regenerateScimToken", "revokeScimToken", "setScimEnabled"].map(
    (verb) => `POST /iam/v1/identityProviders/${ID}:${verb}`,
  ),
  `POST /iam/v1/account_associations/${ID}:check`,
  "GET /iam/v1/group_invites",
  ...["POST", "DELETE"].map((method) => `${method} /iam/v1/group_invites/${ID}`),
  ...["repos", "tags"].flatMap((collection) => [
    `GET /registry/v1/${collection}`,
    ...["POST", "PUT", "DELETE"].map((method) => `${method} /registry/v1/${collection}/${ID}`),
  ]),
  ...["architectures", "size"].map((what) => `GET /registry/v1/repos/${ID}/digests/sha256(:|%3A)[0-9a-f]{64}/${what}`),
  `GET /registry/v1/repotagssummary/${ID}`,
  "GET /vulnerabilities/v1/advisories",
  `GET /vulnerabilities/v1/advisories/${ID}/events`,
];

describe("of every operation there is a call that does it", () => {
  test.each(OPERATIONS)("%s", (operation) => {
    const wanted = new RegExp(`^${operation}$`);
    expect([...tally.done].some((one) => wanted.test(one))).toBe(true);
  });
});
