/** Every v2 operation of the ten resources once, over gRPC and over HTTP, each written by hand. */
import type { WellKnown } from "../../../sandbox/src/seed/seed.ts";
import type { Call, Make } from "./calls.ts";

type To = (rpc: string, request: object, http: Call["http"], token?: string) => ReturnType<Make>;

/** How a resource is called. */
interface Nouns {
  readonly service: string;
  readonly one: string;
  readonly many: string;
  /** The field of the record in requests. */
  readonly field: string;
  readonly path: string;
}

const nouns = (domain: string, service: string, one: string, many: string, field: string): Nouns => ({
  service: `${domain}.v2beta1.${service}Service`,
  one,
  many,
  field,
  path: `/${domain}/v2beta1/${many.charAt(0).toLowerCase()}${many.slice(1)}`,
});

const GROUPS = nouns("iam", "Groups", "Group", "Groups", "group");
const IDENTITIES = nouns("iam", "Identities", "Identity", "Identities", "identity");
const ROLES = nouns("iam", "Roles", "Role", "Roles", "role");
const BINDINGS = nouns("iam", "RoleBindings", "RoleBinding", "RoleBindings", "roleBinding");
const PROVIDERS = nouns("iam", "IdentityProviders", "IdentityProvider", "IdentityProviders", "identityProvider");
const ASSOCIATIONS = nouns(
  "iam",
  "AccountAssociations",
  "AccountAssociation",
  "AccountAssociations",
  "accountAssociation",
);
const INVITES = nouns("iam", "GroupInvites", "GroupInvite", "GroupInvites", "groupInvite");
const REPOS = nouns("registry", "Repos", "Repo", "Repos", "repo");
const TAGS = nouns("registry", "Tags", "Tag", "Tags", "tag");
const ADVISORIES = nouns("vulnerabilities", "Advisories", "Advisory", "Advisories", "advisory");

export async function everyV2Call(known: WellKnown, make: Make): Promise<void> {
  const to: To = (rpc, request, http, token) => make({ rpc, request, http, ...(token === undefined ? {} : { token }) });
  const { rootGroup, someGroup, emptyGroup, identity, viewerRole, editorRole, digest } = known;
  await life(to, GROUPS, someGroup, { name: "made" }, { name: "changed", description: "ü & 100 %" });
  const claimMatch = { issuer: "https://issuer.example.com", subject: "s", claimPatterns: { ref: ".*" } };
  const other = { name: "robot", company: "Acme" };
  await life(to, IDENTITIES, rootGroup, { name: "robot", claimMatch }, other);
  const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"];
  await life(to, ROLES, rootGroup, { name: "reader", capabilities }, { capabilities: capabilities.slice(1) });
  await life(to, BINDINGS, rootGroup, { identityUid: identity, roleUid: viewerRole }, { roleUid: editorRole });
  const oidc = { issuer: "https://idp.example.com", clientId: "c", clientSecret: "s" };
  const provider = { name: "idp", defaultRole: viewerRole, oidc };
  await life(to, PROVIDERS, rootGroup, provider, { oidc: { ...oidc, clientId: "d", pkceEnabled: true } });
  const github = { appInstallations: { "7": { installations: [{ installationId: "9007199254740993", name: "n" }] } } };
  await life(to, ASSOCIATIONS, emptyGroup, { name: "hub", github }, { name: "cloud", google: { projectId: "p" } });
  await life(to, INVITES, someGroup, { ttl: "3600s", roleUid: viewerRole, singleUse: true }, undefined);
  const accounts = { users: [{ username: "app", uid: 1000 }] };
  const repo = { name: "image", catalogTier: "CATALOG_TIER_BASE", customOverlay: { accounts } };
  await life(to, REPOS, rootGroup, repo, { aliases: ["i"] });
  await life(to, TAGS, known.repo, { name: "new", digest }, undefined);
  await lists(to, ADVISORIES, known.fullAdvisory);
  await verbs(known, to);
}

/** Creates a record, changes, shows, lists and deletes it. */
async function life(to: To, noun: Nouns, parent: string, made: object, changed: object | undefined): Promise<void> {
  const { service, one, field, path } = noun;
  const rpc = (verb: string) => `${service}/${verb}${one}`;
  const { uid } = await to(rpc("Create"), { parent, [field]: made }, ["POST", `${path}/${parent}`, made]);
  if (changed !== undefined) {
    const keys = Object.keys(changed);
    const mask = `?updateMask=${keys.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))}`;
    const record = { [field]: { uid, ...changed } };
    await to(rpc("Update"), { ...record, updateMask: keys.join() }, ["PATCH", `${path}/${uid}${mask}`, changed]);
    await to(rpc("Update"), record, ["PATCH", `${path}/${uid}`, changed]);
  }
  await lists(to, noun, uid);
  await to(rpc("Delete"), { uid }, ["DELETE", `${path}/${uid}`]);
}

