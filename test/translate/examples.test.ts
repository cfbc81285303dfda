import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Example, Operation, Resource } from "../../src/model/resource.ts";
import { createRouter } from "../../src/router/router.ts";
import { examplesOf } from "../support/examples.ts";
import { anything, json, operationOf, type RunInput, runOperation, textOf } from "./support.ts";

const { resources, natives } = await loadCatalogue("v2beta1");

/** A platform that has the records of `joined` and `record`, and answers `main` to the call of a list. */
function platform(main: JsonObject, record: JsonObject, joined: readonly { resource: string; v2: JsonObject }[]) {
  return (request: ApiRequest): ApiResponse => {
    for (const other of resources) {
      if (!request.target.startsWith(`/${other.domain}/v2beta1/${other.v2}?`)) continue;
      const asked = new URLSearchParams(request.target.slice(request.target.indexOf("?"))).getAll("uidp.ids");
      if (asked.length === 0) continue;
      const found = joined.filter(({ resource, v2 }) => resource === other.name && asked.includes(String(v2["uid"])));
      return json(200, { [other.items]: found.map(({ v2 }) => v2) });
    }
    return json(200, request.target.endsWith(`/${record["uid"]}`) ? record : main);
  };
}

async function answerOf(resource: Resource, example: Example & { of: "answer" }): Promise<unknown> {
  const joined = example.joined ?? [];
  const operation = operationOf(resource, example.operation);
  const base = { resources, resource, operation, options: { mismatch: "report" } } as const;
  if (example.operation === "list") {
    const main = { [resource.items]: [example.v2], nextPageToken: "" };
    const { body } = await runOperation({ ...base, answer: platform(main, example.v2, joined) });
    return (body as { items: unknown[] }).items[0];
  }
  const uid = String(example.v2["uid"]);
  const asked = askedOf(resource, operation);
  const answer = platform(example.v2, example.v2, joined);
  const run = await runOperation({ ...base, uid, answer, ...(asked === undefined ? {} : { body: asked }) });
  return run.body;
}

/** What a client says to get such an answer, where an empty body would be refused: one of the examples. */
function askedOf(resource: Resource, operation: Operation): string | undefined {
  if (operation.kind !== "create" || "by" in operation) return undefined;
  const body = examplesOf(resource).find((each) => each.of === "body" && each.operation === operation.name);
  return body?.of === "body" ? JSON.stringify(body.v1) : undefined;
}

const version = "v2beta1";
const route = createRouter({ resources, natives, version, extraPrefixes: [] });

/** Makes the request and answers each call as the example says; the calls must come in its order. */
async function followExchange(resource: Resource, example: Example & { of: "exchange" }): Promise<void> {
  const operation = operationOf(resource, example.operation);
  const method = methodOf(operation);
  const routed = route(method, `/${resource.domain}/v1/${example.path}`);
  if (routed.kind !== "match") throw new Error(`${method} ${example.path} is routed as ${routed.kind}`);
  expect(routed.match.operation).toBe(operation);
  const queue = [...example.calls];
  const run = await runOperation({
    resources,
    resource,
    operation,
    match: routed.match,
    ...(example.body === undefined ? {} : { body: JSON.stringify(example.body) }),
    answer: (request) => {
      const next = queue.shift();
      expect(`${request.method} ${request.target}`).toBe(next?.call.replace(" ", ` /${resource.domain}/${version}/`));
      expect(request.body === undefined ? undefined : JSON.parse(textOf(request))).toEqual(next?.body);
      return json(next?.status ?? 200, next?.answer);
    },
  });
  expect(queue).toEqual([]);
  expect(run.response.status).toBe(example.status ?? 200);
  expect(run.body).toEqual(example.answer);
}

function methodOf(operation: Operation): string {
  if ("path" in operation) return operation.method;
  return { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" }[operation.kind];
}

describe.each(resources.map((resource) => ({ resource, name: resource.name })))("$name", ({ resource }) => {
  const examples = examplesOf(resource).map((example, index) => ({
    example,
    title: `example ${index + 1}, ${example.of}`,
  }));

  const go = (kind: Operation["kind"], more: Partial<RunInput>) =>
    runOperation({ resources, resource, operation: operationOf(resource, kind), answer: anything(resource), ...more });

  test.each(examples)("$title", async ({ example }) => {
    switch (example.of) {
      case "answer":
        // Examples show exactly the members that v2 sent: zeros are inserted in a test of their own.
        expect(await answerOf(resource, example)).toEqual(example.v1);
        return;
      case "body": {
        const { sent } = await go("create", { uid: "parent", body: JSON.stringify(example.v1) });
        expect(sent).toHaveLength(1);
        expect(JSON.parse(textOf(sent[0]))).toEqual(example.v2);
        return;
      }
      case "update": {
        const { sent } = await go("update", {
          uid: String(example.stored?.["uid"] ?? "some/record"),
          body: JSON.stringify(example.v1),
          options: { mismatch: "report" },
          answer: () => json(200, { uid: "some/record", ...example.stored }),
        });
        const patch = sent.find(({ method }) => method === "PATCH");
        const mask = new URLSearchParams(patch?.target.split("?")[1]).get("updateMask");
        expect(mask?.split(",")).toEqual(example.mask);
        expect(JSON.parse(textOf(patch))).toEqual(example.v2);
        return;
      }
      case "filters": {
        const { sent } = await go("list", { query: example.v1 });
        const params = new URLSearchParams(sent[0]?.target.split("?")[1] ?? "");
        if (resource.list === "drain") params.delete("page_size");
        expect([...params].sort()).toEqual([...new URLSearchParams(example.v2)].sort());
        return;
      }
      case "exchange": {
        await followExchange(resource, example);
        return;
      }
      default:
        example satisfies never;
    }
  });
});
