/** v1 calls on account associations: a group has one, under its own id. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import {
  at,
  type Call,
  del,
  escapedId,
  get,
  idOf,
  post,
  put,
  rootId,
  type Scenario,
  type Seen,
  without,
} from "./call.ts";
import { atPlace, badBodies, inPlace, MISSING, madeBy, OWN_KEYS, otherMethods, strangers } from "./words.ts";

const ASSOCIATIONS = "/iam/v1/account_associations";
const here = inPlace(ASSOCIATIONS);
const itself = at(`${ASSOCIATIONS}?group=`, idOf("place"));
const AMAZON: JsonObject = { account: "123456789012" };
const GOOGLE: JsonObject = { projectId: "project", projectNumber: "98765432109876543210" };
const BINDINGS: JsonObject = { serviceBindings: OWN_KEYS };
const AZURE: JsonObject = { tenantId: "10000000-0000-0000-0000-000000000000", clientIds: OWN_KEYS };
/** Ids of 64 bits: more than a JSON number of a careless reader holds. */
const GITHUB: JsonObject = {
  appInstallations: {
    "9007199254740993": { installations: [{ installationId: "9223372036854775807", name: "octo" }] },
    "-1": { installations: [] },
    "12": {
      installations: [
        { installationId: "12345678", name: "" },
        { installationId: "0", name: "zero" },
      ],
    },
  },
};
const FULL: JsonObject = {
  name: "accounts",
  description: "d",
  amazon: AMAZON,
  google: GOOGLE,
  chainguard: BINDINGS,
  azure: AZURE,
  github: GITHUB,
};
const NOTHING: JsonObject = { amazon: null, google: null, chainguard: null, azure: null, github: null };
const BLOCKS: readonly string[] = Object.keys(NOTHING);

/** Another group below the root: a group has one association only. */
const group = (name: string): Call => post(`group ${name}`, at("/iam/v1/groups/", rootId), { name });
const of = (name: string): ((seen: Seen) => string) => madeBy(ASSOCIATIONS, `group ${name}`);
/** The record that the list `call` has of the place. */
const read =
  (call: string) =>
  (seen: Seen): JsonObject =>
    seen.item(call, "group", seen.id("place"));

/** Creates an association in a group of its own. */
const created = (name: string, body: Call["body"], extra: Partial<Call> = {}): readonly Call[] => [
  group(name),
  post(name, of(name), body, extra),
];

