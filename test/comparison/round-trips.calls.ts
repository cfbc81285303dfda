/** What becomes of records that a v1 client reads and writes back as they are? */
import { type JsonObject, member } from "../../src/model/json.ts";
import { at, type Call, get, many, put, rootId, type Scenario, type Seen, without } from "./call.ts";

/** What a record is written at: its id, or its group where v1 has no id. */
const idOf = (record: JsonObject): string => String(record["id"] ?? record["group"]);

/** The record of this number, by id, in the list of all; the last one again when there are fewer. */
const numbered =
  (index: number) =>
  (seen: Seen): JsonObject => {
    const items = (member(seen.answer("all"), "items") as JsonObject[]).toSorted((a, b) =>
      idOf(a) < idOf(b) ? -1 : 1,
    );
    return items[Math.min(index, items.length - 1)] ?? {};
  };

/** Every `step`th record of the list is written back; nothing of it may change but the time of the change. */
function roundTrip(name: string, collection: string, list: Call["path"], count: number, step: number): Scenario {
  return {
    name: `${name} read and written back`,
    calls: [
      get("all", list, { items: "some" }),
      many("each", count, (index) =>
        put(
          `number ${index}`,
          (seen) => `${collection}/${idOf(numbered(index * step)(seen))}`,
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
