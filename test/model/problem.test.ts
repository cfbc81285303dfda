import { STATUS_CODES } from "node:http";
import { describe, expect, test } from "vitest";
import { httpOfRpc, PROBLEMS, Problem, type ProblemReason, problemBody } from "../../src/model/problem.ts";

const reasons = Object.keys(PROBLEMS) as ProblemReason[];

describe.each(reasons)("%s", (reason) => {
  const problem = new Problem(reason, "what was wrong", { cause: new Error("10.0.0.1 token hunter2") });

  test("is an error status with a code", () => {
    expect(problem.http).toBeGreaterThanOrEqual(400);
    expect(problem.http).toBeLessThan(600);
    expect(problem.code).toBeGreaterThan(0);
    expect(problem.code).toBeLessThanOrEqual(16);
    // A status that intermediaries and clients know, and a 4xx only for what the client did or asked too much of.
    expect(Object.keys(STATUS_CODES)).toContain(String(problem.http));
    if (PROBLEMS[reason].fault === "platform") expect(problem.http).toBeGreaterThanOrEqual(500);
  });

  test("has the shape of the API's errors, and says nothing of its cause", () => {
    const body = problemBody(problem);
    expect(body).not.toMatch(/10\.0\.0\.1|hunter2/);
    const option = PROBLEMS[reason].options.join(", ");
    expect(JSON.parse(body)).toEqual({
      code: problem.code,
      message: "what was wrong",
      details:
        reason === "METHOD_NOT_ALLOWED" || reason === "NOT_FOUND"
          ? []
          : [
              {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                reason,
                domain: "carryover",
                metadata: option === "" ? {} : { option },
              },
            ],
    });
  });
});

test("an error of a code that clients retry is one that they may retry", () => {
  for (const reason of reasons) {
    const { http, code } = PROBLEMS[reason];
    if (code === 14) expect([502, 503]).toContain(http);
    if (http === 503) expect(code).toBe(14);
    if (http === 504) expect(code).toBe(4);
  }
});

test("wrong fields and small facts are shown", () => {
  const problem = new Problem("INVALID_BODY", "m", {
    fieldViolations: [{ field: "name", description: "d" }],
    metadata: { limit: "3" },
    options: ["unknownFields.request"],
    retryAfter: 2,
  });
  expect(JSON.parse(problemBody(problem)).details).toEqual([
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "INVALID_BODY",
      domain: "carryover",
      metadata: { limit: "3", option: "unknownFields.request" },
    },
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "name", description: "d" }] },
  ]);
  expect(problem.retryAfter).toBe(2);
});

describe("any thrown thing", () => {
  test.each([new Error("secret"), "secret", undefined, null, { message: "secret" }])(
    "%j becomes an internal error that hides it",
    (thrown) => {
      const problem = Problem.from(thrown);
      expect([problem.reason, problem.http, problem.code, problem.message]).toEqual([
        "INTERNAL",
        500,
        13,
        "internal error",
      ]);
      expect(problemBody(problem)).not.toContain("secret");
      if (thrown !== undefined) expect(problem.cause).toBe(thrown);
    },
  );

  test("that is a Problem stays the same one", () => {
    const problem = new Problem("OVERLOADED", "m");
    expect(Problem.from(problem)).toBe(problem);
  });
});

test("each RPC code has its HTTP status, from 0 to 16, and what is no code is a failure", () => {
  const statuses = Array.from({ length: 17 }, (_, code) => httpOfRpc(code));
  expect(statuses).toEqual([
    ...[200, 499, 500, 400, 504, 404, 409, 403, 429],
    ...[400, 409, 400, 501, 500, 503, 500, 401],
  ]);
  expect([17, -1, 1.5].map(httpOfRpc)).toEqual([500, 500, 500]);
});
