/** How does v2 show identities? (Specification sections 2 and 4; field map 2.2 and 3.2.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { identities, RELATIONSHIPS, uidOfSubject } from "../resources/identities.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import { decodeQuery } from "../wire/query.ts";
import { V2 } from "../wire/schemas.ts";
import type { V2Face } from "./face.ts";

/** The members of the oneof by the number of their relationship type. */
const BY_TYPE: ReadonlyMap<number, string> = new Map([
  [1, "claimMatch"],
  [2, "staticKeys"],
  [3, "awsIdentity"],
  [4, "servicePrincipal"],
]);

function relationshipTest(request: JsonObject): readonly RecordTest[] {
  const wanted = BY_TYPE.get(Number(member(request, "relationshipType") ?? 0));
  return wanted === undefined ? [] : [(record) => member(record.value, wanted) !== undefined];
}

function needRelationship(value: JsonObject): void {
  if (!RELATIONSHIPS.some((name) => member(value, name) !== undefined)) {
    throw invalid("relationship", `exactly one of ${RELATIONSHIPS.join(", ")} is required`);
  }
}

export const identitiesV2: V2Face = {
  resource: identities,
  domain: "iam",
  collection: "identities",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListIdentitiesRequest",
  order: "uid",
  tests: (request) => [...nameTest(request), ...relationshipTest(request)],
  demand: (next, before) => {
    // A record that v1 left without a relationship can still be renamed.
    const had = before === undefined || RELATIONSHIPS.some((name) => member(before.value, name) !== undefined);
    if (had) needRelationship(next);
  },
};

/** `GET identities:lookupIdentity`: the uid that the subject has or would get; it never says "not found". */
export function lookupIdentityV2(context: Context): Route {
  return {
    method: "GET",
    domain: "iam",
    version: context.settings.version,
    collection: "identities",
    shape: "collectionVerb",
    word: "lookupIdentity",
    prepare(call) {
      const request = decodeQuery(V2, V2.message("LookupIdentityRequest"), call.query);
      return () => {
        const issuer = String(member(request, "issuer") ?? "");
        const subject = String(member(request, "subject") ?? "");
        if (issuer === "") throw invalid("issuer", "an issuer is required");
        if (subject === "") throw invalid("subject", "a subject is required");
        return JSON.stringify({ uid: uidOfSubject(context, issuer, subject) });
      };
    },
  };
}
