import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { missingHeaders } from "../../src/model/deprecation.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { ClientResponse, HeaderList } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { PassPlan, ResponsePlan, RouteResult, SettledPlan } from "../../src/model/request.ts";
import type { Operation } from "../../src/model/resource.ts";
import type { RuleHeaders } from "../../src/model/rules.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createDeprecationNotice, type DeprecationOptions } from "../../src/rollout/deprecation.ts";
import { createRouter } from "../../src/router/router.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { makeRule } from "../rollout/make-rule.ts";
import { examplesOf } from "../support/examples.ts";

const version = "v2beta1";
const { resources, natives } = await loadCatalogue(version);
const route = createRouter({ resources, natives, version, extraPrefixes: [] });
const NO_BODY = new Uint8Array();

const ALL: RuleHeaders = {
  deprecation: Date.UTC(2026, 11, 1),
  sunset: Date.UTC(2027, 1, 27),
  documentation: "https://example.com/migrate",
  successor: true,
};
const ONLY_SUCCESSOR: RuleHeaders = {
  deprecation: undefined,
  sunset: undefined,
  documentation: undefined,
  successor: true,
};

function ruleWith(headers: RuleHeaders | undefined): Rule {
  return makeRule("r", {}, { shadow: { sample: 0, control: 0 }, headers });
}

interface Around extends Partial<DeprecationOptions> {
  readonly headers?: RuleHeaders | undefined;
  readonly exchange?: Partial<Exchange>;
  readonly plan?: SettledPlan;
}

const PASS: PassPlan = { kind: "pass", upstream: "v1", target: "/iam/v1/groups" };

/** What becomes of the plan for one request. */
function decided(method: string, target: string, around: Around = {}): SettledPlan {
  const { headers = ONLY_SUCCESSOR, exchange: facts, plan = PASS, ...options } = around;
  const notice = createDeprecationNotice({
    version,
    publicUrl: undefined,
    basePath: "",
    rule: (name) => (name === "r" ? ruleWith("headers" in around ? around.headers : headers) : undefined),
    ...options,
  });
  const exchange = Object.assign(createExchange("x", 0, method, target), { apiVersion: "v1", rule: "r" }, facts);
  const told = notice({
    method,
    target,
    headers: [["authorization", "Bearer secret-token"]],
    exchange,
    route: routeOf(method, target),
  });
  return told.length === 0 ? plan : { ...plan, headers: [...(plan.headers ?? []), ...told] };
}

function routeOf(method: string, target: string): RouteResult | undefined {
  try {
    return route(method, target);
  } catch {
    return undefined;
  }
}

/** The URL between the brackets; undefined when there is none. */
function successor(method: string, target: string, around: Around = {}): string | undefined {
  const { headers = [] } = decided(method, target, around) as PassPlan;
  const values = headers.map(([, value]) => value).filter((value) => value.endsWith('rel="successor-version"'));
  expect(values.length).toBeLessThan(2);
  return values[0]?.slice(1, values[0].indexOf(">"));
}

function answers(headers: HeaderList, status = 200): ResponsePlan {
  return { kind: "answer", respond: async () => ({ status, headers, body: NO_BODY }) };
}

/** As the server puts the fields of a plan behind those of the response. */
async function answerOf(plan: SettledPlan): Promise<ClientResponse> {
  const answer = await (plan as ResponsePlan).respond(NO_BODY, createSignalController().signal);
  return { ...answer, headers: [...answer.headers, ...missingHeaders(answer.headers, plan.headers ?? [])] };
}

