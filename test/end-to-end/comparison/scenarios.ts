/** All scenarios of the comparison. */
import { accountAssociationScenarios } from "./account-associations.calls.ts";
import { advisoryScenarios } from "./advisories.calls.ts";
import { advisoryEventScenarios } from "./advisory-events.calls.ts";
import { batchScenarios } from "./batch.calls.ts";
import { callsOf, type Scenario } from "./call.ts";
import { enumScenarios } from "./enums.calls.ts";
import { groupInviteScenarios } from "./group-invites.calls.ts";
import { readingGroups } from "./groups-read.calls.ts";
import { writingGroups } from "./groups-write.calls.ts";
import { identityScenarios } from "./identities.calls.ts";
import { identityMetadataScenarios } from "./identity-metadata.calls.ts";
import { identityProviderScenarios } from "./identity-providers.calls.ts";
import { lookupScenarios } from "./lookups.calls.ts";
import { moreLists } from "./more-lists.calls.ts";
import { otherLists } from "./other-lists.calls.ts";
import { pathScenarios } from "./paths.calls.ts";
import { readingRepos } from "./repos-read.calls.ts";
import { writingRepos } from "./repos-write.calls.ts";
import { roleBindingScenarios } from "./role-bindings.calls.ts";
import { roleScenarios } from "./roles.calls.ts";
import { roundTripScenarios } from "./round-trips.calls.ts";
import { scimScenarios } from "./scim.calls.ts";
import { tagScenarios } from "./tags.calls.ts";
import { textScenarios } from "./texts.calls.ts";

/** Those of groups, which are run against every kind of upstream. */
export const groupScenarios: readonly Scenario[] = [...readingGroups, ...writingGroups];

/** Those of everything else. */
export const otherScenarios: readonly Scenario[] = [
  ...identityScenarios,
  ...roleScenarios,
  ...roleBindingScenarios,
  ...otherLists,
  ...advisoryScenarios,
  ...identityProviderScenarios,
  ...scimScenarios,
  ...accountAssociationScenarios,
  ...groupInviteScenarios,
  ...batchScenarios,
  ...readingRepos,
  ...writingRepos,
  ...tagScenarios,
  ...lookupScenarios,
  ...identityMetadataScenarios,
  ...advisoryEventScenarios,
  ...enumScenarios,
  ...roundTripScenarios,
  ...pathScenarios,
  ...moreLists,
  ...textScenarios,
];

export const scenarios: readonly Scenario[] = [...groupScenarios, ...otherScenarios];

/** Scenarios that write hundreds of records: through the whole program they are tried in `npm run test:all` alone. */
export function isLong(scenario: Scenario): boolean {
  return callsOf(scenario).length > 100;
}
