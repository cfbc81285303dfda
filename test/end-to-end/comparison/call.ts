/** How a v1 call is written by hand, so that it can be made to two servers. */
import type { Json, JsonObject } from "../../../src/model/json.ts";

/**
 * Who asks: `admin`, `staff` and `viewer` (who may only read) see every organisation; `outsider` may do everything, but in
 * another organisation only; `powerless` has a token that allows nothing; `person` is somebody of the organisation with a
 * verified e-mail address, whose token was exchanged for a login; `forged`: a token without an issuer; `anonymous`: none.
 */
export type Caller = "admin" | "staff" | "viewer" | "outsider" | "powerless" | "person" | "forged" | "anonymous";

/** What a call may use of the sandbox's seed: the same on both sides, since both have the same seed. */
export interface Known {
  /** The root group of the organisation. */ readonly root: string;
  /** A group below the root that has ten groups below it. */
  readonly parent: string;
  /** A group without anything in it. */
  readonly leaf: string;
  /** The root group of the other organisation, the one of `outsider`. */
  readonly elsewhere: string;
  /** An identity with a claim match and with a company, which v1 cannot see. */
  readonly identityOfCompany: () => string;
  /** The id of the built-in role of this name: `viewer`, `editor`, `owner`. */
  readonly role: (name: string) => string;
  /** A repo of its own with tags and a readme, and one that is synced from the catalogue. Empty without an organisation. */
  readonly repo: string;
  readonly syncedRepo: string;
  /** An advisory with events. Empty without an organisation. */
  readonly advisory: string;
  /** The claims of an identity of the organisation. */
  readonly claims: { readonly issuer: string; readonly subject: string };
}

/** What one side has answered so far, and what is known of its seed. Every side sees its own answers only. */
export interface Seen {
  readonly known: Known;
  /** The body that the first call named `call` got on this side. */
  readonly answer: (call: string) => Json;
  /** The `id` of the record in the answer of `call`, else of the first record of its `items`. */
  readonly id: (call: string) => string;
  /** The record with this member value in the `items` of the list that `call` got. */
  readonly item: (call: string, member: string, value: Json) => JsonObject;
}

/** What may depend on earlier answers. */
export type Given<T> = T | ((seen: Seen) => T);

/** What native v1 must answer, written from the references: the check that a call does what its name says. */
export interface Expectation {
  readonly status: number;
  /** How many records the list holds. */
  readonly items?: number | "some" | "over 200";
  /** Members that the answer's body has, nested objects in part; an empty object stands for an empty one. */
  readonly shows?: Given<JsonObject>;
  /** Members of every record of the list. */
  readonly every?: Given<JsonObject>;
  /** The rpc code of an error. */
  readonly code?: number;
  /** A field that an error's BadRequest names. */
  readonly field?: string;
}

/** One v1 call. */
export interface Call extends Expectation {
  /** What the call is to show; unique in its scenario and method. */ readonly name: string;
  /** `admin` when left out. */
  readonly as?: Caller;
  readonly method: string;
  readonly path: Given<string>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes go out as they are, anything else as JSON; left out: no body. */
  readonly body?: Given<Json | Uint8Array>;
  /** The list has a documented order: records are compared in it. Without: by id. */
  readonly ordered?: true;
}

/** Calls that are made one after another against one pair of stores. */
export interface Scenario {
  readonly name: string;
  /** Further groups below the organisation, for long lists. */
  readonly size?: number;
  /** False: a store with hardly anything in it, where many writes are quickly compared; `leaf` is then a root group. */
  readonly organisation?: false;
  readonly calls: readonly Step[];
}

/** One test: a call, or many of one kind that are made and compared one after another. */
export type Step = Call | { readonly name: string; readonly each: readonly Call[] };

type Extra = Partial<Omit<Call, "name" | "method" | "path" | "status">>;
/** The status that a call must get, 200 when left out, and what else is wanted of its answer. */
export type Wanted = readonly [extra?: Extra] | readonly [status: number, extra?: Extra];

/** The rpc code that comes with a status, where the call names no other. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8 };

function expectation([first, second]: Wanted): Pick<Call, "status" | "code"> & Extra {
  if (typeof first !== "number") return { status: 200, ...first };
  const code = CODES[first];
  return { status: first, ...(code === undefined ? {} : { code }), ...second };
}

/** Calls of one method: their name, their path, what they must answer. */
const bare =
  (method: string) =>
  (name: string, path: Given<string>, ...wanted: Wanted): Call => ({ name, method, path, ...expectation(wanted) });
const withBody =
  (method: string) =>
  (name: string, path: Given<string>, body: Call["body"], ...wanted: Wanted): Call => ({
    name,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...expectation(wanted),
  });

export const get = bare("GET");
export const post = withBody("POST");
export const put = withBody("PUT");
export const patch = withBody("PATCH");
export const del = bare("DELETE");

/** `count` calls of one kind as one step; `make` gets 0, 1, 2 and so on. */
export function many(name: string, count: number, make: (index: number) => Call | readonly Call[]): Step {
  return { name, each: Array.from({ length: count }, (_, index) => make(index)).flat() };
}

/** The calls of a scenario, one after another. */
export function callsOf(scenario: Scenario): readonly Call[] {
  return scenario.calls.flatMap((step) => ("each" in step ? step.each : [step]));
}

/** A scenario in the whole organisation. */
export function scenario(name: string, calls: readonly Step[]): Scenario {
  return { name, calls };
}

/** A scenario in a store with hardly anything in it. */
export function small(name: string, calls: readonly Step[]): Scenario {
  return { name, organisation: false, calls };
}

export const rootId = ({ known }: Seen): string => known.root;
export const parentId = ({ known }: Seen): string => known.parent;
export const leafId = ({ known }: Seen): string => known.leaf;
export const elsewhereId = ({ known }: Seen): string => known.elsewhere;
export const repoId = ({ known }: Seen): string => known.repo;
export const syncedRepoId = ({ known }: Seen): string => known.syncedRepo;
export const advisoryId = ({ known }: Seen): string => known.advisory;

/** The id of the built-in role of this name. */
export const roleId =
  (name: string) =>
  ({ known }: Seen): string =>
    known.role(name);

/** A path with one part that is known only when the call is made. */
export function at(prefix: string, part: (seen: Seen) => string, suffix = ""): (seen: Seen) => string {
  return (seen) => `${prefix}${part(seen)}${suffix}`;
}

/** A record without some of its members. */
export function without(record: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

/** The id that `call` answered, its slashes as %2F. */
export const escapedId =
  (call: string) =>
  (seen: Seen): string =>
    encodeURIComponent(seen.id(call));

/** The id that the call named `call` answered. */
export const idOf =
  (call: string) =>
  (seen: Seen): string =>
    seen.id(call);
