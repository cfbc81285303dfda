/**
 * The meaning of each parameter of each v1 list. It is written by hand from the API reference and uses nothing from
 * `src/`, as an independent check of the catalogue.
 */

/** A v1 record as a client sees it. */
// biome-ignore lint/suspicious/noExplicitAny: records of ten shapes.
export type V1Record = any;

export interface Word {
  /** snake_case. */
  readonly v1: string;
  /** v1 takes it several times: any of the values will do. */
  readonly many?: true;
  readonly kind: "text" | "uid" | "bool" | "time" | "enum" | "size";
  /** The v2 list parameter that carries these values, and how they read there. Undefined: v2 has none. */
  readonly v2?: readonly [name: string, says?: (value: string) => string];
  /** Whether v1 shows `record` to a client that asks for `values` (never empty; an empty text only where v1 takes several). Undefined: no record tells. */
  readonly keeps?: (record: V1Record, values: readonly string[]) => boolean;
  /** Values that `record` matches. */
  readonly of: (record: V1Record) => readonly string[];
  /** Values that v1 knows and v2 does not: to be refused. */
  readonly lost?: readonly string[];
}

export interface V1List {
  readonly resource: string;
  readonly v1: string;
  readonly v2: string;
  /** v1's name of the record's uid. */
  readonly key: string;
  readonly words: readonly Word[];
  /** The order of the records is part of the answer. */
  readonly ordered?: true;
  /** Records that a filter of their own is about. */
  readonly rare?: (record: V1Record) => boolean;
  /** This platform's v2 counts nothing. */
  readonly uncounted?: true;
}

const above = (uid: string): string => uid.split("/").slice(0, -1).join("/");
const within = (uid: string, root: string): boolean => uid === root || uid.startsWith(`${root}/`);
const yes = (value: string): boolean => ["1", "t", "T", "true", "TRUE", "True"].includes(value);
const bool = (value: string): string => String(yes(value));

const id = (key = "id", v1 = key): Word => ({
  v1,
  kind: "uid",
  keeps: (record, [value]) => record[key] === value,
  of: (record) => [record[key]],
});

const text = (v1: string, v2 = v1, member = v1): Word => ({
  v1,
  kind: "text",
  v2: [v2],
  keeps: (record, [value]) => record[member] === value,
  of: (record) => [record[member]],
});

const uidp: readonly Word[] = [
  {
    v1: "uidp.ancestors_of",
    kind: "uid",
    v2: ["uidp.ancestors_of"],
    keeps: (record, [value = ""]) => within(value, record.id),
    of: (record) => [record.id, `${record.id}/0123456789abcdef`],
  },
  {
    v1: "uidp.descendants_of",
    kind: "uid",
    v2: ["uidp.descendants_of"],
    keeps: (record, [value = ""]) => within(record.id, value),
    of: (record) => [record.id, above(record.id), record.id.split("/")[0]],
  },
  {
    v1: "uidp.children_of",
    kind: "uid",
    v2: ["uidp.children_of"],
    keeps: (record, [value]) => above(record.id) === value,
    of: (record) => [above(record.id)],
  },
  {
    v1: "uidp.in_root",
    kind: "bool",
    v2: ["uidp.in_root", bool],
    keeps: (record, [value = ""]) => !yes(value) || !record.id.includes("/"),
    of: (record) => (record.id.includes("/") ? ["false"] : ["true", "1", "false"]),
  },
  {
    v1: "uidp.ids",
    many: true,
    kind: "uid",
    v2: ["uidp.ids"],
    keeps: (record, values) => values.includes(record.id),
    of: (record) => [record.id],
  },
];

/** v1 shows tags of a kind by default, v2 hides them (TRAP-15). The sandbox recognizes kinds by name. */
const exclude = (kind: string, special: RegExp): Word => ({
  v1: `exclude_${kind}`,
  kind: "bool",
  v2: [`include_${kind}`, (value) => String(!yes(value))],
  keeps: (record, [value = ""]) => !yes(value) || !special.test(record.name),
  of: (record) => (special.test(record.name) ? ["false", "0"] : ["true", "T"]),
});

const anyOf = (v1: string, v2: string, member: string): Word => ({
  v1,
  many: true,
  kind: "text",
  v2: [v2],
  keeps: (record, values) => values.includes(record[member] ?? ""),
  of: (record) => [record[member] ?? ""],
});

