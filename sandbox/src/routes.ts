/** All operations of the platform. */
import { type Caller, type Context, needWrite } from "./context.ts";
import { type V1Face, v1Routes } from "./faces/v1.ts";
import { type V2Face, v2Routes } from "./faces/v2.ts";
import type { Route } from "./gateway/route.ts";
import { type JsonObject, member } from "./json.ts";
import { invalid, RpcCode, refuse } from "./refusal.ts";
import {
  accountAssociationsV1,
  accountAssociationsV2,
  checkAssociationV1,
  checkAssociationV2,
} from "./resources/account-associations.ts";
import { advisoriesV1, advisoriesV2 } from "./resources/advisories.ts";
import { groupInvitesV1, groupInvitesV2 } from "./resources/group-invites.ts";
import { groupsV1, groupsV2, viewGroup } from "./resources/groups.ts";
import { identitiesV1, identitiesV2, lookupIdentityV1, lookupIdentityV2 } from "./resources/identities.ts";
import { identityMetadataV1, identityMetadataV2 } from "./resources/identity-metadata.ts";
import {
  generateToken,
  identityProviders,
  identityProvidersV1,
  identityProvidersV2,
  regenerateToken,
  revokeToken,
  setEnabled,
} from "./resources/identity-providers.ts";
import { imagesV1, imagesV2 } from "./resources/images.ts";
import { readmeRoutes, reposV1, reposV2 } from "./resources/repos.ts";
import { readable } from "./resources/resource.ts";
import { batchCreateV1, batchCreateV2, roleBindingsV1, roleBindingsV2 } from "./resources/role-bindings.ts";
import { rolesV1, rolesV2 } from "./resources/roles.ts";
import { tagsV1, tagsV2 } from "./resources/tags.ts";
import type { StoredRecord } from "./store/collection.ts";
import { decodeMessage } from "./wire/decode.ts";
import { encodeMessage } from "./wire/encode.ts";
import { bodyText, parseFirst } from "./wire/parse.ts";
import { type Schema, V2 } from "./wire/schema.ts";

const V1_FACES: readonly V1Face[] = [
  groupsV1,
  identitiesV1,
  rolesV1,
  roleBindingsV1,
  identityProvidersV1,
  accountAssociationsV1,
  groupInvitesV1,
  reposV1,
  tagsV1,
];
const V2_FACES: readonly V2Face[] = [
  groupsV2,
  identitiesV2,
  rolesV2,
  roleBindingsV2,
  identityProvidersV2,
  accountAssociationsV2,
  groupInvitesV2,
  reposV2,
  tagsV2,
  advisoriesV2,
];

/** Every route of both faces. */
export function allRoutes(context: Context): readonly Route[] {
  return [
    ...V1_FACES.flatMap((face) => v1Routes(context, face)),
    ...V2_FACES.flatMap((face) => v2Routes(context, face)).filter((route) => !isShadowed(context, route)),
    lookupIdentityV1(context),
    lookupIdentityV2(context),
    identityMetadataV1(context),
    identityMetadataV2(context),
    batchCreateV1(context),
    batchCreateV2(context),
    checkAssociationV1(context),
    checkAssociationV2(context),
    ...readmeRoutes(context),
    ...imagesV1(context),
    ...imagesV2(context),
    ...advisoriesV1(context),
    ...verbRoutes(context),
  ];
}

/** In the generated order of the public gateway the list of identity providers cannot be reached. */
function isShadowed(context: Context, route: Route): boolean {
  return (
    context.settings.shadowedProviderList && route.collection === "identityProviders" && route.shape === "collection"
  );
}

// Custom verbs that differ between v1 and v2 in a name or two only.

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
