/**
 * Every v1 operation of the ten resources once, over gRPC and over HTTP, each written by hand. What one call creates, later calls change
 * and delete, so the order matters.
 */
import type { WellKnown } from "../../../sandbox/src/seed/seed.ts";

/** One operation. `rpc` is `PACKAGE.SERVICE/METHOD` without the packages that all have. */
export interface Call {
  readonly rpc: string;
  readonly request: object;
  /** The same over HTTP. */
  readonly http: readonly [method: string, target: string, body?: object];
  /** The name of the caller's token, when it is not `admin`. */
  readonly token?: string;
}

/** Makes one call and gives its response as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers freely
export type Make = (call: Call) => Promise<any>;

type Http = Call["http"];

/** Makes them all. `native`: also those that carryover leaves to native v1. */
export async function everyCall(known: WellKnown, make: Make, native: boolean): Promise<void> {
  const to = (rpc: string, request: object, http: Http, token?: string) =>
    make({ rpc, request, http, ...(token === undefined ? {} : { token }) });
  await groups(known, to);
  await identities(known, to);
  await access(known, to);
  await connections(known, to);
  await registry(known, to);
  await advisories(known, to, native);
}

type To = (rpc: string, request: object, http: Http, token?: string) => ReturnType<Make>;

async function groups({ rootGroup, someGroup, visitor }: WellKnown, to: To): Promise<void> {
  const path = "/iam/v1/groups";
  const group = { name: "made over grpc", description: "ü 100 %" };
  const { id } = await to("iam.Groups/Create", { parent: someGroup, group }, ["POST", `${path}/${someGroup}`, group]);
  const other = { name: "changed", description: "" };
  await to("iam.Groups/Update", { id, ...other }, ["PUT", `${path}/${id}`, other]);
  const filter = { uidp: { descendantsOf: rootGroup } };
  await to("iam.Groups/List", filter, ["GET", `${path}?uidp.descendants_of=${rootGroup}`]);
  await to("iam.Groups/List", { uidp: { ids: [""] } }, ["GET", `${path}?uidp.ids=`]);
  await to("iam.Groups/Delete", { id }, ["DELETE", `${path}/${id}`]);
  const person = `nobody#${visitor}`;
  await to("iam.Groups/CheckEligibility", {}, ["GET", `${path}:checkEligibility`], person);
  const found = await to("iam.Groups/LookupGroup", {}, ["GET", `${path}:lookupGroup`], person);
  const groupId = found.group.id;
  await to("iam.Groups/RequestGroupAccess", { groupId }, ["POST", `${path}/${groupId}:requestGroupAccess`, {}], person);
}

async function identities({ rootGroup, assumable, visitor }: WellKnown, to: To): Promise<void> {
  const path = "/iam/v1/identities";
  const claimMatch = { issuer: "https://issuer.example.com", subjectPattern: "repo:.*", claims: { ref: "main" } };
  const identity = { name: "robot", description: "d", claimMatch };
  const create = { parentId: rootGroup, identity };
  const { id } = await to("iam.Identities/Create", create, ["POST", `${path}/${rootGroup}`, identity]);
  const expiration = "2031-02-03T04:05:06Z";
  const keys = { issuer: "https://other.example.com", subject: "s", issuerKeys: "{}", expiration, audiences: ["a"] };
  const other = { name: "robot", static: keys };
  await to("iam.Identities/Update", { id, ...other }, ["PUT", `${path}/${id}`, other]);
  await to("iam.Identities/List", {}, ["GET", path]);
  await to("iam.Identities/List", { id }, ["GET", `${path}?id=${id}`]);
  const { issuer, subject } = assumable;
  const query = `issuer=${encodeURIComponent(issuer)}&subject=${encodeURIComponent(subject)}`;
  await to("iam.Identities/Lookup", { issuer, subject }, ["GET", `${path}/lookup?${query}`]);
  await to("iam.Identities/Delete", { id }, ["DELETE", `${path}/${id}`]);
  const metadata = { onboardingQuestions: { companyName: "Acme", jobTitle: "dev", selfServe: true } };
  const person = `nobody#${visitor}`;
  await to("events.Identities/UpdateMetadata", metadata, ["PATCH", `${path}/metadata`, metadata], person);
}