const creating: readonly Scenario[] = [
  atPlace("creating account associations", [
    post("of everything", here, FULL, { shows: (seen) => ({ ...FULL, group: seen.id("place") }) }),
    get("it", itself, { items: 1, every: FULL }),
    post("once more", here, FULL, 409, { code: 6 }),
    ...created("of nothing", { name: "empty" }, { shows: { ...NOTHING, name: "empty", description: "" } }),
    ...BLOCKS.flatMap((block) =>
      created(
        `of ${block}`,
        { name: "accounts", [block]: FULL[block] ?? null },
        { shows: { ...NOTHING, [block]: FULL[block] ?? null } },
      ),
    ),
    ...created(
      "in the other spelling",
      {
        name: "snake",
        google: { project_id: "p", project_number: "1" },
        chainguard: { service_bindings: OWN_KEYS },
        azure: { tenant_id: "t", client_ids: OWN_KEYS },
        github: { app_installations: { "1": { installations: [{ installation_id: 7, name: "n" }] } } },
      },
      {
        shows: {
          google: { projectId: "p", projectNumber: "1" },
          chainguard: { serviceBindings: OWN_KEYS },
          azure: { tenantId: "t", clientIds: OWN_KEYS },
          github: { appInstallations: { "1": { installations: [{ installationId: "7", name: "n" }] } } },
        },
      },
    ),
    ...created("of another group in the body", (seen) => ({ name: "accounts", group: seen.known.root }), {
      shows: (seen) => ({ group: seen.id("group of another group in the body") }),
    }),
    ...created("members of the server do nothing", {
      name: "accounts",
      createdAt: "2001-01-01T00:00:00Z",
      id: "x",
      uid: "y",
      updateTime: "t",
      colour: {},
    }),
    ...created("null members are left out", { name: "accounts", ...NOTHING, description: null, group: null }),
    ...created(
      "of a map without anything",
      { name: "accounts", github: { appInstallations: {} } },
      { shows: { github: { appInstallations: {} } } },
    ),
    ...created(
      "of a github without anything",
      { name: "accounts", github: {} },
      { shows: { github: { appInstallations: {} } } },
    ),
    get("all of them", ASSOCIATIONS, { items: 13 }),
    get("by name", `${ASSOCIATIONS}?name=snake`, { items: 1, every: { name: "snake" } }),
    get("by group and name", at(`${ASSOCIATIONS}?name=accounts&group=`, idOf("place")), { items: 1 }),
  ]),
  atPlace("account associations that cannot be created", [
    ...badBodies((name, body, status) => post(name, here, body, status), "name"),
    post("with both spellings", here, { name: "x", azure: { tenantId: "a", tenant_id: "b" } }, 400),
    post("with a text for a message", here, { name: "x", amazon: "123456789012" }, 400),
    post("with a number for an account", here, { name: "x", amazon: { account: 123456789012 } }, 400),
    post("with a list for a map", here, { name: "x", azure: { tenantId: "t", clientIds: [] } }, 400),
    post("with a number in a map", here, { name: "x", chainguard: { serviceBindings: { a: 1 } } }, 400),
    post("with null in a map", here, { name: "x", chainguard: { serviceBindings: { a: null } } }, 400),
    post("with one key of a map twice", here, '{"name":"x","azure":{"clientIds":{"a":"1","a":"2"}}}', 400),
    post(
      "with an id that is no number",
      here,
      { name: "x", github: { appInstallations: { "1": { installations: [{ installationId: "one" }] } } } },
      400,
    ),
    post(
      "with an id out of range",
      here,
      {
        name: "x",
        github: { appInstallations: { "1": { installations: [{ installationId: "9223372036854775808" }] } } },
      },
      400,
    ),
    post("of a group that is not there", `${ASSOCIATIONS}/${MISSING}`, FULL, 404),
    ...strangers((name, status, extra) => post(name, here, FULL, status, extra)),
    get("none of them is there", itself, { items: 0 }),
  ]),
  atPlace("account associations of a key that is no number", [
    post("with a key that is no number", here, { name: "x", github: { appInstallations: { one: {} } } }, 400),
  ]),
];

