/** Which seeded records are worth naming? */

/** Uids worth naming in documentation, tests and curl lines; a function of the seed alone. */
export interface WellKnown {
  /** The organisation `acme`: verified, more than 1,000 groups. */
  readonly rootGroup: string;
  /** Another organisation, to see what a scoped caller must not see. */
  readonly otherRootGroup: string;
  /** A team with ten groups below it. */
  readonly someGroup: string;
  /** A group with nothing in it: it can be deleted. */
  readonly emptyGroup: string;
  /** Built-in roles. */
  readonly viewerRole: string;
  readonly editorRole: string;
  readonly ownerRole: string;
  /** A role of the organisation's own that is bound to nobody: it can be deleted. */
  readonly customRole: string;
  /** An identity that a token of `assumable.issuer` and `.subject` may assume; it may edit the organisation. */
  readonly identity: string;
  readonly assumable: { readonly issuer: string; readonly subject: string };
  readonly roleBinding: string;
  /** One of each further kind; empty without the organisation. The repo has a readme, the provider a secret. */
  readonly identityProvider: string;
  readonly accountAssociation: string;
  readonly groupInvite: string;
  readonly repo: string;
  readonly syncedRepo: string;
  readonly tag: string;
  readonly advisory: string;
  /** A digest of `repo`, the image of `tag`; see the tags for more. */
  readonly digest: string;
  /** Somebody without rights whose mail domain is the name of the verified root group: `nobody#…` may ask for access. */
  readonly visitor: string;
  /** Identity providers by the state of their SCIM token. */
  readonly scim: ScimProviders;
  /** With all that such a record can say: a repo that is synced and has an overlay, an association with all five blocks. */
  readonly fullRepo: string;
  readonly fullAssociation: string;
  /** An advisory with every type of event. */
  readonly fullAdvisory: string;
  /** An invite whose role is gone. */
  readonly orphanInvite: string;
}

/** Uids of providers; empty without the organisation. */
export interface ScimProviders {
  readonly unspecified: string;
  readonly notIssued: string;
  readonly live: string;
  readonly neverExpires: string;
  readonly expired: string;
  readonly revoked: string;
  readonly rotating: string;
  /** Of an organisation with fewer than two owners: it cannot be switched on. The others can. */
  readonly ownerless: string;
}

const NO_SCIM: ScimProviders = {
  unspecified: "",
  notIssued: "",
  live: "",
  neverExpires: "",
  expired: "",
  revoked: "",
  rotating: "",
  ownerless: "",
};

/** What there is to name of the kinds that only the organisation has. */
export type OrganisationKnown = Omit<
  WellKnown,
  | "rootGroup"
  | "otherRootGroup"
  | "someGroup"
  | "emptyGroup"
  | "viewerRole"
  | "editorRole"
  | "ownerRole"
  | "customRole"
  | "identity"
  | "assumable"
  | "roleBinding"
>;

/** The same without the organisation. */
export const NOTHING_KNOWN: OrganisationKnown = {
  identityProvider: "",
  accountAssociation: "",
  groupInvite: "",
  repo: "",
  syncedRepo: "",
  tag: "",
  advisory: "",
  digest: "",
  visitor: "",
  scim: NO_SCIM,
  fullRepo: "",
  fullAssociation: "",
  fullAdvisory: "",
  orphanInvite: "",
};
