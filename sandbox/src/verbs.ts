/** Which custom verbs are the same in both faces but for a name or two? (Field map 1.I.) */

import { type Caller, needWrite } from "./auth/caller.ts";
import type { Context } from "./context.ts";
import type { Route } from "./gateway/route.ts";
import { type JsonObject, member } from "./json.ts";
import { invalid, RpcCode, refuse } from "./refusal.ts";
import { identityProviders } from "./resources/identity-providers.ts";
import { generateToken, regenerateToken, revokeToken, setEnabled } from "./resources/scim.ts";
import { readable } from "./resources/writes.ts";
import type { StoredRecord } from "./store/collection.ts";
import { viewGroup } from "./v1/groups.ts";
import { decodeMessage } from "./wire/decode.ts";
import { encodeMessage } from "./wire/encode.ts";
import { bodyText, parseFirst } from "./wire/parse.ts";
import type { Schema } from "./wire/schema.ts";
import { V2 } from "./wire/schemas.ts";

/** What the two faces call things. */
interface FaceWords {
  readonly schema: Schema;
  readonly version: string;
  readonly providerKey: string;
  /** Field names in errors that differ from v2's. */
  readonly names: ReadonlyMap<string, string>;
  readonly omitZeros: boolean;
  readonly group: (record: StoredRecord) => JsonObject;
}

const V1_NAMES: ReadonlyMap<string, string> = new Map([
  ["uid", "id"],
  ["groupUid", "groupId"],
]);

const SCIM_VERBS = [
  ["generateScimToken", "GenerateScimToken", generateToken],
  ["regenerateScimToken", "RegenerateScimToken", regenerateToken],
  ["revokeScimToken", "RevokeScimToken", revokeToken],
  ["setScimEnabled", "SetScimEnabled", setEnabled],
] as const;

/** The verbs of identity providers and of the collection of groups, for both faces. */
export function verbRoutes(context: Context): readonly Route[] {
  const { version, omitZeros } = context.settings;
  const faces: readonly FaceWords[] = [
    {
      schema: context.v1,
      version: "v1",
      providerKey: "identityProviderId",
      names: V1_NAMES,
      omitZeros: false,
      group: viewGroup,
    },
    {
      schema: V2,
      version,
      providerKey: "identityProviderUid",
      names: new Map(),
      omitZeros,
      group: (record) => record.value,
    },
  ];
  return faces.flatMap((face) => [
    ...scimRoutes(context, face),
    ...groupVerbs(context, face),
    accessRequest(context, face),
  ]);
}

function scimRoutes(context: Context, face: FaceWords): readonly Route[] {
  return SCIM_VERBS.map(([word, message, run]) => ({
    method: "POST",
    domain: "iam",
    version: face.version,
    collection: "identityProviders",
    shape: "verb",
    word,
    names: face.names,
    prepare(call) {
      const node = parseFirst(bodyText(call.body)) ?? { kind: "object", members: [] };
      const given = decodeMessage(face.schema, face.schema.message(`${message}Request`), node);
      return (caller) => {
        needWrite(caller, call.tail);
        const provider = readable(context, identityProviders, caller, call.tail);
        const answer = { ...run(context, provider, given), [face.providerKey]: call.tail };
        return encodeMessage(face.schema, face.schema.message(`${message}Response`), answer, face);
      };
    },
  }));
}

function groupVerbs(context: Context, face: FaceWords): readonly Route[] {
  const at = { method: "GET", domain: "iam", version: face.version, collection: "groups" };
  const write = (message: string, value: JsonObject) =>
    encodeMessage(face.schema, face.schema.message(message), value, face);
  return [
    {
      ...at,
      shape: "collectionVerb",
      word: "checkEligibility",
      prepare: () => (caller) => write("CheckEligibilityResponse", { eligible: caller.grants.length === 0 }),
    },
    {
      ...at,
      shape: "collectionVerb",
      word: "lookupGroup",
      prepare: () => (caller) => write("LookupGroupResponse", { group: face.group(groupOfDomain(context, caller)) }),
    },
  ];
}

/** `POST groups/{uid}:requestGroupAccess`: once per caller, and only for the group that `lookupGroup` shows them. */
function accessRequest(context: Context, face: FaceWords): Route {
  return {
    method: "POST",
    domain: "iam",
    version: face.version,
    collection: "groups",
    shape: "verb",
    word: "requestGroupAccess",
    names: face.names,
    prepare(call) {
      const node = parseFirst(bodyText(call.body)) ?? { kind: "object", members: [] };
      decodeMessage(face.schema, face.schema.message("RequestGroupAccessRequest"), node);
      return (caller) => {
        if (call.tail === "") throw invalid("groupUid", "a group is required");
        const { uid } = groupOfDomain(context, caller);
        if (uid !== call.tail) throw refuse(RpcCode.NOT_FOUND, "Not found: no group for this caller");
        const key = JSON.stringify([uid, caller.subject]);
        if (context.store.accessRequests.has(key)) {
          throw refuse(RpcCode.RESOURCE_EXHAUSTED, "Resource exhausted: access was requested already");
        }
        context.store.accessRequests.set(key, { uid, subject: caller.subject });
        return encodeMessage(face.schema, face.schema.message("RequestGroupAccessResponse"), {}, face);
      };
    },
  };
}

/** The verified root group that carries the caller's mail domain as its name. Throws 404, whatever the reason. */
function groupOfDomain(context: Context, caller: Caller): StoredRecord {
  const groups = context.store.collection("groups");
  const identity = context.store.collection("identities").get(caller.subject);
  const [, domain = ""] = String(member(identity?.value, "email") ?? "").split("@");
  for (const uid of groups.children("")) {
    const record = groups.get(uid);
    if (record?.value["verified"] === true && record.value["name"] === domain) return record;
  }
  throw refuse(RpcCode.NOT_FOUND, "Not found: no group for this caller");
}