async function lists(to: To, { service, one, many, path }: Nouns, uid: string): Promise<void> {
  await to(`${service}/Get${one}`, { uid }, ["GET", `${path}/${uid}`]);
  await to(`${service}/List${many}`, { pageSize: 3, skip: 1 }, ["GET", `${path}?page_size=3&skip=1`]);
  const filter = { uidp: { ids: [uid, "none"] } };
  await to(`${service}/List${many}`, filter, ["GET", `${path}?uidp.ids=${uid}&uidp.ids=none`]);
}

async function verbs(known: WellKnown, to: To): Promise<void> {
  const { rootGroup, identity, viewerRole, assumable, visitor, scim, repo, digest, accountAssociation } = known;
  const person = `nobody#${visitor}`;
  const groups = GROUPS.service;
  await to(`${groups}/CheckEligibility`, {}, ["GET", `${GROUPS.path}:checkEligibility`], person);
  const { group } = await to(`${groups}/LookupGroup`, {}, ["GET", `${GROUPS.path}:lookupGroup`], person);
  const access = `${GROUPS.path}/${group.uid}:requestGroupAccess`;
  await to(`${groups}/RequestGroupAccess`, { groupUid: group.uid }, ["POST", access, {}], person);

  const { issuer, subject } = assumable;
  const query = `issuer=${encodeURIComponent(issuer)}&subject=${encodeURIComponent(subject)}`;
  const lookup = `${IDENTITIES.path}:lookupIdentity?${query}`;
  await to(`${IDENTITIES.service}/LookupIdentity`, { issuer, subject }, ["GET", lookup]);
  const metadata = { identityMetadata: { company: "Acme", selfServe: true }, updateMask: "company,selfServe" };
  const update = `${IDENTITIES.path}:updateIdentityMetadata`;
  await to(`${IDENTITIES.service}/UpdateIdentityMetadata`, metadata, ["PATCH", update, metadata], person);

  const requests = [{ roleBinding: { identityUid: identity, roleUid: viewerRole } }];
  const batch = { parent: rootGroup, requests };
  const bindings = `${BINDINGS.path}:batchCreate`;
  await to(`${BINDINGS.service}/BatchCreateRoleBindings`, batch, ["POST", bindings, batch]);

  const etagOf = async (uid: string): Promise<string> => {
    const provider = await to(`${PROVIDERS.service}/GetIdentityProvider`, { uid }, ["GET", `${PROVIDERS.path}/${uid}`]);
    return provider.scim.etag;
  };
  const verb = (uid: string, name: string, body: object) => {
    const word = name.charAt(0).toLowerCase() + name.slice(1);
    const request = { identityProviderUid: uid, ...body };
    return to(`${PROVIDERS.service}/${name}`, request, ["POST", `${PROVIDERS.path}/${uid}:${word}`, body]);
  };
  await verb(scim.notIssued, "GenerateScimToken", { neverExpires: true });
  await verb(scim.live, "RegenerateScimToken", { overlap: "3600s", etag: await etagOf(scim.live) });
  await verb(scim.rotating, "RevokeScimToken", {});
  await verb(scim.neverExpires, "SetScimEnabled", { enabled: false, etag: await etagOf(scim.neverExpires) });

  const check = { providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" };
  const checked = `${ASSOCIATIONS.path}/${accountAssociation}:checkAccountAssociation`;
  const association = { uid: accountAssociation, ...check };
  await to(`${ASSOCIATIONS.service}/CheckAccountAssociation`, association, ["POST", checked, check]);

  const readme = `${REPOS.path}/${repo}/readme`;
  const repoReadme = { uid: repo, content: "# r" };
  const written = { repoReadme, updateMask: "content" };
  const patch = ["PATCH", `${readme}?updateMask=content`, { content: "# r" }] as const;
  await to(`${REPOS.service}/UpdateRepoReadme`, written, patch, "staff");
  await to(`${REPOS.service}/GetRepoReadme`, { uid: repo }, ["GET", readme]);
  const image = `${REPOS.path}/${repo}/digests/${digest}`;
  const images = "registry.v2beta1.ImagesService";
  await to(`${images}/GetArchitectures`, { repoUid: repo, digest }, ["GET", `${image}/architectures`]);
  const size = { repoUid: repo, digest, architecture: "amd64" };
  await to(`${images}/GetSize`, size, ["GET", `${image}/size?architecture=amd64`]);
}