/** A call without what a drain adds. */
function unpaged(call: string): string {
  const [path = "", query = ""] = call.split("?");
  const kept = query.split("&").filter((pair) => pair !== "" && !/^(page_size|page_token|skip)=/.test(pair));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

function methodOf(operation: Operation): string {
  if ("method" in operation) return operation.method;
  return { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" }[operation.kind];
}

describe("the successor of a request", () => {
  const singles = resources.flatMap((resource) =>
    examplesOf(resource).flatMap((example) => {
      if (example.of !== "exchange" || example.calls.length !== 1) return [];
      const operation = resource.operations.find(({ name }) => name === example.operation) as Operation;
      const [{ call } = { call: "" }] = example.calls;
      const target = `/${resource.domain}/v1/${example.path}`;
      const wanted = `/${resource.domain}/${version}/${call.slice(call.indexOf(" ") + 1)}`;
      return [{ name: `${resource.name} ${operation.name}: ${example.path}`, operation, target, wanted }];
    }),
  );
  const [same, sought] = [
    singles.filter(({ operation }) => !isSought(operation)),
    singles.filter(({ operation }) => isSought(operation)),
  ];

  /** Takes several calls when it succeeds. */
  function isSought(operation: Operation): boolean {
    return (
      "by" in operation &&
      ["look-up", "replace-by-create", "summarise", "create-or-replace"].includes(operation.by ?? "")
    );
  }

  test("there are examples to compare with", () => {
    expect(same.length).toBeGreaterThan(10);
    expect(sought.length).toBeGreaterThan(0);
  });

  test.each(same)("is the one v2 call that it becomes: $name", ({ operation, target, wanted }) => {
    const path = (text: string) => (operation.kind === "update" ? text.split("?")[0] : unpaged(text));
    expect(successor(methodOf(operation), target)).toBe(path(wanted));
  });

  test.each(
    resources.flatMap((resource) =>
      examplesOf(resource).flatMap((example) => (example.of === "filters" ? [{ resource, ...example }] : [])),
    ),
  )("carries the filters of a list in v2's words: $resource.name $v1", ({ resource, v1, v2 }) => {
    const said = successor("GET", `/${resource.domain}/v1/${resource.v1}?${v1}`) ?? "";
    const collection = `/${resource.domain}/${version}/${resource.v2}`;
    expect(said.split("?")[0]).toBe(collection);
    const pairs = (query: string) =>
      query
        .split("&")
        .filter((pair) => pair !== "" && !/^page_/.test(pair))
        .sort();
    expect(pairs(said.split("?")[1] ?? "")).toEqual(pairs(v2));
  });

  test("every operation that is not native has one, but for those that take several calls", () => {
    const without = resources.flatMap((resource) =>
      resource.operations.flatMap((operation) => {
        const path =
          "path" in operation
            ? operation.path.replace(/\{[^}]*=\*\*\}/, "a1/b2").replace(/\{[^}]*=\*\}/, "sha256:ab")
            : ["list"].includes(operation.kind)
              ? resource.v1
              : `${resource.v1}/a1/b2`;
        const said = successor(methodOf(operation), `/${resource.domain}/v1/${path}`);
        if (said !== undefined)
          expect(said).toMatch(new RegExp(`^/${resource.domain}/${version}/${resource.v2}(?:[/:?]|$)`));
        return said === undefined && operation.kind !== "native" ? [`${resource.name} ${operation.name}`] : [];
      }),
    );
    expect(without).toEqual(["identity lookup", "tag update", "tag summarise"]);
  });

  test("an operation that v2 lacks has none, nor has a query that cannot be read or that nothing matches", () => {
    expect(successor("GET", "/registry/v1/tags/a1/history")).toBeUndefined();
    expect(successor("GET", "/iam/v1/groups?x=%zz")).toBeUndefined();
    expect(successor("GET", "/iam/v1/groups?id=%20")).toBeUndefined();
    expect(successor("GET", "/events/v1/subscriptions")).toBeUndefined();
  });

  test("a filter for one record leads to the record", () => {
    expect(successor("GET", "/iam/v1/groups?id=a1%2Fb2")).toBe("/iam/v2beta1/groups/a1/b2");
  });

  test("what is in no filter is not repeated, a token least of all", () => {
    const said = successor("GET", "/iam/v1/groups?access_token=secret&name=a%3E%0d&page_size=7");
    expect(said).toBe("/iam/v2beta1/groups?name=a%3E%0D");
    const { headers } = decided("GET", "/vulnerabilities/v1/advisories?page_token=secret&page_size=3") as PassPlan;
    expect(JSON.stringify(headers)).not.toMatch(/secret|page_/);
  });

  test("it is absolute where carryover's address is known, and begins with the base path where not", () => {
    const target = "/iam/v1/groups/a1";
    expect(successor("GET", target, { publicUrl: "https://v1.example.com/", basePath: "/api" })).toBe(
      "https://v1.example.com/api/iam/v2beta1/groups/a1",
    );
    expect(successor("GET", target, { basePath: "/api" })).toBe("/api/iam/v2beta1/groups/a1");
  });

  test.each([
    ["https://v1.example.com/api", "https://v1.example.com/api"],
    ["https://v1.example.com/api/", "https://v1.example.com/api"],
    ["https://v1.example.com/outer/api", "https://v1.example.com/outer/api"],
    ["https://v1.example.com/outer", "https://v1.example.com/outer/api"],
    ["https://v1.example.com/my-api", "https://v1.example.com/my-api/api"],
    ["https://v1.example.com/api/outer", "https://v1.example.com/api/outer/api"],
    ["https://api", "https://api/api"],
    ["https://v1.example.com", "https://v1.example.com/api"],
  ])("it has the base path once, whether or not the address %s ends with it", (publicUrl, base) => {
    const target = "/iam/v1/groups?id=a1";
    expect(successor("GET", target, { publicUrl, basePath: "/api" })).toBe(`${base}/iam/v2beta1/groups/a1`);
    expect(successor("GET", target, { publicUrl, basePath: "" })).toBe(
      `${publicUrl.replace(/\/$/, "")}/iam/v2beta1/groups/a1`,
    );
  });

  test("of an answer it is below the base path, as of what passes", async () => {
    const around = { basePath: "/api", plan: answers([]) };
    expect((await answerOf(decided("GET", "/iam/v1/groups/a1", around))).headers).toEqual([
      ["link", '</api/iam/v2beta1/groups/a1>; rel="successor-version"'],
    ]);
  });

  test("one that would make a long head is left out", () => {
    expect(successor("GET", `/iam/v1/groups?name=${"a".repeat(1900)}`)).toBeDefined();
    expect(successor("GET", `/iam/v1/groups?name=${"a".repeat(2000)}`)).toBeUndefined();
  });
});

