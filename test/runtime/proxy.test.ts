import { describe, expect, it } from "vitest";
import { createExchange, type Exchange, type Upstream } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, ClientResponse, HeaderList } from "../../src/model/http.ts";
import { PROBLEMS, Problem, problemBody } from "../../src/model/problem.ts";
import type { OperationMatch, PassThroughObserver, Plan, RequestHead, RouteResult } from "../../src/model/request.ts";
import type { Operation, Resource } from "../../src/model/resource.ts";
import type { BrownoutSettings, ServingDecision } from "../../src/model/rules.ts";
import { type Cutover, createProxy, type ProxyParts } from "../../src/runtime/proxy.ts";
import type { ComparisonRequest } from "../../src/shadow/request.ts";
import type { V1Request } from "../../src/translate/operation.ts";
import { makeRule } from "../rollout/make-rule.ts";
import { gathered } from "../support/whole.ts";

const LIST: Operation = { kind: "list", name: "list", answer: { rows: [], v2Only: [] }, filters: [] };
const THINGS: Resource = {
  name: "thing",
  domain: "iam",
  v1: "things",
  v2: "things",
  items: "things",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [LIST],
};
const MATCH: OperationMatch = { resource: THINGS, operation: LIST, uid: "", uidPath: "", segment: "", query: "" };
const OK: ApiResponse = { status: 200, headers: [["x-from", "v2"]], body: new Uint8Array() };
const PUBLIC = "https://api.example";

interface World {
  readonly routed?: RouteResult;
  /** The router's. */
  readonly problem?: Problem;
  readonly upstreams?: readonly Upstream[];
  readonly fallback?: "native" | "refuse";
  readonly from?: string | undefined;
  readonly translated?: boolean;
  /** The translation's. */
  readonly refusal?: Problem;
  readonly answer?: ApiResponse;
  readonly cutover?: Cutover;
}

/** A proxy that has been asked once: its plan, and what it noted. */
function decide(world: World, method = "GET", target = "/iam/v1/things", headers: HeaderList = []) {
  const sent: ApiRequest[] = [];
  const asked: V1Request[] = [];
  const parts: ProxyParts = {
    route: () => {
      if (world.problem !== undefined) throw world.problem;
      return world.routed ?? { kind: "match", match: MATCH };
    },
    translations: new Map(
      world.translated === false
        ? []
        : [
            [
              world.routed?.kind === "match" ? world.routed.match.operation : LIST,
              async (request: V1Request) => {
                asked.push(request);
                if (world.refusal !== undefined) throw world.refusal;
                return world.answer ?? OK;
              },
            ],
          ],
    ),
    upstreams: new Set<Upstream>(["v2", ...(world.upstreams ?? [])]),
    fallback: world.fallback ?? "refuse",
    cutover: world.cutover,
    limits: { uriBytes: 8192, bodyBytes: 1024 },
    audience: { from: "from" in world ? world.from : PUBLIC, to: "https://v2.example/a b" },
    tools: ({ exchange }) => ({
      send: async (request) => {
        sent.push(request);
        return world.answer ?? OK;
      },
      reads: unasked,
      drain: unasked,
      longDrain: unasked,
      mask: { known: undefined, fixed: false, learn: () => {} },
      bodyMask: { known: undefined, fixed: false, learn: () => {} },
      exchange,
    }),
  };
  const exchange = createExchange("id", 0, method, target.split("?")[0] ?? "");
  const head: RequestHead = { method, target, headers };
  return { plan: () => createProxy(parts).decide({ ...head, exchange }), exchange, sent, asked };
}

function nativePass(target: string, mode = "native"): Plan {
  return { kind: "pass", upstream: "v1", target, headers: [["carryover-mode", mode]] };
}

async function unasked(): Promise<never> {
  throw new Error("not asked for");
}

/** The plan's own fields stand behind those of the response, as the server puts them. */
async function respond(plan: Plan, body = new Uint8Array()): Promise<ApiResponse> {
  if (plan.kind !== "answer") throw new Error("it passes through");
  const response = await gathered(await plan.respond(body, new AbortController().signal));
  return { ...response, headers: [...response.headers, ...(plan.headers ?? [])] };
}

