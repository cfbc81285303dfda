import { expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { type Operation, type Resource, type Row, unpublishedPaths } from "../../src/model/resource.ts";
import { json, operationOf, runOperation } from "./support.ts";

const { resources } = await loadCatalogue("v2beta1");

const BOTH = ["createdAt", "updatedAt"];
const WITHIN = (part: string) => BOTH.map((name) => `${part}.${name}`);

/** By operation: the times of its published v1 messages, and those that only v1's specification names. */
const TIMES: readonly (readonly [operations: string, published: readonly string[], specified?: readonly string[]])[] = [
  ["account-association: list get create update", [], BOTH],
  ["account-association: check", []],
  ["advisory: list get", [...BOTH, "deletedAt", "events[].timestamp"]],
  ["advisory: list-events", ["items[].timestamp"]],
  ["group: list get create update", [], BOTH],
  ["group: lookup-group", [], WITHIN("group")],
  ["group: request-group-access check-eligibility", []],
  ["group-invite: list get", ["createdAt", "expiration"], ["updatedAt"]],
  ["group-invite: create", ["expiration"]],
  ["identity: list get create update lookup", [...BOTH, "lastSeen", "static.expiration"]],
  ["identity: update-metadata", []],
  ["identity-provider: list get create update", ["scim.previousTokenExpireTime", "scim.tokenExpireTime"], BOTH],
  ["identity-provider: generate-scim-token", ["expireTime"]],
  ["identity-provider: regenerate-scim-token", ["expireTime", "previousTokenExpireTime"]],
  ["identity-provider: revoke-scim-token", ["revokeTime"]],
  ["identity-provider: set-scim-enabled", []],
  ["repo: list get create update", ["createTime", "sync_config.expiration"], BOTH],
  ["repo: list-architectures get-size", []],
  ["role: list get create update", [], BOTH],
  ["role-binding: list get", ["createdAt"], [...WITHIN("group"), ...WITHIN("role")]],
  ["role-binding: create update create-batch", []],
  ["tag: list get create update", ["lastUpdated"], BOTH],
  ["tag: summarise", ["lastUpdated", "latestTag.lastUpdated"], WITHIN("latestTag")],
];

const CASES = TIMES.flatMap(([operations, published, specified = []]) => {
  const [resource = "", names = ""] = operations.split(": ");
  return names.split(" ").map((name) => ({ resource, name, published, specified }));
});

/** Every time of v2. */
const TIME = "2026-03-01T09:30:00.000Z";
const PARENT = "a0";
const UID = `${PARENT}/b1`;

/** A v2 message with everything that `rows` know. */
function message(rows: readonly Row[]): JsonObject {
  return Object.fromEntries(rows.flatMap((row) => (row.v2 === null ? [] : [[row.v2, contentOf(row)] as const])));
}

function contentOf(row: Row): Json {
  if (row.kind === "map") return {};
  if (row.kind === "message") return row.list === true ? [message(row.rows)] : message(row.rows);
  return row.list === true ? [] : scalarOf(row);
}

function scalarOf(row: Row): Json {
  if (row.kind === "timestamp") return TIME;
  if (row.kind === "enum") return row.values.values.find(([v1, , v2]) => v1 !== null && v2 !== null)?.[2] ?? "";
  return { string: UID, bytes: "", bool: true, int64: "1", duration: "60s" }[row.kind as "string"] ?? 1;
}

/** As v2 shows it anywhere, with what a record holds of others. */
function recordOf({ name, operations }: Resource, uid: string): JsonObject {
  const get = operations.find((each) => each.kind === "get");
  const reduced = name === "role-binding" ? { identity: { uid: UID }, group: { uid: UID }, role: { uid: UID } } : {};
  return { ...message(get?.kind === "get" ? get.answer.rows : []), ...reduced, uid };
}

/** A platform that has every record, and says all of it. `operation`: whose verb it answers. */
const platform =
  (operation: Operation) =>
  ({ method, target }: ApiRequest): ApiResponse => {
    const [path = "", query] = target.split("?");
    const [, , , collection = "", ...below] = path.split("/");
    const [plural, verb] = collection.split(":");
    const resource = resources.find(({ v2 }) => v2 === plural) as Resource;
    const rest = below.join("/");
    if (rest.endsWith("/readme")) return json(200, { uid: UID, content: "" });
    if (verb === "batchCreate") return json(200, { [resource.items]: [recordOf(resource, UID)] });
    if (verb !== undefined || rest.includes(":") || rest.includes("digests")) {
      if (operation.name === "lookup") return json(200, { uid: UID });
      return json(200, "answer" in operation ? message(operation.answer.rows) : {});
    }
    if (rest !== "") return json(200, recordOf(resource, method === "POST" ? UID : rest));
    const asked = new URLSearchParams(query).has("name") ? [] : [UID];
    return json(200, { [resource.items]: asked.map((uid) => recordOf(resource, uid)) });
  };

/** What clients must say. */
const BODIES: Readonly<Record<string, Json>> = {
  "account-association create": { name: "n" },
  "group-invite create": { ttl: "60s", role: UID },
  "identity-provider create": { defaultRole: UID },
  "role-binding create-batch": [{}],
  "tag create": { name: "n", digest: "d" },
};

/** Dotted paths of all times, each once. */
function timesIn(value: Json, at = ""): readonly string[] {
  if (value === TIME) return [at];
  if (typeof value !== "object" || value === null) return [];
  const inner = Array.isArray(value)
    ? value.flatMap((each) => timesIn(each, `${at}[]`))
    : Object.entries(value).flatMap(([name, each]) => timesIn(each, at === "" ? name : `${at}.${name}`));
  return [...new Set(inner)].sort();
}

async function timesShown(resource: Resource, operation: Operation, recordTimes: "all" | "published") {
  const ofParent = ["create", "create-batch", "summarise"].includes(operation.name);
  const body = BODIES[`${resource.name} ${operation.name}`] ?? {};
  const run = await runOperation({
    resources,
    resource,
    operation,
    uid: operation.kind === "list" ? "" : ofParent ? PARENT : UID,
    body: operation.kind === "list" || operation.kind === "get" ? "" : JSON.stringify(body),
    options: { recordTimes, mismatch: "report" },
    answer: platform(operation),
  });
  expect(run.response.status).toBe(200);
  const answer = run.body as JsonObject;
  const shown = operation.kind === "list" ? (answer["items"] as Json[])[0] : answer;
  const names = run.exchange.unknownFields.filter(({ direction }) => direction === "response").map(({ name }) => name);
  return { times: timesIn(shown ?? null), unknown: names };
}

test.each(CASES)("DIFF-10: $resource $name", async ({ resource: name, name: operationName, published, specified }) => {
  const resource = resources.find((each) => each.name === name) as Resource;
  const operation = operationOf(resource, operationName);
  const all = await timesShown(resource, operation, "all");
  expect(all.times).toEqual([...published, ...specified].sort());
  // What is left out is known all the same, and no field of neither version.
  expect(await timesShown(resource, operation, "published")).toEqual({ ...all, times: [...published].sort() });
  const prefix = operation.kind === "list" ? "items[]." : "";
  expect(unpublishedPaths(operation).toSorted()).toEqual(specified.map((path) => prefix + path).sort());
});

test("that was every operation with an answer", () => {
  const answering = resources.flatMap((resource) =>
    resource.operations.filter((each) => "answer" in each).map((each) => `${resource.name} ${each.name}`),
  );
  expect(CASES.map(({ resource, name }) => `${resource} ${name}`).sort()).toEqual(answering.sort());
});