export const STATUSES = ["UNKNOWN", "PENDING", "APPROVED", "REQUEST_CHANGES", "REJECTED"];
const STATES = new Map(STATUSES.map((name, number) => [name, number === 0 ? "UNSPECIFIED" : name]));
/** The member of an event that each value of the filter stands for. */
const EVENTS = [
  ["UNSPECIFIED", ""],
  ["DETECTION", "detection"],
  ["TRUE_POSITIVE_DETERMINATION", "truePositiveDetermination"],
  ["FIXED", "fixed"],
  ["FALSE_POSITIVE_DETERMINATION", "falsePositiveDetermination"],
  ["ANALYSIS_NOT_PLANNED", "analysisNotPlanned"],
  ["FIX_NOT_PLANNED", "fixNotPlanned"],
  ["PENDING_UPSTREAM_FIX", "pendingUpstreamFix"],
  ["PATCHED", "patched"],
  ["COMPONENT_LOCATION_CHANGED", "componentLocationChanged"],
].map(([name = "", member = ""]) => ({ name: `EVENT_TYPE_FILTER_${name}`, member }));
const ORDERS = new Map([
  ["ID_ASC", "uid"],
  ["ID_DESC", "uid desc"],
  ["CREATED_AT_ASC", "created_at"],
  ["CREATED_AT_DESC", "created_at desc"],
  ["ALIASES_ASC", "aliases"],
  ["ALIASES_DESC", "aliases desc"],
  ["UPDATED_AT_ASC", "updated_at"],
  ["UPDATED_AT_DESC", "updated_at desc"],
  ["DELETED_AT_ASC", "deleted_at"],
  ["DELETED_AT_DESC", "deleted_at desc"],
]);
export const ORDER_NAMES = ["ORDER_BY_UNSPECIFIED", ...ORDERS.keys()];

/** An enum value by its name, given by name or number. */
const named = (names: readonly string[], value: string): string => names[Number(value)] ?? value;
export const EVENT_NAMES = EVENTS.map(({ name }) => name);
const typeOf = (event: V1Record): string =>
  EVENTS.find(({ member }) => member !== "" && event[member] !== undefined)?.name ?? "";
const status = (value: string): string => named(STATUSES, value);
const kindOf = (value: string): string => named(EVENT_NAMES, value);

const byEvent = (v1: string, v2: string, member: string, keep: "some" | "none"): Word => ({
  v1,
  many: true,
  kind: "text",
  v2: [v2],
  keeps: (record, values) =>
    record.events.some((event: V1Record) => values.includes(event[member])) === (keep === "some"),
  of: (record) => (keep === "some" ? record.events.map((event: V1Record) => event[member] ?? "") : ["nobody", "jane"]),
});

const advisoryWords: readonly Word[] = [
  id(),
  ...uidp,
  anyOf("advisory_ids", "advisory_ids", "advisoryId"),
  anyOf("legacy_advisory_ids", "legacy_advisory_ids", "legacyAdvisoryID"),
  anyOf("artifact_type", "artifact_types", "artifactType"),
  anyOf("artifact_name", "artifact_names", "artifactName"),
  anyOf("artifact_architecture", "artifact_architectures", "artifactArchitecture"),
  anyOf("component_name", "component_names", "componentName"),
  anyOf("component_type", "component_types", "componentType"),
  anyOf("component_location", "component_locations", "componentLocation"),
  {
    v1: "aliases",
    many: true,
    kind: "text",
    v2: ["aliases"],
    keeps: (record, values) => record.aliases.some((alias: string) => values.includes(alias)),
    of: (record) => record.aliases,
  },
  byEvent("event_author", "event_authors", "author", "some"),
  byEvent("event_reviewer", "event_reviewers", "reviewer", "some"),
  byEvent("exclude_event_author", "exclude_event_authors", "author", "none"),
  {
    v1: "event_statuses",
    many: true,
    kind: "enum",
    v2: ["event_review_states", (value) => `REVIEW_STATE_${STATES.get(status(value))}`],
    keeps: (record, values) => {
      const wanted = values.map(status);
      return record.events.some((event: V1Record) => wanted.includes(event.status));
    },
    of: (record) => record.events.flatMap(({ status: name }: V1Record) => [name, String(STATUSES.indexOf(name))]),
  },
  {
    v1: "event_types",
    many: true,
    kind: "enum",
    v2: ["event_types", kindOf],
    keeps: (record, values) => {
      const wanted = values.map(kindOf);
      return record.events.some((event: V1Record) => wanted.includes(typeOf(event)));
    },
    of: (record) => record.events.map(typeOf).filter((name: string) => name !== ""),
    lost: ["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", "9"],
  },
  {
    v1: "latest_event_type",
    kind: "enum",
    v2: ["latest_event_type", kindOf],
    keeps: (record, [value = ""]) => {
      const wanted = kindOf(value);
      // One value that says nothing is no filter.
      return wanted === "EVENT_TYPE_FILTER_UNSPECIFIED" || typeOf(record.events.at(-1) ?? {}) === wanted;
    },
    of: (record) => record.events.slice(-1).flatMap((event: V1Record) => [typeOf(event), "1"]),
    lost: ["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", "9"],
  },
  { v1: "origin", kind: "text", v2: ["origin"], of: () => ["upstream"] },
  {
    v1: "order_by",
    kind: "enum",
    v2: ["order_by", (value) => ORDERS.get(named(ORDER_NAMES, value)) ?? ""],
    of: () => [...ORDER_NAMES, "1", "2", "3", "10"],
  },
  {
    v1: "page_size",
    kind: "size",
    v2: ["page_size", (value) => String(Math.min(Number(value), 200))],
    of: () => ["1", "3", "200", "0"],
  },
];