const replacing: readonly Scenario[] = [
  atPlace("replacing account associations", [
    post("one", here, FULL),
    get("it", itself, { items: 1 }),
    put("what a read gave", here, read("it"), { shows: FULL }),
    put("what the create answered", here, (seen) => seen.answer("one"), { shows: FULL }),
    ...BLOCKS.flatMap((block) => [
      put(`without ${block}: it is cleared`, here, without(FULL, block), { shows: { ...FULL, [block]: null } }),
      put(`${block} null: it stays cleared`, here, { ...FULL, [block]: null }, { shows: { ...FULL, [block]: null } }),
      put(`${block} again`, here, FULL, { shows: FULL }),
    ]),
    put("without a description: it is cleared", here, without(FULL, "description"), { shows: { description: "" } }),
    put(
      "with fewer keys: those left out are gone",
      here,
      { ...FULL, chainguard: { serviceBindings: { id: "1" } } },
      { shows: { chainguard: { serviceBindings: { id: "1" } } } },
    ),
    put("with another account", here, { ...FULL, amazon: { account: "000000000000" } }, 200, {
      shows: { amazon: { account: "000000000000" } },
    }),
    put(
      "with fewer installations",
      here,
      { ...FULL, github: { appInstallations: { "12": { installations: [] } } } },
      { shows: { github: { appInstallations: { "12": { installations: [] } } } } },
    ),
    put(
      "with numbers for ids",
      here,
      { ...FULL, github: { appInstallations: { "12": { installations: [{ installationId: 12 }] } } } },
      { shows: { github: { appInstallations: { "12": { installations: [{ installationId: "12", name: "" }] } } } } },
    ),
    put("of another group in the body", here, (seen) => ({ ...FULL, group: seen.known.root }), {
      shows: (seen) => ({ group: seen.id("place") }),
    }),
    put("members of the server do nothing", here, { ...FULL, createdAt: "2001-01-01T00:00:00Z", uid: "x" }),
    put("unknown members do nothing", here, { ...FULL, colour: [], amazon: { ...AMAZON, colour: 1 } }),
    put("by a name only: everything else is gone", here, { name: "bare" }, 200, {
      shows: { ...NOTHING, name: "bare", description: "" },
    }),
    get("it is bare", itself, { items: 1, every: { ...NOTHING, name: "bare" } }),
  ]),
  atPlace("account associations that cannot be replaced", [
    put("before there is one", here, FULL, 404),
    post("one", here, FULL),
    ...badBodies((name, body, status) => put(name, here, body, status), "name"),
    put("with a text for a message", here, { ...FULL, google: "p" }, 400),
    put("of a group that is not there", `${ASSOCIATIONS}/${MISSING}`, FULL, 404),
    ...strangers((name, status, extra) => put(name, here, { name: "x" }, status, extra)),
    ...otherMethods(here, ["PATCH", "HEAD"]),
    get("it is as it was", itself, { items: 1, every: FULL }),
  ]),
  atPlace("removing account associations", [
    del("before there is one: nothing to do", here, { shows: {} }),
    post("one", here, FULL),
    ...strangers((name, status, extra) => del(name, here, status, extra)),
    get("it is still there", itself, { items: 1 }),
    del("it", here, { shows: {} }),
    get("it is gone", itself, { items: 0 }),
    del("it once more: nothing to do", here, { shows: {} }),
    put("what is gone", here, FULL, 404),
    post("another in its place", here, { name: "again" }),
    del("with %2F in the path", at(`${ASSOCIATIONS}/`, escapedId("place"))),
    get("that is gone too", itself, { items: 0 }),
  ]),
];

const check = inPlace(ASSOCIATIONS);
const checked = (seen: Seen): string => `${check(seen)}:check`;
const TYPES: readonly (readonly [name: string, number: number])[] = [
  ["GOOGLE", 1],
  ["AMAZON", 2],
  ["AZURE", 3],
];
const asked = (name: string, type: Json): Call => post(name, checked, { accountType: type });

const checking: readonly Scenario[] = [
  atPlace("checking account associations", [
    post("one", here, FULL),
    ...TYPES.flatMap(([type, number]) => [asked(`${type} of all`, type), asked(`${type} by its number`, number)]),
    post("in the other spelling", checked, { account_type: "AZURE" }),
    post("of another group in the body", checked, (seen) => ({ accountType: "AZURE", group: seen.known.root })),
    post("unknown members do nothing", checked, { accountType: "GOOGLE", providerType: "x", colour: 1 }),
    put("less", here, { name: "less", amazon: AMAZON }),
    ...TYPES.map(([type]) => asked(`${type} of less`, type)),
    put("nothing", here, { name: "nothing" }),
    ...TYPES.map(([type]) => asked(`${type} of nothing`, type)),
    post("with %2F in the path", (seen) => `${ASSOCIATIONS}/${encodeURIComponent(seen.id("place"))}:check`, {
      accountType: "AMAZON",
    }),
    post("with a truth", checked, { accountType: true }, 400),
    post("with both spellings", checked, { accountType: 1, account_type: 1 }, 400),
    post("with bad JSON", checked, "{", 400),
    post("with null", checked, null, 400),
    post("with an array", checked, [], 400),
    ...strangers((name, status, extra) => post(name, checked, { accountType: "AMAZON" }, status, extra)).filter(
      ({ as }) => as !== "viewer",
    ),
    post("by a viewer", checked, { accountType: "AMAZON" }, { as: "viewer" }),
    post("of a group that is not there", `${ASSOCIATIONS}/${MISSING}:check`, { accountType: "AMAZON" }, 404),
    group("without one"),
    post("of a group without one", madeBy(ASSOCIATIONS, "group without one", ":check"), { accountType: "AMAZON" }, 404),
  ]),
];

export const accountAssociationScenarios: readonly Scenario[] = [...creating, ...replacing, ...checking];
