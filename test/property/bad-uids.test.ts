/** What becomes of a uid that is none, or that of another kind of record, wherever a request may hold one? (Design: paths.) */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import type { ApiRequest } from "../../src/model/message.ts";
import type { Operation, Resource } from "../../src/model/resource.ts";
import { createStopper } from "../../src/model/signal.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { goodValue, SECRET } from "./bad-bodies.ts";
import { createFront, jsonOf } from "./front.ts";

const catalogue = await loadCatalogue("v2beta1");
const clock = () => new Date("2026-03-01T08:00:00Z");
const [native, platform] = [createSandbox({ seed: "uids", clock }), createSandbox({ seed: "uids", clock })];
const { signal } = createStopper();
const ask = createFront(catalogue, platform.send);

const METHODS = new Map([
  ["get", "GET"],
  ["create", "POST"],
  ["update", "PUT"],
  ["delete", "DELETE"],
]);

/** An operation whose path holds a uid: what stands around it. */
interface Place {
  readonly name: string;
  readonly resource: Resource;
  readonly operation: Operation;
  readonly method: string;
  readonly before: string;
  readonly behind: string;
}

function placesOf(resource: Resource): readonly Place[] {
  return resource.operations.flatMap((operation) => {
    if (operation.kind === "native" || operation.kind === "list") return [];
    const path = "path" in operation ? operation.path : `${resource.v1}/{uid=**}`;
    const [before, behind] = path.split(/\{\w+=\*\*\}/);
    if (before === undefined || behind === undefined) return [];
    const method = "method" in operation ? operation.method : (METHODS.get(operation.kind) ?? "");
    const at = { before: `/${resource.domain}/v1/${before}`, behind: behind.replace(/\{\w+=\*\}/g, "one") };
    return [{ name: `${resource.name} ${operation.name}`, resource, operation, method, ...at }];
  });
}

/** Members without which v2 takes no record of some kind; v1 was not so strict. */
const WANTED = new Map([["claimMatch", '{"issuer":"https://a.example","subject":"s"}']]);

/** A body that says nothing wrong. */
function bodyOf({ operation }: Place): string {
  const rows = "body" in operation ? (operation.body?.rows ?? []) : [];
  const isWanted = (name: string) => name === "name" || name === "capabilities" || WANTED.has(name);
  const named = rows.filter((row) => row.access !== "output" && (isWanted(row.v1) || row.required === true));
  const body = `{${named.map((row) => `${JSON.stringify(row.v1)}:${WANTED.get(row.v1) ?? goodValue(row)}`).join(",")}}`;
  return "by" in operation && operation.by === "create-batch" ? `[${body}]` : body;
}

function requestOf(place: Place, uid: string): ApiRequest {
  const headers = [["authorization", `Bearer ${native.token("admin")}`]] as const;
  const target = `${place.before}${uid}${place.behind}`;
  return place.method === "GET" || place.method === "DELETE"
    ? { method: place.method, target, headers }
    : { method: place.method, target, headers, body: Buffer.from(bodyOf(place)) };
}

const places = catalogue.resources.flatMap(placesOf);

const NO_UIDS = [
  "a%20b",
  "a+b",
  "..",
  "a/../b",
  "%2e%2e",
  "a%2F%2e%2e%2Fb",
  "a//b",
  "a%2F%2Fb",
  "/a",
  "a%00b",
  "a%0Ab",
  "a%2562",
  "a%zz",
  "a%",
  "a;b",
  "a#b",
  "*",
  "a,b",
  "a%3Ab",
  "a%3Fb",
  "%C3%A4",
  "%ff",
  "...",
  '"a"',
  "a\\b",
];

describe("T-SMG-28: a uid in a path that no record can have is refused, and nothing of it reaches the platform", () => {
  test.each(places)("$name", async (place) => {
    for (const uid of NO_UIDS) {
      const told = await ask(requestOf(place, `${SECRET}${uid}/${uid}`));
      const { problem, sent } = told;
      expect([uid, told.status, problem?.reason, problem?.code, sent]).toEqual([uid, 400, "INVALID_PATH", 3, []]);
      expect(problem?.message).not.toContain(SECRET);
    }
  });
});

/** What the uid in the path is by right: of a create the kind of its parent. An association has the uid of its group. */
function ownKind({ resource, operation: { kind } }: Place): string {
  if (kind === "create") return resource.name === "tag" ? "repos" : "groups";
  return resource.name === "account-association" ? "groups" : resource.v2;
}

/** One uid of each kind, of the seed that both platforms have. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries(native.snapshot()).flatMap(([kind, records]) => {
    const uid = records.find((record) => typeof record["uid"] === "string")?.["uid"];
    return typeof uid === "string" && kind !== "accountAssociations" ? [[kind, uid] as const] : [];
  }),
);

describe("a uid of another kind of record is the platform's to judge, as native v1 judged it", () => {
  test.each(places)("$name", async (place) => {
    const { operation, method } = place;
    for (const [kind, uid] of [...KINDS, ["nobody", "0".repeat(40)] as const]) {
      if (kind === ownKind(place)) continue;
      const request = requestOf(place, uid);
      const told = await ask(request);
      expect([kind, told.problem?.reason]).toEqual([kind, undefined]);
      expect(told.sent.length).toBeGreaterThan(0);
      // v1 had no Get of these.
      if (operation.kind === "get") {
        expect([kind, told.status]).toEqual([kind, 404]);
        continue;
      }
      // Whether v1 had no events of an advisory that is not there, or no advisory, is nowhere said.
      if ("by" in operation && operation.by === "list-member") continue;
      const answer = await native.send(request, { signal });
      const code = (status: number, body: { readonly code?: number }) => [
        kind,
        method,
        status,
        status < 400 ? 0 : body.code,
      ];
      expect(code(told.status, jsonOf(told.answer))).toEqual(code(answer.status, jsonOf(answer)));
    }
  });
});

test("there are places of every kind", () => {
  expect(new Set(places.map(({ operation }) => operation.kind))).toEqual(
    new Set(["get", "create", "update", "delete", "call", "composite"]),
  );
  expect(KINDS.size).toBeGreaterThan(8);
});
