/** Examples of what v1 and v2 send: groups. */
import type { JsonObject } from "../../../model/json.ts";
import type { Example } from "../../../model/resource.ts";
import { CREATED, GROUP, ORG, UPDATED } from "../../example-values.ts";

const known = {
  name: "platform team",
  description: "keeps the lights on",
  resourceLimits: { clusters: 3, id: 1, repositories: 250 },
  verified: true,
  kind: "ORG_KIND_CUSTOMER",
  status: "ORG_STATUS_READY",
};
const full = {
  v2: { uid: GROUP, ...known, createTime: CREATED, updateTime: UPDATED },
  v1: { id: GROUP, ...known, createdAt: CREATED, updatedAt: UPDATED },
};

/** What v1 shows where v2 leaves zeros out. */
const zeros = {
  description: "",
  resourceLimits: {},
  verified: false,
  kind: "ORG_KIND_UNSPECIFIED",
  status: "ORG_STATUS_UNSPECIFIED",
};

/** The three cases in which no group is found look the same, in both versions. */
const nowhere = {
  code: 5,
  message: "no group to join",
  details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND", domain: "iam.example.com" }],
};

function asked(operation: string, verb: string, told: JsonObject, answer: JsonObject): Example {
  const path = `groups:${verb}`;
  return { of: "exchange", operation, path, calls: [{ call: `GET ${path}`, answer: told }], answer };
}

function requested(body: JsonObject): Example {
  const path = `groups/${ORG}:requestGroupAccess`;
  const calls = [{ call: `POST ${path}`, body: {}, answer: {} }];
  return { of: "exchange", operation: "request-group-access", path, body, calls, answer: {} };
}

export default [
  { of: "answer", operation: "list", ...full },
  // A platform that leaves zeros out; no time is made up.
  {
    of: "answer",
    operation: "list",
    v2: { uid: ORG, name: "example.com" },
    v1: { id: ORG, name: "example.com", ...zeros },
  },
  // The minimal shape: an empty object for the limits, no kind and no status.
  {
    of: "answer",
    operation: "create",
    v2: {
      uid: GROUP,
      name: "docs",
      description: "",
      resourceLimits: {},
      verified: false,
      createTime: CREATED,
      updateTime: CREATED,
    },
    v1: { id: GROUP, name: "docs", ...zeros, createdAt: CREATED, updatedAt: CREATED },
  },
  {
    of: "body",
    operation: "create",
    v1: { name: "docs", description: "writes", verified: true, kind: "ORG_KIND_STARTER" },
    v2: { name: "docs", description: "writes", verified: true, kind: "ORG_KIND_STARTER" },
  },
  // Members that the server sets are not sent. An enum may be its v1 number. Null counts as absent.
  {
    of: "body",
    operation: "create",
    v1: {
      id: GROUP,
      name: "docs",
      description: null,
      resourceLimits: { clusters: 1 },
      kind: 2,
      status: "ORG_STATUS_READY",
      createdAt: CREATED,
    },
    v2: { name: "docs", kind: "ORG_KIND_CUSTOMER" },
  },
  // Omitted fields become zero, except those of the staff.
  { of: "update", v1: { name: "docs" }, mask: ["name", "description"], v2: { name: "docs", description: "" } },
  {
    of: "update",
    v1: {
      id: GROUP,
      name: "docs",
      description: "writes",
      resourceLimits: { clusters: 9 },
      verified: false,
      kind: "ORG_KIND_CUSTOMER",
      status: "ORG_STATUS_READY",
    },
    stored: { uid: GROUP, name: "docs", verified: true, kind: "ORG_KIND_CUSTOMER" },
    mask: ["name", "description", "verified"],
    v2: { name: "docs", description: "writes", verified: false },
  },
  {
    of: "update",
    v1: { name: "docs", description: "", verified: true, kind: "ORG_KIND_DEV" },
    stored: { uid: GROUP, name: "docs", verified: true, kind: "ORG_KIND_STARTER" },
    mask: ["name", "description", "kind"],
    v2: { name: "docs", description: "", kind: "ORG_KIND_DEV" },
  },
  // Zero of the kind means that the client did not say.
  {
    of: "update",
    v1: { name: "docs", description: "", kind: "ORG_KIND_UNSPECIFIED" },
    stored: { uid: GROUP, name: "docs", kind: "ORG_KIND_STARTER" },
    mask: ["name", "description"],
    v2: { name: "docs", description: "" },
  },
  {
    of: "filters",
    v1: `uidp.descendants_of=${ORG}&name=docs`,
    v2: `uidp.descendants_of=${ORG}&name=docs`,
  },
  { of: "filters", v1: `uidp.childrenOf=${ORG}&name=`, v2: `uidp.children_of=${ORG}` },
  asked("check-eligibility", "checkEligibility", {}, { eligible: false }),
  asked("check-eligibility", "checkEligibility", { eligible: true }, { eligible: true }),
  asked("lookup-group", "lookupGroup", { group: full.v2 }, { group: full.v1 }),
  // A platform that leaves zeros out.
  asked(
    "lookup-group",
    "lookupGroup",
    { group: { uid: ORG, name: "example.com" } },
    { group: { id: ORG, name: "example.com", ...zeros } },
  ),
  {
    of: "exchange",
    operation: "lookup-group",
    path: "groups:lookupGroup",
    calls: [{ call: "GET groups:lookupGroup", status: 404, answer: nowhere }],
    status: 404,
    answer: nowhere,
  },
  requested({}),
  // Another group in the body than in the path.
  requested({ groupId: GROUP }),
] as const satisfies readonly Example[];
