import { describe, expect, it } from "vitest";
import { mutantsOf } from "../mutation/mutants.ts";
import { sharedCatalogue } from "../support/shared.ts";
import { takeDownAfterAll } from "../support/take-down.ts";
import { type ReplayRig, replayed, replayRig, v1Reads } from "./rig.ts";

takeDownAfterAll();

const catalogue = await sharedCatalogue("v2beta1");
const mutants = new Map([...mutantsOf(catalogue)].map((mutant) => [mutant.name, mutant]));

describe("a replay finds the field of a planted mistake of the catalogue:", () => {
  let rig: Promise<ReplayRig> | undefined;
  it.each([
    ["group: list: name: v2 renamed", "group list value items[].name"],
    ["group: list: description: v1 renamed", "group list missing items[].description"],
    ["group: list: verified: v2 renamed", "group list value items[].verified"],
    ["group: list: resourceLimits: v1 renamed", "group list missing items[].resourceLimits"],
    ["identity: list: id: v2 renamed", "identity list missing items[]"],
    [
      "identity-provider: list: join scim: into another member",
      "identity-provider list missing items[].scim.tokenExpireTime",
    ],
    ["account-association: list: amazon: v2 renamed", "account-association list missing items[].amazon"],
    ["group-invite: list: expiration: v2 renamed", "group-invite list missing items[].expiration"],
    [
      "group-invite: list: role: capabilities: capability: groups.list v2 renamed",
      "role list value items[].capabilities[]",
    ],
    ["role-binding: list: group: v1 renamed", "role-binding list missing items[].group"],
    ["role-binding: list: join role: by another uid", "role-binding list missing items[].role"],
    ["role: names: items renamed", "role list status status"],
    ["role: list: filter parent: taken away", "role list extra items[]"],
    ["repo: list: catalogTier: v2 renamed", "repo list value items[].catalogTier"],
    ["repo: list: join readme: take another member", "repo list value items[].readme"],
    ["repo: list: sync_config: v1 renamed", "repo list missing items[].sync_config"],
    ["tag: list: digest: v2 renamed", "tag list value items[].digest"],
    ["tag: summarise: lastUpdated: v1 renamed", "tag summarise missing lastUpdated"],
    ["repo: get-size: another v2 path", "repo get-size status status"],
    ["repo: list-architectures: archs: v1 renamed", "repo list-architectures missing archs"],
    ["advisory: list: events: timestamp: v2 renamed", "advisory list missing items[].events[].timestamp"],
    ["advisory: list-events: items: v1 renamed", "advisory list-events missing items"],
  ])("%s", async (name, place) => {
    rig ??= replayRig();
    const platform = await rig;
    const mutant = mutants.get(name);
    if (mutant === undefined) throw new Error(`there is no such mistake: ${name}`);
    const { differences } = await replayed(platform, v1Reads(platform.sandbox), { catalogue: mutant.make() });
    expect(differences.map((one) => `${one.resource} ${one.operation} ${one.class} ${one.path}`)).toContain(place);
  });
});