async function access({ rootGroup, identity, viewerRole, editorRole }: WellKnown, to: To): Promise<void> {
  const roles = "/iam/v1/roles";
  const role = { name: "reader", description: "d", capabilities: ["groups.list", "roles.list"] };
  const made = await to("iam.Roles/Create", { parentId: rootGroup, role }, ["POST", `${roles}/${rootGroup}`, role]);
  const less = { name: "reader", capabilities: ["groups.list"] };
  await to("iam.Roles/Update", { id: made.id, ...less }, ["PUT", `${roles}/${made.id}`, less]);
  await to("iam.Roles/List", { parent: rootGroup }, ["GET", `${roles}?parent=${rootGroup}`]);
  await to("iam.Roles/List", {}, ["GET", roles]);
  await to("iam.Roles/Delete", { id: made.id }, ["DELETE", `${roles}/${made.id}`]);

  const path = "/iam/v1/rolebindings";
  const binding = { identity, role: viewerRole };
  const create = { parent: rootGroup, roleBinding: binding };
  const { id } = await to("iam.RoleBindings/Create", create, ["POST", `${path}/${rootGroup}`, binding]);
  const other = { identity, role: editorRole };
  await to("iam.RoleBindings/Update", { id, ...other }, ["PUT", `${path}/${id}`, other]);
  await to("iam.RoleBindings/List", { id }, ["GET", `${path}?id=${id}`]);
  await to("iam.RoleBindings/List", {}, ["GET", path]);
  const batch = { parent: rootGroup, roleBindings: [binding, other] };
  await to("iam.RoleBindings/CreateBatch", batch, ["POST", `${path}/batch/${rootGroup}`, batch.roleBindings]);
  await to("iam.RoleBindings/Delete", { id }, ["DELETE", `${path}/${id}`]);
}

async function connections(known: WellKnown, to: To): Promise<void> {
  const { rootGroup, someGroup, emptyGroup, viewerRole, accountAssociation, scim } = known;
  const path = "/iam/v1/identityProviders";
  const oidc = { issuer: "https://idp.example.com", clientId: "c", clientSecret: "s", additionalScopes: ["email"] };
  const identityProvider = { name: "idp", description: "d", defaultRole: viewerRole, oidc };
  const create = { parentId: rootGroup, identityProvider };
  const { id } = await to("iam.IdentityProviders/Create", create, ["POST", `${path}/${rootGroup}`, identityProvider]);
  const other = { ...identityProvider, description: "" };
  await to("iam.IdentityProviders/Update", { id, ...other }, ["PUT", `${path}/${id}`, other]);
  const listed = await to("iam.IdentityProviders/List", {}, ["GET", path]);
  await to("iam.IdentityProviders/Delete", { id }, ["DELETE", `${path}/${id}`]);
  const verb = (uid: string, rpc: string, word: string, body: object) =>
    to(`iam.IdentityProviders/${rpc}`, { identityProviderId: uid, ...body }, ["POST", `${path}/${uid}:${word}`, body]);
  const etagOf = (uid: string) => listed.items.find((one: { id: string }) => one.id === uid).scim.etag;
  await verb(scim.notIssued, "GenerateScimToken", "generateScimToken", { neverExpires: true });
  const again = { overlap: "3600s", etag: etagOf(scim.live) };
  await verb(scim.live, "RegenerateScimToken", "regenerateScimToken", again);
  await verb(scim.rotating, "RevokeScimToken", "revokeScimToken", {});
  const off = { enabled: false, etag: etagOf(scim.neverExpires) };
  await verb(scim.neverExpires, "SetScimEnabled", "setScimEnabled", off);

  const associations = "/iam/v1/account_associations";
  const association = { name: "aws", amazon: { account: "123456789012" } };
  const group = emptyGroup;
  const rpc = "iam.GroupAccountAssociations";
  await to(`${rpc}/Create`, { group, ...association }, ["POST", `${associations}/${group}`, association]);
  const github = { appInstallations: { "7": { installations: [{ installationId: "9007199254740993", name: "n" }] } } };
  const more = { ...association, description: "d", github };
  await to(`${rpc}/Update`, { group, ...more }, ["PUT", `${associations}/${group}`, more]);
  await to(`${rpc}/List`, { group }, ["GET", `${associations}?group=${group}`]);
  await to(`${rpc}/List`, {}, ["GET", associations]);
  const check = { accountType: "AMAZON" };
  const checked = { group: accountAssociation, ...check };
  await to(`${rpc}/Check`, checked, ["POST", `${associations}/${accountAssociation}:check`, check]);
  await to(`${rpc}/Delete`, { group }, ["DELETE", `${associations}/${group}`]);

  const invites = "/iam/v1/group_invites";
  const invite = { ttl: "86400s", role: viewerRole, email: "a@example.com", singleUse: true };
  const invited = { group: someGroup, ...invite };
  const sent = await to("iam.GroupInvites/Create", invited, ["POST", `${invites}/${someGroup}`, invite]);
  await to("iam.GroupInvites/List", {}, ["GET", invites]);
  await to("iam.GroupInvites/Delete", { id: sent.id }, ["DELETE", `${invites}/${sent.id}`]);
}

