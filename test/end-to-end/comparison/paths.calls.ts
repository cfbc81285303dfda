/** v1 calls with wrong or unusual paths and queries. */
import { type Call, del, get, post, put, type Scenario, small } from "./call.ts";
import { MISSING } from "./words.ts";

const COLLECTIONS = [
  "/iam/v1/groups",
  "/iam/v1/identities",
  "/iam/v1/roles",
  "/iam/v1/rolebindings",
  "/iam/v1/identityProviders",
  "/iam/v1/account_associations",
  "/iam/v1/group_invites",
  "/registry/v1/repos",
  "/registry/v1/tags",
];
/** v1 creates something at these bare paths; the one of identities is another operation. */
const WITHOUT_PARENT = ["/iam/v1/groups", "/iam/v1/identities"];
/** Removing what is not there is no error here; whether a removal of nothing is one is not stated. */
const WITHOUT_COMPLAINT = ["/iam/v1/rolebindings", "/iam/v1/account_associations"];

/** An invite cannot be replaced; an association is named by its group, which is a scenario of its own. */
const NOT_REPLACED = ["/iam/v1/group_invites", "/iam/v1/account_associations"];

const queries = (path: string): readonly Call[] => [
  get("a semicolon", `${path}?id=a;id=b`, 400),
  get("an escape that is none", `${path}?name=%zz`, 400),
  get("an escape that is cut off", `${path}?name=%4`, 400),
  get("bytes that are no UTF-8", `${path}?id=%C3%28`, 400),
  get("empty pairs", `${path}?&&&`),
  get("a name without a value", `${path}?id`),
  get("a value without a name", `${path}?=x`),
  get("a question mark alone", `${path}?`),
  get("an id that is no uid", `${path}?id=${encodeURIComponent("../groups")}`, { as: "powerless" }),
];

export const pathScenarios: readonly Scenario[] = [
  ...[...COLLECTIONS, "/vulnerabilities/v1/advisories"].map((path) => ({
    name: `odd queries of ${path}`,
    organisation: false as const,
    // An association is asked for by its group, not by an id.
    calls: queries(path).map((call) => (path.includes("advisories") ? { ...call, ordered: true as const } : call)),
  })),
  {
    name: "writes without a uid",
    organisation: false,
    calls: COLLECTIONS.flatMap((path) => [
      ...(NOT_REPLACED.includes(path) ? [] : [put(`${path} none`, path, { name: "x" }, 400)]),
      ...(WITHOUT_COMPLAINT.includes(path) ? [] : [del(`${path} none`, path, 400)]),
      ...(WITHOUT_PARENT.includes(path) ? [] : [post(`${path} none`, path, { name: "x" }, 400)]),
    ]),
  },
  small("replacing an association of no group", [
    put("none", "/iam/v1/account_associations", { name: "x" }, 400, { field: "group" }),
  ]),
  small("uids that look like something else", [
    del("a lookup", "/iam/v1/identities/lookup", 404),
    put("metadata", "/iam/v1/identities/metadata", { name: "x", claimMatch: { issuer: "i", subject: "s" } }, 404),
    del("a batch", `/iam/v1/rolebindings/batch/${MISSING}`, { shows: {} }),
  ]),
];
