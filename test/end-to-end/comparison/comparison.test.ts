/**
 * Compares native v1 with carryover over v2. The calls are written by hand from the references. After each call the
 * responses and both stores are compared. There is no list of exceptions.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { frontOf } from "../../support/front.ts";
import { inMemory, startWhole } from "./harness.ts";
import { expectNone, type Recording, record, replay } from "./replay.ts";
import { isLong, scenarios } from "./scenarios.ts";

let whole: Awaited<ReturnType<typeof startWhole>>;
beforeAll(async () => {
  whole = await startWhole();
});
afterAll(() => whole.close());
const translated = inMemory(frontOf(await loadCatalogue("v2beta1")));
/** Method and path of what native v1 did as asked. */
const done = new Set<string>();

// The calls of a scenario build on each other: the first that fails explains the rest.
describe("TRAP-04, TRAP-05, TRAP-17, TRAP-18, TRAP-20, TRAP-22, TRAP-23, TRAP-24, TRAP-25, TRAP-32, TRAP-37, TRAP-38, TRAP-41, TRAP-42, TRAP-49, TRAP-55, TRAP-63: a v1 client cannot tell them apart", () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    const recording = await record(scenario);
    expectNone("native v1 against the references", disappointmentsOf(recording));
    expectNone("v2 as specified", await replay(recording, isLong(scenario) ? translated : whole.front));
    expectNone("v2 leaves zeros out", await replay(recording, translated, { omitZeros: true }));
    for (const { call, path, answer } of recording.calls)
      if (answer.status === 200) done.add(`${call.method} ${path.replaceAll(/%2f/gi, "/")}`);
  });
});

function disappointmentsOf({ calls }: Recording): string[] {
  return calls.flatMap(({ call, disappointments }) => disappointments.map((line) => `${call.name}: ${line}`));
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

test("every operation is done by some call", () => {
  const missing = OPERATIONS.filter((operation) => ![...done].some((one) => new RegExp(`^${operation}$`).test(one)));
  expect(missing).toEqual([]);
});
