/** Which scenarios are there? */
import { accountAssociationScenarios } from "./account-associations.calls.ts";
import { advisoryScenarios } from "./advisories.calls.ts";
import { advisoryEventScenarios } from "./advisory-events.calls.ts";
import { batchScenarios } from "./batch.calls.ts";
import type { Scenario } from "./call.ts";
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

const others: readonly Scenario[] = [
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

/** What carryover does not answer as native v1 does yet. */
const PENDING: readonly string[] = [
  "account associations of a key that is no number",
  "lists of repos",
  "repos of the organisation, read and written back",
  "places of /registry/v1/repos",
  "creating repos that are there, where that is prevented",
  "replacing a tier by none, and aliases by the same in another order",
  "replacing repos by less than there is",
  "replacing the sync settings of repos by less than there is",
  "creating repos that are there, with less than there is",
  "identities that nobody has",
  "what somebody tells of themselves without an answer to any question",
  "events of an advisory that is not theirs",
  "replacing an association of no group",
  "uids that look like something else",
];
for (const name of PENDING) {
  if (!others.some((scenario) => scenario.name === name)) throw new Error(`there is no scenario ${name}`);
}

/** Those of everything else. */
export const otherScenarios: readonly Scenario[] = others.filter(({ name }) => !PENDING.includes(name));

/** Of these, native v1 alone is asked. */
export const newScenarios: readonly Scenario[] = others.filter(({ name }) => PENDING.includes(name));