function problemOf(act: () => unknown): Problem {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function facts({ apiVersion, resource, operation, mode }: Exchange): unknown {
  return { apiVersion, resource, operation, mode };
}

describe("a v2 request", () => {
  it("passes to v2 with the client's own target", () => {
    const { plan, exchange } = decide(
      { routed: { kind: "v2", resource: "group" } },
      "PATCH",
      "/iam/v2beta1/things/%61?x=%2f&&",
    );
    expect(plan()).toEqual({ kind: "pass", upstream: "v2", target: "/iam/v2beta1/things/%61?x=%2f&&" });
    expect(facts(exchange)).toEqual({ apiVersion: "v2", resource: "group", operation: "unknown", mode: "pass" });
  });
});

describe("an operation of the catalogue", () => {
  it("is translated: its translation gets the match, the fields and the body, and the answer names the mode", async () => {
    const { plan, exchange, asked } = decide({}, "PUT", "/iam/v1/things", [["x-a", "1"]]);
    const body = new TextEncoder().encode("{}");
    const response = await respond(plan(), body);
    expect(asked).toMatchObject([{ match: MATCH, headers: [["x-a", "1"]], body }]);
    expect(response).toEqual({
      ...OK,
      headers: [
        ["x-from", "v2"],
        ["carryover-mode", "translate"],
      ],
    });
    expect(facts(exchange)).toEqual({ apiVersion: "v1", resource: "thing", operation: "list", mode: "translate" });
  });

  it("DIFF-58: is refused as a GET with a body, before anything is sent", async () => {
    const { plan, asked } = decide({});
    const body = new TextEncoder().encode('{"a":1}');
    await expect(respond(plan(), body)).rejects.toMatchObject({ reason: "INVALID_BODY", http: 400 });
    expect(asked).toEqual([]);
  });

  it("without a translation goes to native v1, or is refused by its name", () => {
    const there = decide({ translated: false, upstreams: ["v1"], fallback: "native" }, "GET", "/iam/v1/things?a=%41");
    expect(there.plan()).toEqual(nativePass("/iam/v1/things?a=%41"));
    expect(there.exchange.mode).toBe("native");
    const refused = decide({ translated: false });
    const problem = problemOf(refused.plan);
    expect(problem).toMatchObject({
      reason: "NOT_TRANSLATABLE",
      http: 501,
      code: 12,
      metadata: { resource: "thing", operation: "list" },
    });
    expect(problem.message).toContain("thing list");
    expect(refused.exchange.mode).toBe("refused");
  });
});

describe("DIFF-51: an operation without a v2 counterpart", () => {
  const routed: RouteResult = { kind: "native", resource: "chart", operation: "find" };

  it("is served by native v1, its target untouched", () => {
    const { plan, exchange } = decide(
      { routed, upstreams: ["v1"], fallback: "native" },
      "GET",
      "/registry/v1/charts:find?q=%2B",
    );
    expect(plan()).toEqual(nativePass("/registry/v1/charts:find?q=%2B"));
    expect(facts(exchange)).toEqual({ apiVersion: "v1", resource: "chart", operation: "find", mode: "native" });
  });

  it.each([
    { name: "where the operator says so", world: { upstreams: ["v1"], fallback: "refuse" } },
    { name: "without a native v1", world: { fallback: "native" } },
  ] as const)("is refused $name, and the message names it", ({ world }) => {
    const { plan, exchange } = decide({ routed, ...world });
    const problem = problemOf(plan);
    expect(problem).toMatchObject({ reason: "NOT_TRANSLATABLE", metadata: { resource: "chart", operation: "find" } });
    expect(problem.message).toMatch(/^chart find /);
    expect(facts(exchange)).toEqual({ apiVersion: "v1", resource: "chart", operation: "find", mode: "refused" });
  });

  it("that nobody knows goes to native v1, or is not found, as v1's gateway says it", () => {
    const unknown: RouteResult = { kind: "native", resource: "unknown", operation: "unknown" };
    const target = "/iam/v1/novelties?a=%41";
    const there = decide({ routed: unknown, upstreams: ["v1"], fallback: "native" }, "POST", target);
    expect(there.plan()).toEqual(nativePass(target));
    const refused = problemOf(decide({ routed: unknown, upstreams: ["v1"], fallback: "refuse" }, "POST", target).plan);
    expect([refused.reason, refused.message]).toEqual([
      "NOT_TRANSLATABLE",
      expect.stringMatching(/^POST \/iam\/v1\/novelties is /),
    ]);
    const { plan, exchange } = decide({ routed: unknown }, "POST", target);
    expect(problemBody(problemOf(plan))).toBe('{"code":5,"message":"Not Found","details":[]}');
    expect(facts(exchange)).toEqual({ apiVersion: "v1", resource: "unknown", operation: "unknown", mode: "refused" });
  });
});

describe("DIFF-57: OPTIONS", () => {
  const allowing: ApiResponse = {
    status: 204,
    headers: [
      ["allow", "GET, PATCH, DELETE"],
      ["access-control-allow-methods", "PATCH,GET"],
      ["x-note", "PATCH"],
    ],
    body: new Uint8Array(),
  };
  const mapped: RouteResult = { kind: "options", v2Target: "/iam/v2beta1/things/a" };

  it("goes to native v1 when there is one", () => {
    const { plan, exchange } = decide(
      { routed: mapped, upstreams: ["v1"], fallback: "native" },
      "OPTIONS",
      "/iam/v1/things/a?x",
    );
    expect(plan()).toEqual(nativePass("/iam/v1/things/a?x"));
    expect(exchange).toMatchObject({ mode: "native", operation: "options", apiVersion: "v1" });
  });

  it("asks v2 about the mapped path otherwise, and says PUT where v2 says PATCH", async () => {
    const headers: HeaderList = [
      ["access-control-request-method", "PUT"],
      ["x-note", "PUT"],
    ];
    const { plan, sent, exchange } = decide(
      { routed: mapped, answer: allowing },
      "OPTIONS",
      "/iam/v1/things/a",
      headers,
    );
    const response = await respond(plan());
    const asked = [["access-control-request-method", "PATCH"], headers[1]];
    expect(sent).toEqual([{ method: "OPTIONS", target: "/iam/v2beta1/things/a", headers: asked }]);
    expect(response).toMatchObject({
      status: 204,
      headers: [
        ["allow", "GET, PUT, DELETE"],
        ["access-control-allow-methods", "PUT,GET"],
        ["x-note", "PATCH"],
        ["carryover-mode", "translate"],
      ],
    });
    expect(exchange).toMatchObject({ mode: "translate", operation: "options" });
  });

  it("asks v2 too where native v1 is there but not to be used", async () => {
    const { plan, sent } = decide({ routed: mapped, upstreams: ["v1"], fallback: "refuse" }, "OPTIONS");
    await respond(plan());
    expect(sent).toHaveLength(1);
  });

  it("on a path without a v2 counterpart is refused when there is no native v1", () => {
    const { plan } = decide(
      { routed: { kind: "options", v2Target: undefined } },
      "OPTIONS",
      "/events/v1/subscriptions",
    );
    expect(problemOf(plan)).toMatchObject({ reason: "NOT_TRANSLATABLE", http: 501 });
  });
});

describe("token exchange", () => {
  const target = (query: string, from: string | undefined = PUBLIC) => {
    const raw = query === "" ? "/sts/exchange" : `/sts/exchange?${query}`;
    const { plan, exchange } = decide({ routed: { kind: "sts", query }, upstreams: ["sts"], from }, "POST", raw);
    const made = plan();
    expect(facts(exchange)).toEqual({ apiVersion: "sts", resource: "unknown", operation: "exchange", mode: "pass" });
    if (made.kind !== "pass") throw new Error("it is answered");
    expect(made.upstream).toBe("sts");
    return made.target;
  };
  const V2 = encodeURIComponent("https://v2.example/a b");

  it.each(["https://api.example", "https%3A%2F%2Fapi.example", "https%3a%2f%2fapi.example%2F", "https://api.example/"])(
    "an aud that names carryover itself (%s) names v2 instead",
    (aud) => {
      expect(target(`identity=a%2Fb&aud=${aud}&x=%20+`)).toBe(`/sts/exchange?identity=a%2Fb&aud=${V2}&x=%20+`);
    },
  );

  it.each([
    "",
    "identity=a%2Fb",
    "aud=https://other.example",
    "aud=https%3A%2F%2Fapi.example.evil",
    "aud=%E0%A4%A",
    "aud=",
    "aud",
    "audience=https://api.example",
    "xaud=https://api.example",
    "&&a=1&;b=%zz&=&",
  ])("anything else stays byte for byte: %s", (query) => {
    expect(target(query)).toBe(query === "" ? "/sts/exchange" : `/sts/exchange?${query}`);
  });

  it("is untouched in every part when no public address is configured, even a question mark with nothing behind it", () => {
    const plan = (raw: string) => {
      const query = raw.split("?")[1] ?? "";
      return decide({ routed: { kind: "sts", query }, upstreams: ["sts"], from: undefined }, "GET", raw).plan();
    };
    for (const raw of ["/sts/exchange?aud=undefined&aud=https://api.example", "/sts/exchange?"]) {
      expect(plan(raw)).toMatchObject({ target: raw });
    }
  });

  it("DIFF-56: that is not configured is 404 and says which option is missing", () => {
    const { plan, exchange } = decide({ routed: { kind: "sts", query: "aud=x" } }, "GET", "/sts/exchange?aud=x");
    const problem = problemOf(plan);
    expect(problem).toMatchObject({ reason: "UNKNOWN_PATH", http: 404, code: 5 });
    expect(problem.message).toContain("upstream.sts.url");
    expect(facts(exchange)).toEqual({ apiVersion: "sts", resource: "unknown", operation: "exchange", mode: "refused" });
  });
});

describe("a target that the router refuses", () => {
  const refusing = (target: string) => {
    const exchange = createExchange("id", 0, "GET", target);
    const parts = {
      route: () => {
        throw new Problem("INVALID_PATH", "odd");
      },
    } as unknown as ProxyParts;
    expect(problemOf(() => createProxy(parts).decide({ method: "GET", target, headers: [], exchange })).reason).toBe(
      "INVALID_PATH",
    );
    return exchange.apiVersion;
  };

  it.each(["/iam/v1/groups//", "/iam/v1", "/iam/v1?x", "/registry/v1:x"])("%s still counts as v1", (target) => {
    expect(refusing(target)).toBe("v1");
  });
  it.each(["/iam/v10/x", "/v1/x", "/iam/v2/x", "/a/b/v1/x", "/"])("%s does not", (target) => {
    expect(refusing(target)).toBe("none");
  });
});

const RULE = makeRule("ci-reads", {}, { shadow: { sample: 0.5, control: 0 }, evidenceKey: "1" });
const WATCH: PassThroughObserver = { sent: () => {}, head: () => {}, data: () => {}, over: () => {} };

/** What the rules say, and what was asked of whom. */
function cutover(choice: Partial<ServingDecision>, fallback?: "native" | "refuse") {
  const asked: unknown[] = [];
  const watched: ComparisonRequest[] = [];
  const followed: [ComparisonRequest, ClientResponse][] = [];
  const parts: Cutover = {
    nameOf: (headers) => headers.find(([name]) => name === "user-agent")?.[1] ?? "unknown",
    credentialOf: (headers) => headers.find(([name]) => name === "authorization")?.[1] ?? "",
    rollout: {
      choose: (request) => {
        asked.push(request);
        return { mode: "translate", rule: RULE, shadow: RULE.shadow, why: "rule", ...choice };
      },
      fallback: () => fallback,
    },
    shadow: {
      watch: (ask) => {
        watched.push(ask);
        return WATCH;
      },
      follow: (ask, answer) => {
        followed.push([ask, answer]);
        return { ...answer, headers: [...answer.headers, ["x-followed", "yes"]] };
      },
    },
  };
  return { asked, watched, followed, parts };
}

describe("the rules in force", () => {
  const NATIVE = { upstreams: ["v1"], fallback: "native" } as const;

  it("are asked with what they may match on", () => {
    const { asked, parts } = cutover({});
    const { plan, exchange } = decide({ ...NATIVE, cutover: parts }, "PUT", "/iam/v1/things/a", [
      ["user-agent", "ci-bot"],
    ]);
    plan();
    expect(asked).toEqual([
      {
        resource: "thing",
        operation: "list",
        write: true,
        guessed: false,
        client: "ci-bot",
        head: expect.objectContaining({
          method: "PUT",
          target: "/iam/v1/things/a",
          headers: [["user-agent", "ci-bot"]],
        }),
      },
    ]);
    expect([exchange.mode, exchange.rule, exchange.ruleId]).toEqual(["translate", "ci-reads", "1"]);
  });

  it("are asked in the name of whoever sends, but a token that is to be exchanged is not looked into", () => {
    const { parts } = cutover({});
    const named = (routed: RouteResult) => {
      const world = { routed, upstreams: ["v1", "sts"], fallback: "native", cutover: parts } as const;
      const { plan, exchange } = decide(world, "GET", "/x", [["user-agent", "ci-bot"]]);
      plan();
      return exchange.client;
    };
    expect(named({ kind: "v2", resource: "group" })).toBe("ci-bot");
    expect(named({ kind: "native", resource: "chart", operation: "find" })).toBe("ci-bot");
    expect(named({ kind: "sts", query: "" })).toBe("unknown");
  });

  describe("a brownout", () => {
    const brownout: BrownoutSettings = {
      ...{ status: 410 as const, message: "v1 ends", successor: undefined, contact: "#api", exempt: new Set<string>() },
      ...{ stopAbove: 1, minRequests: 1, singleReplica: true, allowLong: false },
      schedule: { cron: "@daily", zone: "UTC", duration: 60_000, from: undefined, until: undefined },
    };
    const refusing = (): Cutover => {
      const window = { start: 0, end: 60_000 };
      const decision = { mode: "brownout", rule: RULE, brownout, window, at: 1_000 } as const;
      const { parts } = cutover({});
      return {
        ...parts,
        rollout: { ...parts.rollout, choose: () => ({ ...decision, shadow: RULE.shadow, why: "rule" }) },
      };
    };
    const asked = (routed: RouteResult | undefined, method = "GET") => {
      const { plan, exchange } = decide({ ...NATIVE, ...(routed && { routed }), cutover: refusing() }, method);
      return { plan, exchange };
    };

    it.each<[string, RouteResult | undefined]>([
      ["an operation that both versions have", undefined],
      ["an operation that v2 lacks", { kind: "native", resource: "chart", operation: "find" }],
      ["a path that is not known", { kind: "native", resource: "unknown", operation: "unknown" }],
    ])("refuses %s", (_, routed) => {
      const { plan, exchange } = asked(routed);
      expect(problemOf(plan)).toMatchObject({ reason: "BROWNOUT", http: 410, code: 9, retryAfter: 59 });
      expect(exchange).toMatchObject({ mode: "refused", rule: "ci-reads", brownout: { start: 0, end: 60_000 } });
    });

    it("leaves v2, and a browser's question whether it may call, alone", () => {
      expect(asked({ kind: "v2", resource: "group" }).plan()).toMatchObject({ kind: "pass", upstream: "v2" });
      expect(asked({ kind: "options", v2Target: undefined }, "OPTIONS").plan()).toMatchObject({ upstream: "v1" });
    });
  });

  it("native: the platform's own v1 answers, nobody compares", () => {
    const { watched, parts } = cutover({ mode: "native" });
    const { plan, exchange } = decide({ ...NATIVE, cutover: parts }, "GET", "/iam/v1/things?a=%41");
    expect(plan()).toEqual(nativePass("/iam/v1/things?a=%41"));
    expect([exchange.mode, watched]).toEqual(["native", []]);
  });

  it("DIFF-41: a guessed operation goes to native with the headers of its rule, and is translated without a native v1", () => {
    const guessed: RouteResult = { kind: "match", match: { ...MATCH, operation: { ...LIST, guessed: true } } };
    const asking = (world: Partial<World>, choice: Partial<ServingDecision> = {}) => {
      const { asked, parts } = cutover(choice);
      const { plan, exchange } = decide({ routed: guessed, ...world, cutover: parts });
      return { plan: plan(), rule: exchange.rule, asked };
    };
    const there = asking(NATIVE, { mode: "native", why: "guessed" });
    expect([there.plan, there.rule]).toEqual([nativePass("/iam/v1/things"), "ci-reads"]);
    expect(there.asked[0]).toMatchObject({ guessed: true });
    expect(asking({}).asked[0]).toMatchObject({ guessed: false });
    expect(asking({ ...NATIVE, fallback: "refuse" }).asked[0]).toMatchObject({ guessed: false });
  });

  it("shadow: the platform's own v1 answers, and is watched", () => {
    const { watched, parts } = cutover({ mode: "shadow" });
    const { plan, exchange } = decide({ ...NATIVE, cutover: parts }, "POST", "/iam/v1/things", [["a", "b"]]);
    expect(plan()).toEqual({ ...nativePass("/iam/v1/things", "shadow"), watch: WATCH });
    expect(exchange.mode).toBe("shadow");
    expect(watched).toEqual([
      {
        match: MATCH,
        head: { method: "POST", target: "/iam/v1/things", headers: [["a", "b"]] },
        client: "unknown",
        rule: "ci-reads",
        ruleId: "1",
        settings: RULE.shadow,
        requestId: "id",
        write: true,
      },
    ]);
  });

  it("translate with a sample: the answer of a read goes out by way of the comparison", async () => {
    const { followed, parts } = cutover({});
    const { plan } = decide({ ...NATIVE, cutover: parts });
    const response = await respond(plan());
    expect(response.headers).toEqual([
      ["x-from", "v2"],
      ["x-followed", "yes"],
      ["carryover-mode", "translate"],
    ]);
    expect(followed).toHaveLength(1);
  });

  it.each([
    ["INVALID_FILTER", 1],
    ["DRAIN_TOO_LARGE", 1],
    ["UPSTREAM_TIMEOUT", 0],
    ["OVERLOADED", 0],
  ] as const)(
    "translate with a sample: carryover's own %s is compared where native might not refuse",
    async (reason, times) => {
      const { followed, parts } = cutover({});
      const { plan } = decide({ ...NATIVE, cutover: parts, refusal: new Problem(reason, "no") });
      await expect(respond(plan())).rejects.toMatchObject({ reason });
      expect(followed.map(([, answer]) => answer.status)).toEqual(
        Array.from({ length: times }, () => PROBLEMS[reason].http),
      );
    },
  );

  it("the credential is at hand, whatever serves the request", () => {
    const of = (parts: Cutover) => {
      const { plan, exchange } = decide({ ...NATIVE, cutover: parts }, "GET", "/iam/v1/things", [
        ["authorization", "a"],
      ]);
      plan();
      return exchange.credential?.();
    };
    expect(of(cutover({}).parts)).toBe("a");
    expect(of(cutover({ rule: undefined, why: "default" }).parts)).toBe("a");
    expect(of(cutover({ mode: "native" }).parts)).toBe("a");
  });

  it.each([
    ["a write", "PUT", RULE.shadow],
    ["a read without a sample", "GET", { sample: 0, control: 0 }],
  ] as const)("translate: %s is not compared", async (_name, method, shadow) => {
    const { followed, parts } = cutover({ shadow });
    await respond(decide({ ...NATIVE, cutover: parts }, method).plan());
    expect(followed).toEqual([]);
  });

  it.each(["native", "shadow"] as const)("%s: a method that v1 lacks is for native to answer", (mode) => {
    const problem = new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed");
    const { parts, asked } = cutover({ mode });
    const { plan, exchange } = decide({ ...NATIVE, problem, cutover: parts }, "HEAD", "/iam/v1/groups");
    expect(plan()).toEqual(nativePass("/iam/v1/groups"));
    expect(exchange.mode).toBe("native");
    expect(asked).toMatchObject([{ resource: "unknown", operation: "unknown", write: false }]);
  });

  it.each([
    ["translated", "HEAD", "/iam/v1/groups", { ...NATIVE, cutover: cutover({}).parts }],
    ["without native", "HEAD", "/iam/v1/groups", { cutover: cutover({ mode: "native" }).parts }],
    ["for token exchange", "PUT", "/sts/exchange", { ...NATIVE, cutover: cutover({ mode: "native" }).parts }],
  ])("a method that v1 lacks is refused: %s", (_name, method, target, world) => {
    const problem = new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed");
    expect(problemOf(decide({ ...world, problem }, method, target).plan).reason).toBe("METHOD_NOT_ALLOWED");
  });

  it("DIFF-52: only a translation refuses a path that v2 cannot be asked for", () => {
    const problem = new Problem("INVALID_PATH", "odd");
    const inMode = (mode: "native" | "shadow" | "translate") =>
      decide({ ...NATIVE, problem, cutover: cutover({ mode }).parts }, "GET", "/iam/v1/groups//%25");
    for (const mode of ["native", "shadow"] as const)
      expect(inMode(mode).plan()).toEqual(nativePass("/iam/v1/groups//%25"));
    expect(problemOf(inMode("translate").plan).reason).toBe("INVALID_PATH");
  });

  it("say what becomes of an operation that v2 lacks, whatever is configured", () => {
    const world = { routed: { kind: "native", resource: "chart", operation: "find" }, upstreams: ["v1"] } as const;
    const target = "/registry/v1/charts:find";
    const refused = decide({ ...world, fallback: "native", cutover: cutover({}, "refuse").parts }, "GET", target);
    expect(problemOf(refused.plan).reason).toBe("NOT_TRANSLATABLE");
    const served = decide({ ...world, fallback: "refuse", cutover: cutover({}, "native").parts }, "GET", target);
    expect(served.plan()).toEqual(nativePass(target));
  });
});
