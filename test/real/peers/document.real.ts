import { resolve } from "node:path";
import { expect, it } from "vitest";
import { type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { campaign } from "./schemathesis.ts";

takeDownAfterEach();

const DOCUMENT = resolve(import.meta.dirname, "../../../docs/openapi.yaml");
const SEED = Number(process.env["PEERS_SEED"] ?? 20_261_122);
/** Requests made up for each operation, beside those of the coverage phase, which are most of all. */
const EXAMPLES = Number(process.env["PEERS_EXAMPLES"] ?? 3);

const COLLECTIONS: readonly string[] = [
  "/iam/v1/account_associations",
  "/vulnerabilities/v1/advisories",
  "/iam/v1/groups",
  "/iam/v1/group_invites",
  "/iam/v1/identities",
  "/iam/v1/identityProviders",
  "/registry/v1/repos",
  "/iam/v1/roles",
  "/iam/v1/rolebindings",
  "/registry/v1/tags",
];

/**
 * All checks of schemathesis, but: 501 is the gateway's answer to a method that is not served (so 405 is not asked for). A
 * body that cannot be read is 400 also without a token, as the gateway decodes before it authenticates; that no request is
 * served without one, `ignored_auth` checks. 400 for a valid body is the platform's right: names, references and the like
 * have rules that no schema says. Asking for access finds only groups of the caller's own mail domain.
 */
const CONFIG = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
[checks.unsupported_method]
enabled = false
[checks.missing_required_header]
enabled = false
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 412]
[phases.coverage]
unexpected-methods = ["TRACE"]
[phases.stateful]
max-steps = 4
[[operations]]
include-path = "/iam/v1/groups/{uid}:requestGroupAccess"
checks = { ensure_resource_availability = { enabled = false } }
`;

it("T-SMG-31: schemathesis finds no 5xx in v1 and no answer outside the OpenAPI document", {
  timeout: 1_200_000,
}, async () => {
  // Without native v1: the document says what carryover serves itself.
  const rig = await rigForTest({ native: false });
  const outcome = await campaign({
    document: DOCUMENT,
    url: rig.url,
    token: rig.sandbox.token("admin"),
    known: await known(rig),
    config: CONFIG,
    seed: SEED,
    examples: EXAMPLES,
  });
  console.log(`schemathesis with seed ${SEED}\n${outcome.said}`);
  expect(outcome.failures, outcome.said).toEqual([]);
  expect(outcome.code, outcome.said).toBe(0);

  const served = rig.exchanges.filter(({ status }) => status !== undefined && status < 300).length;
  // Else nothing was tried: every operation, and records that exist.
  expect(outcome.tested).toBe(outcome.operations);
  expect(outcome.cases).toBeGreaterThan(2_000);
  expect(served).toBeGreaterThan(500);
  figure("T-SMG-31", "operations of the OpenAPI document that schemathesis tried", outcome.tested, "operations");
  figure("T-SMG-31", "requests that schemathesis made of the OpenAPI document", outcome.cases, "requests");
  figure("T-SMG-31", "failures that schemathesis found in them", outcome.failures.length, "failures");
});

/** Uids of each collection that v1 lists, and of groups for those that need a parent. */
async function known(rig: Rig): Promise<Map<string, string[]>> {
  const groups = await listed(rig, "/iam/v1/groups");
  const uids = new Map<string, string[]>();
  for (const collection of COLLECTIONS) {
    uids.set(collection, [...(await listed(rig, collection)), ...groups.slice(0, 5)]);
  }
  return uids;
}

async function listed(rig: Rig, target: string): Promise<string[]> {
  const { status, json } = await rig.ask("GET", target);
  expect(status).toBe(200);
  return json.items.slice(0, 30).map((item: { id?: string; group?: string }) => item.id ?? item.group ?? "");
}
