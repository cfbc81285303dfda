/** v1 calls that read records and write them back unchanged. */
import { at, type Call, get, many, put, rootId, type Scenario, without } from "./call.ts";
import { numbered, uidOf } from "./words.ts";

/** Every `step`th record of the list is written back; nothing of it may change but the time of the change. */
function roundTrip(name: string, collection: string, list: Call["path"], count: number, step: number): Scenario {
  return {
    name: `${name} read and written back`,
    calls: [
      get("all", list, { items: "some" }),
      many("each", count, (index) =>
        put(
          `number ${index}`,
          (seen) => `${collection}/${uidOf(numbered(index * step)(seen))}`,
          numbered(index * step),
          { shows: (seen) => without(numbered(index * step)(seen), "updatedAt", "lastUpdated") },
        ),
      ),
      get("all afterwards", list, { items: "some" }),
    ],
  };
}

export const roundTripScenarios: readonly Scenario[] = [
  roundTrip("groups", "/iam/v1/groups", "/iam/v1/groups", 20, 53),
  roundTrip("identities", "/iam/v1/identities", "/iam/v1/identities", 25, 12),
  roundTrip("roles", "/iam/v1/roles", at("/iam/v1/roles?uidp.descendants_of=", rootId), 20, 1),
  roundTrip("account associations", "/iam/v1/account_associations", "/iam/v1/account_associations", 15, 1),
  roundTrip("tags", "/registry/v1/tags", "/registry/v1/tags", 20, 30),
];
