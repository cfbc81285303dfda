/** A small catalogue for the tests of the router. (Written by hand from the specification, not the real one.) */
import type { NativeDomain, Operation, Resource, Shape } from "../../src/model/resource.ts";

const shape: Shape = { rows: [], v2Only: [] };
const list: Operation = { kind: "list", name: "list", answer: shape, filters: [] };
const get: Operation = { kind: "get", name: "get", answer: shape, extension: true };
const create: Operation = { kind: "create", name: "create", body: shape, answer: shape };
const createRoot: Operation = { kind: "create", name: "create", body: shape, answer: shape, emptyParent: true };
const update: Operation = { kind: "update", name: "update", body: shape, answer: shape };
const remove: Operation = { kind: "delete", name: "delete" };

function native(method: string, path: string, name: string): Operation {
  return { kind: "native", name, method, path };
}

function resource(
  name: string,
  domain: Resource["domain"],
  v1: string,
  v2: string,
  operations: readonly Operation[],
): Resource {
  return { name, domain, v1, v2, items: v2, key: "id", list: "drain", orderedByUid: true, operations };
}

export const RESOURCES: readonly Resource[] = [
  resource("group", "iam", "groups", "groups", [
    list,
    get,
    createRoot,
    update,
    remove,
    native("POST", "groups/{group_id=**}:requestGroupAccess", "requestGroupAccess"),
    native("GET", "groups:lookupGroup", "lookupGroup"),
  ]),
  resource("identity", "iam", "identities", "identities", [
    list,
    get,
    create,
    update,
    remove,
    native("POST", "identities", "createRoot"),
    native("GET", "identities/lookup", "lookup"),
    native("PATCH", "identities/metadata", "updateMetadata"),
  ]),
  resource("role-binding", "iam", "rolebindings", "roleBindings", [
    list,
    get,
    create,
    update,
    remove,
    native("POST", "rolebindings/batch/{parent=**}", "batchCreate"),
  ]),
  resource("group-invite", "iam", "group_invites", "groupInvites", [list, get, create, remove]),
  resource("account-association", "iam", "account_associations", "accountAssociations", [
    list,
    get,
    create,
    update,
    remove,
    native("POST", "account_associations/{group=**}:check", "check"),
  ]),
  resource("repo", "registry", "repos", "repos", [
    list,
    get,
    create,
    update,
    remove,
    native("GET", "repos/{repo_id=**}/digests/{digest=*}/architectures", "listArchitectures"),
    native("GET", "repos/{repo_id=**}/digests/{digest=*}/size", "getSize"),
  ]),
  resource("tag", "registry", "tags", "tags", [
    list,
    get,
    create,
    remove,
    native("PUT", "tags/{id=**}", "update"),
    native("GET", "tags/{parent_id=**}/history", "listHistory"),
  ]),
  resource("advisory", "vulnerabilities", "advisories", "advisories", [
    list,
    get,
    native("DELETE", "advisories/{id=**}", "delete"),
  ]),
];

export const NATIVES: readonly NativeDomain[] = [
  { domain: "iam", operations: [{ resource: "terms", name: "list", method: "GET", path: "terms/{group=**}" }] },
  {
    domain: "registry",
    operations: [
      { resource: "entitlement", name: "list", method: "GET", path: "entitlements/{parent=**}" },
      { resource: "chart", name: "find", method: "GET", path: "charts:find" },
      { resource: "version", name: "list", method: "GET", path: "versions/{package=**}" },
    ],
  },
  {
    domain: "libraries",
    operations: [
      { resource: "artifact", name: "list", method: "GET", path: "artifacts" },
      { resource: "artifact", name: "count", method: "GET", path: "artifacts/count" },
    ],
  },
  { domain: "ping", operations: [{ resource: "ping", name: "ping", method: "GET", path: "ping" }] },
];

export const ROOT = "0123456789abcdef0123456789abcdef01234567";
export const CHILD = `${ROOT}/0123456789abcdef`;
