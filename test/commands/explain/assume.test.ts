import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import type { Operation, Resource, Row } from "../../../src/model/resource.ts";
import { createExplain } from "../../../src/runtime/explain/explain.ts";
import type { Explanation } from "../../../src/runtime/explain/explanation.ts";
import { EXAMPLES, examplesOf } from "../../support/examples.ts";
import { explained } from "./support.ts";

const catalogue = await loadCatalogue("v2beta1");

/** Every way to ask for the operation: its path, with each query and each body that tells something. */
function askedOf(resource: Resource, operation: Operation): [request: string, body: Json | undefined][] {
  const base = `/${resource.domain}/v1/${resource.v1}`;
  switch (operation.kind) {
    case "list":
      return ["", ...queriesOf(resource)].map((query) => [`GET ${base}?${query}`, undefined]);
    case "get":
      return [[`GET ${base}/A/b`, undefined]];
    case "create":
      return bodiesOf(resource, operation).map((body) => [`POST ${base}/A/b`, body]);
    case "update":
      return bodiesOf(resource, operation).map((body) => [`PUT ${base}/A/b`, body]);
    case "delete":
      return [[`DELETE ${base}/A/b`, undefined]];
    case "native":
      return [];
    default: {
      const path = operation.path.replace(/\{\w+=\*\*\}/, "A/b").replace(/\{\w+=\*\}/, "sha256:1");
      const request = `${operation.method} /${resource.domain}/v1/${path}`;
      const bodies = operation.body === undefined ? [undefined] : bodiesOf(resource, operation);
      const batch = operation.kind === "composite" && operation.by === "create-batch";
      return bodies.map((body) => [request, batch && !Array.isArray(body) ? [body ?? {}, body ?? {}] : body]);
    }
  }
}

function queriesOf(resource: Resource): string[] {
  const shown = examplesOf(resource).flatMap((example) => (example.of === "filters" ? [example.v1] : []));
  return [...shown, "id=A%2Fb", "parent=A", "parent=%2F", "uidp.children_of=A", "name=n", "id=A%2Fb&name=n"];
}

/** None, the examples', everything at once, and every member alone. */
function bodiesOf(resource: Resource, operation: Operation): (Json | undefined)[] {
  const shown = examplesOf(resource).flatMap((example): Json[] => {
    if (example.of === "update") return operation.kind === "update" ? [example.v1] : [];
    if (!("operation" in example) || example.operation !== operation.name) return [];
    if (example.of === "body") return [example.v1];
    return example.of === "exchange" && example.body !== undefined ? [example.body] : [];
  });
  const rows = "body" in operation && operation.body !== undefined ? operation.body.rows : [];
  return [undefined, ...shown, ...rows.flatMap((row) => valuesOf(row).map((value) => ({ [row.v1]: value })))];
}

function valuesOf(row: Row): Json[] {
  const some = someOf(row);
  if (row.kind === "message" && row.list !== true) {
    const members = row.rows.map((each): JsonObject => ({ [each.v1]: valuesOf(each)[0] ?? null }));
    return [{}, ...members];
  }
  return row.kind !== "map" && row.list === true ? [[some], []] : [some];
}

function someOf(row: Row): Json {
  switch (row.kind) {
    case "bool":
      return true;
    case "int32":
    case "uint32":
      return 7;
    case "int64":
      return "7";
    case "timestamp":
      return "2024-01-02T03:04:05Z";
    case "duration":
      return "7s";
    case "enum":
      return row.values.values.find(([v1, number, v2]) => v1 !== null && v2 !== null && number > 0)?.[0] ?? 0;
    case "message":
    case "map":
      return {};
    default:
      return row.v1 === "uid" || row.v1 === "id" ? "A/b" : "eA==";
  }
}

const config = loadConfig({
  flags: { upstreamV2Url: "http://v2.invalid" },
  env: {},
  readFile: () => new Uint8Array(),
}).config;
const explain = createExplain(config, catalogue, EXAMPLES);

async function explanationOf(request: string, body: Json | undefined): Promise<Explanation> {
  const [method = "", target = ""] = request.split(" ");
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  return explain({ method, target, headers: [], body: bytes, notes: [] });
}

/** What only an answer of the platform can bring about. */
const OF_ANSWERS = /answer-|join-missing|id-filter-empty|partial-write|depends on what the platform answers/;

const operations = catalogue.resources.flatMap((resource) =>
  resource.operations
    .filter(({ kind }) => kind !== "native")
    .map((operation) => ({ title: `${resource.name} ${operation.name}`, resource, operation })),
);

describe("nothing that comes of an assumption alone is told of a request", () => {
  test.each(operations)("$title", async ({ resource, operation }) => {
    const asked = askedOf(resource, operation);
    expect(asked.length).toBeGreaterThan(0);
    let translated = 0;
    for (const [request, body] of asked) {
      const explanation = await explanationOf(request, body);
      const { mode, notes, risks, refusal } = explanation;
      const said = `${request} ${JSON.stringify(body)}: ${notes.join("; ")}`;
      expect(notes.join("; "), said).not.toMatch(OF_ANSWERS);
      expect(`${JSON.stringify(risks)}${refusal?.message}`, said).not.toContain("the platform's answer is not");
      expect(`${JSON.stringify(risks)}${refusal?.message}`, said).not.toContain("the platform did not store");
      if (mode === "translate") translated += 1;
    }
    expect(translated).toBeGreaterThan(0);
  });
});

describe("an assumed answer fits what is asked", () => {
  test("a batch of one, and of three, is answered with as many records", async () => {
    for (const count of [1, 3]) {
      const batch = Array.from({ length: count }, () => ({ identity: "A/i", role: "r" }));
      const { notes, calls } = await explained("POST /iam/v1/rolebindings/batch/A", batch);
      expect(notes).toEqual(["in general it takes `POST roleBindings:batchCreate`, with the parent in the body"]);
      expect(calls.map(({ assuming }) => assuming)).toEqual(["the platform creates every one of them"]);
    }
  });

  test("a tag that is created again keeps the uid that was asked for", async () => {
    const { notes, calls } = await explained("PUT /registry/v1/tags/A/b", { digest: "sha256:1" });
    expect(calls).toHaveLength(2);
    expect(notes).toEqual(["in general it takes `GET` of the tag, and `POST` of its name below its repo"]);
  });

  test("a new repo lies below the parent, so that its readme is written too", async () => {
    const { calls } = await explained("POST /registry/v1/repos/A", { name: "x", readme: "hi" });
    expect(calls.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "GET /registry/v2beta1/repos?uidp.children_of=A&name=x&page_size=200",
      "POST /registry/v2beta1/repos/A",
      "PATCH /registry/v2beta1/repos/UID/readme?updateMask=content",
    ]);
  });

  test("what carryover refuses only because of what it read is no refusal, but a condition", async () => {
    const body = { name: "x", sync_config: { syncApks: true } };
    const { refusal, risks, calls } = await explained("POST /registry/v1/repos/A", body);
    expect([refusal, calls.length]).toEqual([null, 1]);
    expect(risks.map(({ reason, when }) => [reason, when])).toContainEqual([
      "INVALID_BODY",
      expect.stringMatching(/^if, as assumed here, there is none yet: invalid body: sync_config.syncApks/),
    ]);
  });
});
