/** Which further records show every form that a kind of record can have? Drawn from a source of their own: no other uid moves. */
import type { SandboxSettings } from "../options.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { SeededRoles } from "./access.ts";
import { createBuilder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";
import { seedAllAccess } from "./more-access.ts";
import { fullAdvisories } from "./more-advisories.ts";
import { fullAssociation, moreInvites, scimProviders } from "./more-connections.ts";
import { fullRegistry } from "./more-registry.ts";
import { createRandom } from "./prng.ts";

type Records = readonly StoredRecord[];

/** What `seedMore` made, by collection, and whom to name. */
export interface MoreRecords {
  readonly roles: Records;
  readonly identities: Records;
  readonly roleBindings: Records;
  readonly identityProviders: Records;
  readonly accountAssociations: Records;
  readonly groupInvites: Records;
  readonly repos: Records;
  readonly tags: Records;
  readonly advisories: Records;
}

/** The further records of the seeded organisation. */
export function seedMore(
  settings: Pick<SandboxSettings, "seed" | "beyondV2">,
  groups: SeededGroups,
  roles: SeededRoles,
): MoreRecords {
  const build = createBuilder(createRandom(`more of ${settings.seed}`));
  return {
    ...seedAllAccess(build, groups, roles.builtIn.get("owner") ?? ""),
    identityProviders: scimProviders(build, groups, roles),
    accountAssociations: [fullAssociation(build, groups)],
    groupInvites: moreInvites(build, groups, roles),
    ...fullRegistry(build, groups, settings.beyondV2),
    advisories: fullAdvisories(build, groups),
  };
}
