/** Which roles and identities show every capability and every kind of relationship? */

import { CAPABILITIES } from "../data/capabilities.ts";
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

/** The numbers of service principals; zero is a name like any other in a oneof. */
const PRINCIPALS = 13;

/** A role with what only staff may grant, so that some role holds each capability that has a name in v1. */
function internalRole(build: Builder, groups: SeededGroups): StoredRecord {
  const internal = CAPABILITIES.filter(([v1, , , internalOnly]) => v1 === "internal" || internalOnly);
  const capabilities = internal.map(([, , number]) => number);
  const value = { uid: build.uid(groups.root), name: "everything internal", capabilities };
  return build.record({ ...value, ...build.times() });
}

const CLAIMS: readonly JsonObject[] = [
  { issuer: "https://a.example", subjectPattern: "^s-.+$", audiencePattern: "^aud-\\d$" },
  {
    issuerPattern: "^https://.+$",
    subject: "s",
    audience: "a",
    claims: { id: "1", uid: "2", role: "3", createdAt: "4", issuer: "5" },
    claimPatterns: { id: ".*", updatedAt: ".+", claims: "x" },
  },
];

const AWS: readonly JsonObject[] = [
  { awsAccount: "000000000012", arnPattern: "^arn:aws:.*$", userId: "AROAEXAMPLE" },
  { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "" },
];

/** A key set without times or audiences has none of either; the other one has all there is. */
function staticKeys(): readonly JsonObject[] {
  const keys = { issuer: "https://keys.example", subject: "s", issuerKeys: '{"keys":[{"id":"k","uid":"k"}]}' };
  return [keys, { ...keys, expirationTime: "2026-12-31T23:59:59.123456Z", audiences: ["one"] }];
}

/** One identity of each form (two of them owners), one without any, and one whose mail domain is the name of the organisation. */
export function seedAllAccess(build: Builder, groups: SeededGroups, ownerRole: string) {
  const principals = Array.from({ length: PRINCIPALS + 1 }, (_, number) => ({ servicePrincipal: number }));
  const forms: readonly JsonObject[] = [
    ...CLAIMS.map((claimMatch) => ({ claimMatch })),
    ...AWS.map((awsIdentity) => ({ awsIdentity })),
    ...staticKeys().map((keys) => ({ staticKeys: keys })),
    ...principals,
    {},
  ];
  const identities = forms.map((form, index) => {
    const value = { uid: build.uid(groups.root), name: `form-${index}`, ...build.times() };
    return build.record({ ...value, ...form });
  });
  const match = { issuer: "https://login.example.com", subject: "user|visitor" };
  const visitor = { uid: build.uid(""), name: "visitor", email: "visitor@acme", lastSeenTime: build.time() };
  identities.push(build.record({ ...visitor, ...build.times(), claimMatch: match }));
  // Two owners of the organisation: without them SCIM cannot be switched on.
  const roleBindings = identities.slice(0, 2).map((owner) => {
    const value = { uid: build.uid(groups.root), identityUid: owner.uid, roleUid: ownerRole };
    return build.record({ ...value, createTime: build.time() });
  });
  return { roles: [internalRole(build, groups)], identities, roleBindings };
}