async function registry({ rootGroup, tag, repo, digest }: WellKnown, to: To): Promise<void> {
  const repos = "/registry/v1/repos";
  const overlay = {
    contents: { packages: ["curl"], runtimeKeyring: [{ name: "k", content: "c" }] },
    environment: { A: "b" },
    accounts: { runAs: "app", users: [{ uid: 1000, userName: "app", gid: 1000 }] },
  };
  const body = { name: "image", description: "d", catalogTier: "BASE", readme: "# r", customOverlay: overlay };
  const create = { parentId: rootGroup, repo: body };
  // Where v2 serves, only staff may write a readme.
  const made = await to("registry.Registry/CreateRepo", create, ["POST", `${repos}/${rootGroup}`, body], "staff");
  const less = { name: "image", aliases: ["i"], bundles: ["b"] };
  await to("registry.Registry/UpdateRepo", { id: made.id, ...less }, ["PUT", `${repos}/${made.id}`, less], "staff");
  const filter = { uidp: { childrenOf: rootGroup } };
  await to("registry.Registry/ListRepos", filter, ["GET", `${repos}?uidp.childrenOf=${rootGroup}`]);
  await to("registry.Registry/ListRepos", {}, ["GET", repos]);

  const tags = "/registry/v1/tags";
  const latest = { name: "latest", digest, bundles: ["b"] };
  const tagged = { repoId: made.id, tag: latest };
  const { id } = await to("registry.Registry/CreateTag", tagged, ["POST", `${tags}/${made.id}`, latest]);
  const old = { name: "latest", digest, deprecated: true };
  await to("registry.Registry/UpdateTag", { id, ...old }, ["PUT", `${tags}/${id}`, old]);
  const some = { uidp: { childrenOf: repo }, excludeReferrers: true, updatedSince: "2020-01-01T00:00:00Z" };
  const query = `uidp.children_of=${repo}&exclude_referrers=true&updated_since=2020-01-01T00:00:00Z`;
  await to("registry.Registry/ListTags", some, ["GET", `${tags}?${query}`]);
  await to("registry.Registry/ListTags", { id: tag }, ["GET", `${tags}?id=${tag}`]);
  await to("registry.Registry/DeleteTag", { id }, ["DELETE", `${tags}/${id}`]);
  await to("registry.Registry/DeleteRepo", { id: made.id }, ["DELETE", `${repos}/${made.id}`]);

  const image = `${repos}/${repo}/digests/${digest}`;
  await to("registry.Registry/GetArchs", { repoId: repo, digest }, ["GET", `${image}/architectures`]);
  const size = { repoId: repo, digest, arch: "amd64" };
  await to("registry.Registry/GetSize", size, ["GET", `${image}/size?arch=amd64`]);
  const summary = { repoId: repo, excludeDates: true };
  const path = `/registry/v1/repotagssummary/${repo}?excludeDates=true`;
  await to("registry.Registry/GetRepoTagsSummary", summary, ["GET", path]);
}

async function advisories({ rootGroup, someGroup, advisory, fullAdvisory }: WellKnown, to: To, native: boolean) {
  const path = "/vulnerabilities/v1/advisories";
  const rpc = "vulnerabilities.v1.Advisories";
  const paging = { uidp: { descendantsOf: rootGroup }, pageSize: "5", orderBy: "CREATED_AT_DESC" };
  const query = `page_size=5&order_by=CREATED_AT_DESC&uidp.descendants_of=${rootGroup}`;
  await to(`${rpc}/List`, paging, ["GET", `${path}?${query}`]);
  const filter = { id: fullAdvisory, eventStatuses: ["PENDING", "APPROVED"] };
  await to(`${rpc}/List`, filter, ["GET", `${path}?id=${fullAdvisory}&event_statuses=PENDING&event_statuses=APPROVED`]);
  const zero = "EVENT_TYPE_FILTER_UNSPECIFIED";
  await to(`${rpc}/List`, { eventTypes: [zero] }, ["GET", `${path}?eventTypes=${zero}`]);
  await to(`${rpc}/List`, { advisoryIds: [""] }, ["GET", `${path}?advisory_ids=`]);
  await to(`${rpc}/ListAdvisoryEvents`, { parentId: advisory }, ["GET", `${path}/${advisory}/events`]);
  if (!native) return;
  const scanv1 = { scanner: "s", subpackageName: "sub", componentName: "comp" };
  const events = [{ detection: { scanv1 }, author: "a", status: "APPROVED", findings: "AQ==" }];
  const body = { artifactType: "apk", artifactName: "openssl", componentName: "", aliases: ["CVE-1"], events };
  const create = { parentId: someGroup, advisory: body };
  const { id } = await to(`${rpc}/Create`, create, ["POST", path, create]);
  const other = { artifactName: "other", author: "sam" };
  await to(`${rpc}/Update`, { id, ...other }, ["PUT", `${path}/${id}`, other]);
  const advisoryEvent = { fixed: { fixedVersion: "2" }, author: "b", issue: "" };
  const added = { parentId: id, advisoryEvent };
  const event = await to(`${rpc}/CreateAdvisoryEvent`, added, ["POST", `${path}/${id}/events`, { advisoryEvent }]);
  const reviewed = { ...advisoryEvent, reviewer: "c", status: "APPROVED" };
  const events1 = `/vulnerabilities/v1/advisory_events/${event.id}`;
  await to(`${rpc}/UpdateAdvisoryEvent`, { id: event.id, ...reviewed }, ["PUT", events1, reviewed]);
  await to(`${rpc}/Delete`, { id }, ["DELETE", `${path}/${id}`]);
}
