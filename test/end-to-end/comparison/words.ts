/** Calls that every resource needs, and helpers to write them. */
import { type Json, type JsonObject, member } from "../../../src/model/json.ts";
import {
  at,
  type Call,
  escapedId,
  type Given,
  get,
  idOf,
  post,
  rootId,
  type Scenario,
  type Seen,
  type Step,
  small,
} from "./call.ts";

/** A uid of nothing. */
export const MISSING = `${"0".repeat(40)}/${"0".repeat(16)}`;

/** A group below the root of the organisation, closed to other organisations: the first call of many scenarios. */
export const place: Call = post("place", at("/iam/v1/groups/", rootId), { name: "place" });

/** A scenario in a store with hardly anything in it but the place. */
export function atPlace(name: string, calls: readonly Step[]): Scenario {
  return small(name, [place, ...calls]);
}

/** The path of `collection` at the place. */
export const inPlace = (collection: string): ((seen: Seen) => string) => at(`${collection}/`, idOf("place"));

/** The path of what `call` made or found. */
export const madeBy = (collection: string, call: string, suffix = ""): ((seen: Seen) => string) =>
  at(`${collection}/`, idOf(call), suffix);

/** Keys of a client's own map. Each is the name of a field somewhere, and must not be renamed. */
export const OWN_KEYS: JsonObject = JSON.parse(
  '{"id":"1","uid":"2","createdAt":"3","create_time":"4","createTime":"5","role":"6","identity":"7","name":"8","a/b~c":"9","":"10","__proto__":"11","constructor":"12","INGESTER":"13","SERVICE_PRINCIPAL_INGESTER":"14","ключ":"15"}',
) as JsonObject;

/** The record that is alone in the list which `call` got. */
export const alone =
  (call: string) =>
  (seen: Seen): JsonObject =>
    seen.item(call, "id", seen.id(call));

/** What a record is written at: its id, or its group where v1 has no id. */
export const uidOf = (record: JsonObject): string => String(record["id"] ?? record["group"]);

/** The record of this number, by id, in the list of all; the last one again when there are fewer. */
export const numbered =
  (index: number) =>
  (seen: Seen): JsonObject => {
    const items = (member(seen.answer("all"), "items") as JsonObject[]).toSorted((a, b) =>
      uidOf(a) < uidOf(b) ? -1 : 1,
    );
    return items[Math.min(index, items.length - 1)] ?? {};
  };

type Ask = (name: string, body: Call["body"], status: number) => Call;

