/** Guards against a platform that fails, lies or is not the expected one. */
import { guards } from "../guard.ts";

const CLIENT = ["test/upstream/client.test.ts"];
const RETRY = ["test/upstream/retry.test.ts"];

const RESPONSES = [
  "test/upstream/headers.test.ts",
  "test/server/passthrough.test.ts > T-SMG-20",
  "test/server/passthrough.test.ts > an answer",
];

export const PLATFORM = [
  ...guards("src/upstream/dial.ts", CLIENT, [
    ["certificates are checked", "rejectUnauthorized: true", "rejectUnauthorized: false"],
    [
      "the authority that was configured",
      "{ ca: Buffer.from(tls.caFile) }",
      "{}",
      ["test/server/faults.test.ts > is served when the operator trusts it"],
    ],
    [
      "a slow address goes on",
      "if (rest.length > 0) next = setTimeout(attempt, ATTEMPT_MS);",
      "if (rest.length > 0) next = setTimeout(() => (stop(), attempt()), ATTEMPT_MS);",
      ["test/upstream/dial.test.ts > a slow address"],
    ],
    [
      "a failed write waits for the response",
      "timer = setTimeout(() => told(error), LAST_WORDS_MS);",
      "told(error);",
      ["test/server/early-response.test.ts > reaches a client that still uploads"],
    ],
  ]),
  ...guards("src/upstream/pool.ts", CLIENT, [
    ["time for the head of an answer", "headersTimeout: timeouts.headersMs", "headersTimeout: 0"],
    ["time between pieces of an answer", "bodyTimeout: timeouts.bodyMs", "bodyTimeout: 0"],
  ]),
  ...guards("src/upstream/client.ts", CLIENT, [
    ["the length of an answer that comes", "if (this.length > this.maxBytes)", "if (false)"],
    ["the stated length of an answer", "else if (Number(length) > this.maxBytes)", "else if (false)"],
    ["a status that HTTP knows", "if (status > 599)", "if (false)"],
    [
      "who leaves cancels the call",
      'this.abort?.(new Error("cancelled by the caller"));',
      "",
      ["test/trust/cancel/routes.test.ts"],
    ],
    ["who has left starts no call", "signal.throwIfAborted();", ""],
  ]),
  ...guards("src/upstream/client.ts", CLIENT, [
    ["an answer that unpacks without end", "Math.min(limit, Math.max(SMALL, bytes * MAX_RATIO))", "Infinity"],
    [
      "known encodings only",
      'if (inflate === undefined) throw new Error("content-encoding that cannot be decoded");',
      "if (inflate === undefined) return bytes;",
    ],
  ]),
  ...guards("src/model/http.ts", RESPONSES, [
    ["no Connection for the client", '  "connection",\n', ""],
    ["no Keep-Alive for the client", '  "keep-alive",\n', ""],
    ["no Proxy-Authenticate for the client", '  "proxy-authenticate",\n', ""],
    ["no Trailer for the client", '  "trailer",\n', ""],
    ["no Upgrade for the client", '  "upgrade",\n', ""],
  ]),
  ...guards("src/upstream/headers.ts", RESPONSES, [
    ["the platform's address stays here", 'name === "location" ? withoutOrigin', "false ? withoutOrigin", CLIENT],
    ["what the platform's Connection names ends here", "named.size === 0 ? fields", "true ? fields"],
    [
      "answers are asked for without encoding",
      '["accept-encoding", "identity"]',
      "[]",
      [`${CLIENT[0]} > asks for identity`],
    ],
  ]),
  ...guards(
    "src/upstream/failure.ts",
    ["test/upstream/client.test.ts"],
    [
      [
        "a failed write says that its state is unknown",
        'WRITES.has(facts.method) ? { state: "unknown" }',
        'false ? { state: "unknown" }',
      ],
      [
        "bytes of an answer that could not be read are not told",
        'if (!code.startsWith("HPE_")) return error;',
        "return error;",
      ],
    ],
  ),
  ...guards("src/upstream/retry.ts", RETRY, [
    [
      "a write is not sent twice",
      'neverLeft(first) || (read && first.reason === "UPSTREAM_UNREACHABLE")',
      'neverLeft(first) || first.reason === "UPSTREAM_UNREACHABLE"',
    ],
    [
      "a write that was answered is not sent twice",
      "if (!read || !RETRIED_STATUSES.has(first.status))",
      "if (!RETRIED_STATUSES.has(first.status))",
    ],
    ["the budget of retries", "undefined : budget.repeat();", "undefined : () => {};"],
    ["no retry before the platform wants one", "Math.max(pauseMs, jitter)", "jitter"],
    ["no wait without end", "pauseMs > MAX_WAIT_MS ? undefined :", ""],
  ]),
  ...guards(
    "src/upstream/retry.ts",
    ["test/upstream/budget.test.ts"],
    [["retries are a share of the calls", "if (left < 1 - 1e-9 && underWay >= floor) return undefined;", ""]],
  ),
  ...guards(
    "src/upstream/stream.ts",
    [
      "test/server/faults.test.ts > before a byte came back",
      "test/server/faults.test.ts > a client that leaves",
      "test/server/faults.test.ts > an upstream that breaks off",
    ],
    [
      ["a streamed write is not sent twice", "const giveBack = repeatable && mayRepeat", "const giveBack = mayRepeat"],
      [
        "an answer that has begun is not asked for again",
        "if (this.status === 0 && this.repeat(problem)) return;",
        "if (this.repeat(problem)) return;",
        ["test/trust/sec/missed.test.ts > T-FLT-09"],
      ],
      ["who leaves cancels the stream", 'this.abort?.(new Error("cancelled by the client"));', ""],
      [
        "a slow client makes the platform wait",
        "return false;\n  }\n\n  onComplete",
        "return true;\n  }\n\n  onComplete",
        ["test/trust/sec/missed.test.ts > T-SLO-03"],
      ],
    ],
  ),
  ...guards(
    "src/upstream/breaker.ts",
    ["test/upstream/breaker.test.ts"],
    [
      [
        "only a long row of failures stops calls",
        "return failures >= MOST_FAILURES && at - since >= LEAST_MS;",
        "return failures > 0 && at >= since;",
      ],
      ["only a question in vain stops calls", "if (said) return answered();", ""],
      ["a platform that is down is left alone", "breakerOpen(state.nextAt - now())", "now()"],
      ["an answer lets calls go again", "failures: 0, nextAt: undefined, pauseMs", "failures: 0, pauseMs"],
    ],
  ),
];
