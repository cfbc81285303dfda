import { describe, expect, it } from "vitest";
import { ask } from "../../server/support/client.ts";
import { createDouble, ok, type Script } from "../../server/support/double.ts";
import { type Answer, later, type Rig, reasonOf, rigForTest, scripted, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUP = "/iam/v1/groups/abc/def";
const RECORD = '{"uid":"abc/def","name":"a","description":"","kind":"ORG_KIND_CUSTOMER","status":"ORG_STATUS_READY"}';

const inFrontOf = scripted({ upstreamV2Breaker: "false" });

/** A request of every kind: what reads and what writes fail differently. */
const KINDS = [
  { kind: "get", method: "GET", target: GROUP, write: false },
  { kind: "list", method: "GET", target: "/iam/v1/groups", write: false },
  { kind: "id filter", method: "GET", target: "/iam/v1/groups?id=abc", write: false },
  { kind: "joined list", method: "GET", target: "/iam/v1/rolebindings", write: false },
  { kind: "create", method: "POST", target: GROUP, body: '{"name":"a"}', write: true },
  { kind: "update", method: "PUT", target: GROUP, body: '{"name":"a"}', write: true },
  { kind: "delete", method: "DELETE", target: GROUP, write: true },
] as const;
type Kind = (typeof KINDS)[number];

function make(rig: Rig, kind: Kind): Promise<Answer> {
  return rig.ask(kind.method, kind.target, "body" in kind ? { body: kind.body } : {});
}

function shape(answer: Answer): Record<string, unknown> {
  return { status: answer.status, code: answer.json.code, reason: reasonOf(answer), keys: Object.keys(answer.json) };
}

const KEYS = ["code", "message", "details"];
/** No address and no text of a cause is ever shown. */
const LEAKS = /127\.0\.0\.1|localhost|ECONN|UND_ERR|HPE_|undici|SyntaxError|at .*:\d+/;

interface Fault {
  readonly name: string;
  readonly script: Script;
  readonly status: number;
  readonly code: number;
  readonly reason: string;
  /** A delete goes well all the same. */
  readonly deletes?: true;
}

const invalid = { status: 502, code: 13, reason: "UPSTREAM_INVALID" } as const;
const unreachable = { status: 502, code: 14, reason: "UPSTREAM_UNREACHABLE" } as const;

const FAULTS: readonly Fault[] = [
  { name: "hangs up without an answer", script: (_, socket) => socket.destroy(), ...unreachable },
  { name: "talks no HTTP", script: (_, socket) => socket.end("SSH-2.0-OpenSSH\r\n"), ...invalid },
  { name: "breaks off in its answer", script: (_, socket) => socket.end(ok(RECORD).slice(0, -9)), ...unreachable },
  { name: "breaks off in its JSON", script: ok('{"uid":"abc/def","name":"a'), ...invalid, deletes: true },
  {
    name: "answers HTML with 200",
    script: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
    ...invalid,
    deletes: true,
  },
  { name: "answers an array", script: ok("[1,2]"), ...invalid, deletes: true },
  { name: "answers null", script: ok("null"), ...invalid, deletes: true },
  {
    name: "redirects",
    script: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n",
    ...invalid,
  },
  { name: "says not modified", script: "HTTP/1.1 304 Not Modified\r\n\r\n", ...invalid },
  { name: "compresses with what nobody knows", script: ok("xxxx", "Content-Encoding: lzma\r\n"), ...invalid },
  { name: "says gzip of what is none", script: ok("xxxx", "Content-Encoding: gzip\r\n"), ...invalid },
];

/** The response that a client gets in each kind of call; the calls are made concurrently. */
async function told(rig: Rig): Promise<Record<string, unknown>> {
  const answers = await Promise.all(KINDS.map(async (kind) => [kind.kind, await make(rig, kind)] as const));
  for (const [, { text }] of answers) expect(text).not.toMatch(LEAKS);
  return Object.fromEntries(
    answers.map(([kind, answer]) => [
      kind,
      answer.status === 200 ? answer.text : { ...shape(answer), metadata: answer.json.details[0].metadata },
    ]),
  );
}

/** The same for each kind; of writes that had left, the state is unknown. */
function all(error: Omit<Fault, "name" | "script" | "deletes">, left: boolean): Record<string, unknown> {
  const option = error.reason === "UPSTREAM_TIMEOUT" ? { option: "upstream.*.timeouts" } : {};
  const metadata = (write: boolean) => ({ ...option, ...(write && left ? { state: "unknown" } : {}) });
  const { status, code, reason } = error;
  return Object.fromEntries(
    KINDS.map(({ kind, write }) => [kind, { status, code, reason, keys: KEYS, metadata: metadata(write) }]),
  );
}

describe("a platform that", () => {
  it.each(FAULTS)("$name is $status $reason for every call", async ({ script, deletes, ...error }) => {
    const { rig } = inFrontOf(script);
    // v1 answers {} to a delete, whatever v2 says in the body of its 200.
    const expected = { ...all(error, true), ...(deletes === true ? { delete: "{}" } : {}) };
    expect(await told(rig)).toEqual(expected);
    expect(rig.exchanges).toHaveLength(KINDS.length);
    for (const { status, reason } of rig.exchanges.filter((one) => one.status !== 200)) {
      expect([status, reason]).toEqual([error.status, error.reason]);
    }
  });
});

describe("the head of a response", () => {
  const fields = (count: number, bytes: number) => `X-Long: ${"a".repeat(bytes / count)}\r\n`.repeat(count);
  const longHead = async (response: string, flags: Readonly<Record<string, string>> = {}) => {
    const double = await createDouble(response);
    later(double.close);
    return rigForTest({ v2Url: double.url, native: false, flags });
  };

  it("may have hundreds of fields and far more than 16 KiB, and early hints and trailers around it", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n";
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${fields(300, 48_000)}Trailer: X-T\r\n`;
    const body = `Transfer-Encoding: chunked\r\n\r\n${RECORD.length.toString(16)}\r\n${RECORD}\r\n0\r\nX-T: 1\r\n\r\n`;
    const rig = await longHead(hints + head + body);
    for (const target of [GROUP, GROUP.replace("v1", "v2beta1")]) {
      const got = await ask(Number(new URL(rig.url).port), `GET ${target}`);
      expect([got.status, got.fields.filter(([name]) => /^x-long$/i.test(name)).length]).toEqual([200, 300]);
    }
  });

  it("is 502 beyond limits.responseHeaderBytes, which the error names, and says of a write that its outcome is unknown", async () => {
    const response = ok(RECORD, fields(10, 20_000));
    const rig = await longHead(response, { limitsResponseHeaderBytes: "16KiB" });
    for (const [method, target] of [
      ["GET", GROUP],
      ["PUT", GROUP],
      ["PATCH", GROUP.replace("v1", "v2beta1")],
    ] as const) {
      const got = await rig.ask(method, target, method === "GET" ? {} : { body: { name: "n" } });
      const { reason, metadata } = got.json.details[0];
      expect([method, got.status, reason, metadata.option]).toEqual([
        ...[method, 502, "UPSTREAM_INVALID", "limits.responseHeaderBytes"],
      ]);
      expect([method, metadata.state]).toEqual([method, method === "GET" ? undefined : "unknown"]);
    }
  });
});