/** Bodies that no write takes; `text` is the name of a member that is a text. */
export function badBodies(ask: Ask, text: string): Call[] {
  const bad: readonly (readonly [string, Json | Uint8Array])[] = [
    ["null", null],
    ["an array", [{ [text]: "x" }]],
    ["a text", '"x"'],
    ["a number", "1"],
    ["bad JSON", "{"],
    ["a trailing comma", `{"${text}":"x",}`],
    ["a byte order mark", `\ufeff{"${text}":"x"}`],
    ["a lone surrogate", `{"${text}":"\\ud800"}`],
    ["bytes that are no UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["one name twice", `{"${text}":"x","${text}":"x"}`],
    ["a number for a text", { [text]: 5 }],
    ["an object for a text", { [text]: {} }],
    ["a list for a text", { [text]: ["x"] }],
    ["a truth for a text", { [text]: true }],
  ];
  return bad.map(([what, body]) => ask(`by ${what}`, body, 400));
}

/** Who may not write; `ask` makes the write that the admin may do. */
export function strangers(ask: (name: string, status: number, extra: Partial<Call>) => Call): Call[] {
  return [
    ask("by a viewer", 403, { as: "viewer" }),
    ask("by an outsider", 403, { as: "outsider" }),
    ask("by somebody who may do nothing", 403, { as: "powerless" }),
    ask("without a token", 401, { as: "anonymous" }),
    ask("with a forged token", 401, { as: "forged" }),
  ];
}

/** Methods that a path does not have. */
export function otherMethods(path: Given<string>, methods: readonly string[]): Call[] {
  return methods.map((method) => ({
    name: `${method} is not there`,
    method,
    path,
    ...(method === "HEAD" || method === "GET" ? {} : { body: {} }),
    status: 501,
    ...(method === "HEAD" ? {} : { code: 12 }),
  }));
}

/** A member of the first record (by id) of the list that `call` got. */
export const of =
  (call: string, name: string) =>
  (seen: Seen): string =>
    encodeURIComponent(String(member(seen.item(call, "id", seen.id(call)), name)));

/** The uid without its last segment. */
export const parentOf =
  (call: string) =>
  (seen: Seen): string =>
    seen.id(call).split("/").slice(0, -1).join("/");

/** What every list owes its callers. */
export function callers(path: string) {
  return [
    get("everything", path, { items: "some" }),
    get("as a viewer", path, { as: "viewer", items: "some" }),
    get("as an outsider", path, { as: "outsider" }),
    get("as somebody who may do nothing", path, { as: "powerless", items: 0 }),
    get("without a token", path, 401, { as: "anonymous" }),
    get("with a forged token", path, 401, { as: "forged" }),
    get("unknown parameters do nothing", `${path}?verbose=1&uid=x&skip=1`, { items: "some" }),
    { name: "head only", method: "HEAD", path, status: 501 },
  ];
}

/** What every list with an `id` filter owes. */
export function ids(path: string) {
  return [
    get("by id", at(`${path}?id=`, idOf("everything")), { items: 1 }),
    get("by id with %2F", at(`${path}?id=`, escapedId("everything")), { items: 1 }),
    get("by id, not for this caller", at(`${path}?id=`, idOf("everything")), { as: "powerless", items: 0 }),
    get("by id without a token", at(`${path}?id=`, idOf("everything")), 401, { as: "anonymous" }),
    get("by an id that is not there", `${path}?id=${MISSING}`, { items: 0 }),
    get("by id twice", `${path}?id=a&id=b`, 400),
    get("by no id", `${path}?id=`, { items: "some" }),
  ];
}

/** What every list with the `uidp` filters owes. */
export function places(path: string) {
  return [
    get("below the root", at(`${path}?uidp.descendants_of=`, rootId), { items: "some" }),
    get("in camel case", at(`${path}?uidp.descendantsOf=`, rootId), { items: "some" }),
    get("right below its parent", at(`${path}?uidp.children_of=`, parentOf("everything")), { items: "some" }),
    get("right below it", at(`${path}?uidp.childrenOf=`, idOf("everything")), { items: 0 }),
    get("of a place that is not there", `${path}?uidp.children_of=${MISSING}`, { items: 0 }),
    get("in the root", `${path}?uidp.in_root=true`),
    get("an empty boolean", `${path}?uidp.in_root=`, 400),
    get("no boolean", `${path}?uidp.inRoot=yes`, 400),
    get("ancestors", at(`${path}?uidp.ancestors_of=`, idOf("everything"))),
    get("by uids", (seen) => `${path}?uidp.ids=${seen.id("everything")}&uidp.ids=${MISSING}`, { items: 1 }),
    get("by id and its place", (seen) => `${path}?id=${seen.id("everything")}&uidp.descendants_of=${seen.known.root}`),
    get("by id and another place", (seen) => `${path}?id=${seen.id("everything")}&uidp.children_of=${MISSING}`, {
      items: 0,
    }),
    get("a message", `${path}?uidp=x`, 400),
    get("empty filters", `${path}?uidp.children_of=&uidp.descendants_of=`, { items: "some" }),
  ];
}

/** What every list with a `name` filter owes. */
export function names(path: string) {
  return [
    get("by name", at(`${path}?name=`, of("everything", "name")), { items: "some" }),
    get("by nobody's name", `${path}?name=no-such-name`, { items: 0 }),
    get("by no name", `${path}?name=`, { items: "some" }),
    get("by name twice", `${path}?name=a&name=b`, 400),
    get("by id and name", (seen) => `${path}?id=${seen.id("everything")}&name=${of("everything", "name")(seen)}`, {
      items: 1,
    }),
    get("by id and another name", at(`${path}?name=no-such-name&id=`, idOf("everything")), { items: 0 }),
  ];
}