describe("what is told with a plan", () => {
  const target = "/iam/v1/groups/a1";

  test("stands behind what the platform said, its errors included", async () => {
    const plan = decided("GET", target, { headers: ALL, plan: answers([["x-own", "1"]], 404) });
    const answer = await answerOf(plan);
    expect(answer.status).toBe(404);
    expect(answer.headers).toEqual([
      ["x-own", "1"],
      ["deprecation", "@1796083200"],
      ["sunset", "Sat, 27 Feb 2027 00:00:00 GMT"],
      ["link", '</iam/v2beta1/groups/a1>; rel="successor-version"'],
      ["link", '<https://example.com/migrate>; rel="deprecation"; type="text/html"'],
      ["link", '<https://example.com/migrate>; rel="sunset"; type="text/html"'],
    ]);
  });

  test("does not double what the platform says itself", async () => {
    const own: HeaderList = [
      ["deprecation", "@1"],
      ["sunset", "never"],
      ["link", '<https://example.com/a>; rel="help"'],
    ];
    const { headers } = await answerOf(decided("GET", target, { headers: ALL, plan: answers(own) }));
    expect(headers.map(([name]) => name)).toEqual(["deprecation", "sunset", "link", "link", "link", "link"]);
    expect(headers.slice(0, 3)).toEqual(own);
  });

  test("goes along with what passes, beside fields that are there", () => {
    const plan = decided("GET", target, { headers: ALL, plan: { ...PASS, headers: [["carryover-mode", "native"]] } });
    expect(plan).toMatchObject({ kind: "pass", upstream: "v1", target: "/iam/v1/groups" });
    expect((plan as PassPlan).headers?.map(([name]) => name)).toEqual([
      "carryover-mode",
      "deprecation",
      "sunset",
      "link",
      "link",
      "link",
    ]);
  });

  test("an operation without a successor is told of the end all the same", () => {
    const { headers } = decided("GET", "/registry/v1/tags/a1/history", { headers: ALL }) as PassPlan;
    expect(headers?.map(([name]) => name)).toEqual(["deprecation", "sunset", "link", "link"]);
  });

  test("a plan is the very same where no rule says anything, or it is not about v1", () => {
    const untouched = (around: Around) => decided("GET", target, around) === PASS;
    expect(untouched({ headers: undefined })).toBe(true);
    expect(untouched({ headers: ALL, exchange: { rule: undefined } })).toBe(true);
    expect(untouched({ headers: ALL, exchange: { rule: "gone" } })).toBe(true);
    expect(untouched({ headers: ALL, exchange: { apiVersion: "v2" } })).toBe(true);
    expect(untouched({ headers: ALL })).toBe(false);
  });

  test("a refusal stays one", async () => {
    const plan: ResponsePlan = {
      kind: "answer",
      respond: async () => {
        throw new Problem("INVALID_BODY", "no");
      },
    };
    await expect(answerOf(decided("GET", target, { headers: ALL, plan }))).rejects.toThrow(Problem);
  });
});
