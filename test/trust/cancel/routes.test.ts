import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { Operation } from "../../../src/model/resource.ts";
import { ok } from "../../server/support/double.ts";
import { examplesOf } from "../../support/examples.ts";
import { createStage, leave, type Stage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage({ updatesMismatch: "report" });
});
afterAll(() => stage.close());

const { resources } = await loadCatalogue("v2beta1");
const GROUPS = "/iam/v1/groups";
const BODY = '{"name":"a"}';

describe("cancel: a client that leaves before the platform has said a word", () => {
  it.each([
    ["a translated get", "GET", `${GROUPS}/abc`, undefined],
    ["a get by id", "GET", `${GROUPS}?id=abc`, undefined],
    ["a translated list", "GET", GROUPS, undefined],
    ["a list that joins", "GET", "/iam/v1/rolebindings", undefined],
    ["a translated create", "POST", `${GROUPS}/abc`, BODY],
    ["a translated update", "PUT", `${GROUPS}/abc`, BODY],
    ["an update that reads first", "PUT", `${GROUPS}/abc`, '{"name":"a","verified":true}'],
    ["a translated delete", "DELETE", `${GROUPS}/abc`, undefined],
    ["OPTIONS", "OPTIONS", GROUPS, undefined],
    ["a v2 get", "GET", "/iam/v2beta1/groups/abc", undefined],
    ["a v2 create", "POST", "/iam/v2beta1/groups/abc", BODY],
    ["what only native v1 has", "GET", "/iam/v1/nowhere/else", undefined],
    ["token exchange", "GET", "/sts/exchange?aud=x", undefined],
    ["token exchange by POST", "POST", "/sts/exchange?aud=x", BODY],
  ])("of %s takes its call with it", async (_, method, target, body) => {
    stage.answer(() => undefined);
    await leave(stage, { method, target, body, after: 1 });
  });
});

describe("cancel: a client that leaves in the middle of the platform's answer", () => {
  const half = { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"uid":"abc",', unfinished: true } as const;

  it.each([
    ["a translated get", "GET", `${GROUPS}/abc`, undefined, undefined],
    ["a translated list", "GET", GROUPS, undefined, undefined],
    ["a translated update", "PUT", `${GROUPS}/abc`, BODY, undefined],
    ["a v2 get", "GET", "/iam/v2beta1/groups/abc", undefined, '{"uid":"abc",'],
    ["a v2 update", "PATCH", "/iam/v2beta1/groups/abc", BODY, '{"uid":"abc",'],
    ["what only native v1 has", "GET", "/iam/v1/nowhere/else", undefined, '{"uid":"abc",'],
    ["token exchange", "POST", "/sts/exchange?aud=x", BODY, '{"uid":"abc",'],
  ])("of %s takes its call with it", async (_, method, target, body, got) => {
    stage.answer(() => half);
    await leave(stage, { method, target, body, after: 1, ...(got === undefined ? {} : { got }) });
  });
});

describe("cancel: a client that leaves a request of several calls", () => {
  const exchanges = resources.flatMap((resource) =>
    examplesOf(resource).flatMap((example) =>
      example.of !== "exchange" || example.calls.length === 0 ? [] : [{ resource, example }],
    ),
  );

  it.each(
    exchanges.map((one, i) => ({ ...one, title: `${one.example.operation} (${one.example.path}), example ${i}` })),
  )("stops at the call that is under way: $resource.name $title", async ({ resource, example }) => {
    const operation = resource.operations.find(({ name }) => name === example.operation);
    if (operation === undefined) throw new Error("no such operation");
    const body = example.body === undefined ? undefined : JSON.stringify(example.body);
    const request = { method: methodOf(operation), target: `/${resource.domain}/v1/${example.path}`, body };
    for (let held = 0; held < example.calls.length; held++) {
      // Some are made at the same time, and may come in either order.
      const left = example.calls.slice(0, held);
      stage.answer(({ line }) => {
        const at = left.findIndex(
          ({ call }) => line === `${call.replace(" ", ` /${resource.domain}/v2beta1/`)} HTTP/1.1`,
        );
        const [call] = at < 0 ? [] : left.splice(at, 1);
        if (call === undefined) return undefined;
        const answer = ok(JSON.stringify(call.answer));
        return { bytes: answer.replace("200 OK", `${call.status ?? 200} Any`) };
      });
      await leave(stage, { ...request, after: held + 1 });
    }
  });

  it("of which there are enough to mean something", () => {
    expect(exchanges.length).toBeGreaterThan(20);
  });
});

function methodOf(operation: Operation): string {
  if ("path" in operation) return operation.method;
  return { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" }[operation.kind];
}