const [REFERRER, DATE, EPOCH] = [/^sha256-/, /(^|[-.])20\d{6}$/, /-r\d+$/];
const SPECIAL = [REFERRER, DATE, EPOCH];

export const LISTS: readonly V1List[] = [
  {
    resource: "group",
    v1: "/iam/v1/groups",
    v2: "/iam/v2beta1/groups",
    key: "id",
    words: [id(), ...uidp, text("name")],
  },
  { resource: "identity", v1: "/iam/v1/identities", v2: "/iam/v2beta1/identities", key: "id", words: [id(), ...uidp] },
  {
    resource: "role",
    v1: "/iam/v1/roles",
    v2: "/iam/v2beta1/roles",
    key: "id",
    words: [
      id(),
      text("name"),
      {
        v1: "parent",
        kind: "uid",
        keeps: (record, [value]) => (above(record.id) === "" ? "/" : above(record.id)) === value,
        of: (record) => [above(record.id) === "" ? "/" : above(record.id)],
      },
      ...uidp,
    ],
  },
  {
    resource: "role-binding",
    v1: "/iam/v1/rolebindings",
    v2: "/iam/v2beta1/roleBindings",
    key: "id",
    words: [id(), ...uidp],
  },
  {
    resource: "identity-provider",
    v1: "/iam/v1/identityProviders",
    v2: "/iam/v2beta1/identityProviders",
    key: "id",
    words: [id(), text("name"), ...uidp],
  },
  {
    resource: "account-association",
    v1: "/iam/v1/account_associations",
    v2: "/iam/v2beta1/accountAssociations",
    key: "group",
    words: [id("group"), text("name")],
  },
  {
    resource: "group-invite",
    v1: "/iam/v1/group_invites",
    v2: "/iam/v2beta1/groupInvites",
    key: "id",
    words: [
      id(),
      {
        v1: "group",
        kind: "uid",
        v2: ["uidp.children_of"],
        keeps: (record, [value]) => above(record.id) === value,
        of: (record) => [above(record.id)],
      },
      text("key_id", "key_id", "keyId"),
    ],
  },
  {
    resource: "repo",
    v1: "/registry/v1/repos",
    v2: "/registry/v2beta1/repos",
    key: "id",
    words: [...uidp, text("name"), id()],
  },
  {
    resource: "tag",
    v1: "/registry/v1/tags",
    v2: "/registry/v2beta1/tags",
    key: "id",
    rare: ({ name }) => SPECIAL.some((kind) => kind.test(name)),
    words: [
      ...uidp,
      text("name"),
      {
        v1: "updated_since",
        kind: "time",
        v2: ["updated_since"],
        keeps: (record, [value = ""]) => Date.parse(record.lastUpdated) >= Date.parse(value),
        of: (record) => [record.lastUpdated, "2001-01-01T00:00:00+01:00"],
      },
      exclude("referrers", REFERRER),
      exclude("dates", DATE),
      exclude("epochs", EPOCH),
      id(),
      text("digest"),
    ],
  },
  {
    resource: "advisory",
    v1: "/vulnerabilities/v1/advisories",
    v2: "/vulnerabilities/v2beta1/advisories",
    key: "id",
    words: advisoryWords,
    ordered: true,
  },
];
