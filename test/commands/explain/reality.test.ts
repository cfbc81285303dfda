import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { parentOf } from "../../../src/model/uid.ts";
import type { ExplainedCall, Explanation } from "../../../src/runtime/explain/explanation.ts";
import { type Rig, rig } from "../../end-to-end/app/rig.ts";
import { examplesOf } from "../../support/examples.ts";

const { resources } = await loadCatalogue("v2beta1");

interface Asked {
  readonly operation: string;
  readonly method: string;
  readonly target: string;
  readonly body?: unknown;
}

/** Deletes last: what comes before them needs the record. */
const ORDER = ["list", "get", "call", "composite", "update", "create", "delete"];

function askedOf(resource: Resource, uid: string): Asked[] {
  const base = `/${resource.domain}/v1/${resource.v1}`;
  const parent = parentOf(uid) === "" || resource.name === "group" ? uid : parentOf(uid);
  const operations = resource.operations.filter(({ kind }) => kind !== "native");
  const sorted = [...operations].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return sorted.flatMap((operation): Asked[] => {
    const { kind, name } = operation;
    const as = (method: string, target: string, body?: unknown) => ({ operation: name, method, target, body });
    switch (kind) {
      case "list":
        return ["", ...queriesOf(resource)].map((query) => as("GET", query === "" ? base : `${base}?${query}`));
      case "get":
        return [as("GET", `${base}/${uid}`)];
      case "update":
        return bodiesOf(resource, operation).map((body) => as("PUT", `${base}/${uid}`, body));
      case "create":
        return bodiesOf(resource, operation).map((body) => as("POST", `${base}/${parent}`, body));
      case "delete":
        return [as("DELETE", `${base}/${uid}`)];
      case "call":
      case "composite":
        return exchangesOf(resource, operation);
      default:
        return [];
    }
  });
}

function queriesOf(resource: Resource): string[] {
  return examplesOf(resource).flatMap((example) => (example.of === "filters" ? [example.v1] : []));
}

function bodiesOf(resource: Resource, { name }: Operation): JsonObject[] {
  return examplesOf(resource).flatMap((example) => {
    if (example.of === "update") return name === "update" ? [example.v1] : [];
    if (example.of === "exchange") {
      return example.operation === name && example.body !== undefined ? [example.body as JsonObject] : [];
    }
    return example.of === "body" && example.operation === name ? [example.v1] : [];
  });
}

function exchangesOf(resource: Resource, operation: Operation): Asked[] {
  const method = "method" in operation ? operation.method : "";
  return examplesOf(resource).flatMap((example) => {
    if (example.of !== "exchange" || example.operation !== operation.name) return [];
    const target = `/${resource.domain}/v1/${example.path}`;
    return [{ operation: operation.name, method, target, body: example.body }];
  });
}

/** A call without what differs from page to page, from batch to batch, and from record to record. */
interface Plain {
  readonly key: string;
  readonly mask: readonly string[];
}

function plain(method: string, target: string): Plain {
  const [path = "", query = ""] = target.split("?");
  const params = new URLSearchParams(query);
  const mask = params.get("updateMask")?.split(",") ?? [];
  const kept = [...params].filter(([name]) => !["page_token", "skip", "updateMask", "uidp.ids"].includes(name)).sort();
  const joins = params.has("uidp.ids") ? " by uids" : "";
  return { key: `${method} ${path}${joins} ${new URLSearchParams(kept)}`, mask };
}

/** Each kind of call once, in the order of its first. */
function distinct(calls: readonly Plain[]): Plain[] {
  return calls.filter(({ key }, index) => calls.findIndex((other) => other.key === key) === index);
}

/** A placeholder of an explanation (`GROUP_UID`) stands for any uid. */
function isForetold(actual: Plain, foretold: readonly Plain[], conditional: ReadonlySet<string>): boolean {
  return foretold.some(({ key, mask }) => {
    const pattern = key
      .split(/\b[A-Z]+(?:_[A-Z]+)*UID\b|\bUID\b/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!new RegExp(`^${pattern.join("[A-Za-z0-9./_-]+")}$`).test(actual.key)) return false;
    const needed = mask.filter((name) => !conditional.has(name));
    return actual.mask.every((name) => mask.includes(name)) && needed.every((name) => actual.mask.includes(name));
  });
}

async function explained(rig: Rig, { method, target, body }: Asked): Promise<Explanation> {
  const query = new URLSearchParams({ request: `${method} ${target}` });
  if (body !== undefined) query.set("data", JSON.stringify(body));
  const response = await fetch(`${rig.adminUrl}/explain?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Explanation;
}

function conditionalFields({ fields }: Explanation): Set<string> {
  const named = fields.filter(({ becomes }) => becomes === "when-different");
  return new Set(named.flatMap(({ v2 }) => (v2 === null ? [] : [v2])));
}

/** What is made as assumed, and what an explanation says is made otherwise. */
const foretoldOf = (calls: readonly ExplainedCall[]) =>
  calls.flatMap(({ method, target, also }) => [
    plain(method, target),
    ...also.flatMap((text) => [...text.matchAll(/PATCH (\S+)/g)].map(([, other = ""]) => plain("PATCH", other))),
  ]);

/** A record that is synced is written otherwise. */
const hasOtherwise = ({ calls }: Explanation) => calls.some(({ also }) => also.some((text) => / synced: /.test(text)));

let platform: Rig;
beforeAll(async () => {
  platform = await rig();
});
afterAll(() => platform.close());

describe.each(resources.map((resource) => ({ name: resource.name, resource })))("$name", ({ resource }) => {
  const first = `{${resource.name}}`;
  test.each(askedOf(resource, first).map((asked, index) => ({ asked, title: `${index + 1} ${asked.operation}` })))(
    "the calls of $title are those that were foretold",
    async ({ asked }) => {
      const records = platform.sandbox.snapshot()[resource.v2 as "groups"];
      const uid = String(records.at(-1)?.["uid"]);
      const request = { ...asked, target: asked.target.replace(first, uid) };
      const before = platform.sandbox.requests.length;
      const explanation = await explained(platform, request);
      expect(platform.sandbox.requests.length, "explaining sends nothing").toBe(before);

      const answer = await platform.ask(
        request.method,
        request.target,
        request.body === undefined ? {} : { body: request.body as object },
      );
      const served = platform.sandbox.requests.slice(before);
      const actual = distinct(served.map(({ method, target }) => plain(method, target)));
      const foretold = foretoldOf(explanation.calls);
      const conditional = conditionalFields(explanation);
      const unforeseen = actual.filter((call) => !isForetold(call, foretold, conditional));
      expect(unforeseen, JSON.stringify(foretold)).toEqual([]);
      if (explanation.refusal !== null) {
        expect(answer.status).toBe(explanation.refusal.status);
        expect(served).toEqual([]);
        return;
      }
      expect(actual.length).toBeGreaterThan(0);
      // The first call does not hang on any answer.
      expect(isForetold(actual[0] as Plain, foretold.slice(0, 1), conditional)).toBe(true);
      // Where everything went as assumed, no call was foretold that was not made.
      const wentWell = answer.status === 200 && served.every(({ status }) => status === 200);
      const everythingSo = wentWell && !/"items":\[\]/.test(answer.text);
      if (everythingSo && asked.operation !== "list" && !hasOtherwise(explanation)) {
        expect(explanation.calls.length).toBe(actual.length);
      }
    },
  );
});
