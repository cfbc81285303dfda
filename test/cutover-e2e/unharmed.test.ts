/** Shadow never makes anything worse for the client, whatever v2 or native v1 do (design section 7). */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { reasonOf, takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, platform, until } from "./rig.ts";

takeDownAfterEach();

/** The client `native` in mode native, everybody else in shadow. */
const RULES = `version: carryover/v1
rules:
  - { name: plain, match: { client: native }, mode: native }
  - { name: all, match: {}, mode: shadow, shadow: { sample: 1, control: 0 } }
`;
const GROUPS = "/iam/v1/groups";
const LIST = JSON.stringify({ items: [{ id: "a", name: "native's own", description: "" }] });
const NO_GROUPS = '{"groups":[],"totalCount":0}';
const MiB = 1024 ** 2;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

const json = (response: ServerResponse, text: string, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" }).end(text);
};
const right: Serve = (_, response) => json(response, LIST);
const empty: Serve = (_, response) => json(response, NO_GROUPS);

/** A carryover before a platform whose versions behave as given, and may be given other ways later. */
async function inFrontOf(v1: Serve, v2: Serve, flags: Readonly<Record<string, string>> = {}) {
  const ways = { v1, v2 };
  const { url, asked } = await platform((request, response) =>
    (/^\/\w+\/v2beta1\//.test(request.url ?? "") ? ways.v2 : ways.v1)(request, response),
  );
  const rig = await cutover({ rules: RULES, v1Url: url, v2Url: url, sandbox: { organisation: false }, flags });
  return { ...rig, ways, asked, platformUrl: url };
}

const BOMB = gzipSync(Buffer.alloc(16 * MiB, 0x20));
/** Ways in which v2 may be no help. */
const BAD_V2: Readonly<Record<string, Serve>> = {
  "hangs for ever": () => {},
  "sends a head and then nothing": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"groups":[');
  },
  "answers 500": (_, response) => json(response, '{"code":13,"message":"no","details":[]}', 500),
  "answers garbage": (_, response) => json(response, "\u0000<html>not at all"),
  "answers half of it": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"groups":[{"uid":"a"');
    setImmediate(() => response.destroy());
  },
  "answers an endless number of pages": (_, response) =>
    json(response, JSON.stringify({ groups: [{ uid: "a" }], nextPageToken: "again", totalCount: 1_000_000 })),
  "sends more than is taken": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(MiB, 0x20);
    let left = 20;
    const more = (): void => {
      while (left-- > 0 && !response.destroyed) if (!response.write(chunk)) return void response.once("drain", more);
      response.end("{}");
    };
    more();
  },
  resets: (request) => {
    request.socket.resetAndDestroy();
  },
  "answers nonsense in headers": (request) => {
    request.socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd");
  },
  "compresses much into little": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(BOMB);
  },
  // The last one: that credential is not compared for a while.
  "asks for a pause": (_, response) => {
    response.writeHead(503, { "content-type": "application/json", "retry-after": "600" }).end("{}");
  },
};

describe("while v2", () => {
  it("is no help in any way, a shadowed client gets native's answer, nothing is called equal and nothing stays behind", async () => {
    const rig = await inFrontOf(right, right, { shadowSeconds: "0.2s", shadowConcurrent: "2" });
    let compared = 0;
    for (const [what, way] of Object.entries(BAD_V2)) {
      rig.ways.v2 = way;
      const answer = await rig.ask("GET", GROUPS, as("ui"));
      expect([what, answer.status, answer.text, answer.field("carryover-mode")]).toEqual([what, 200, LIST, "shadow"]);
      await rig.compared(++compared);
    }
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(0);
    expect(await rig.metric("carryover_comparisons_total", { result: "failed" })).toBeGreaterThan(0);
  });

  it("hangs, v1 writes and v2's own traffic go on, comparisons wait in line, few of them, and carryover stops at once", async () => {
    const rig = await inFrontOf(
      right,
      (request, response) => {
        if (request.headers["user-agent"]?.startsWith("v2-client")) json(response, "{}");
      },
      { shadowSeconds: "58s", shadowConcurrent: "3" },
    );
    const answers = await Promise.all(
      // Two credentials: one takes half of the places at most.
      Array.from({ length: 40 }, (_, at) =>
        rig.ask("GET", GROUPS, at % 2 === 0 ? as("ui") : { headers: { authorization: "Bearer web" } }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 ${LIST}`]));
    expect(await rig.metric("carryover_comparisons_in_progress")).toBe(3);
    expect(rig.asked.filter((one) => one.includes("v2beta1")).length).toBeLessThanOrEqual(3);
    expect((await rig.ask("PUT", `${GROUPS}/a`, { ...as("ui"), body: { name: "x" } })).text).toBe(LIST);
    expect((await rig.ask("GET", "/iam/v2beta1/groups", as("v2-client"))).text).toBe("{}");
    // An operator can tell how many comparisons were left out, and why.
    const waiting = await rig.metric("carryover_comparisons_waiting");
    const passed = await rig.metric("carryover_comparisons_passed_total", { reason: "busy" });
    const late = await rig.metric("carryover_comparison_failures_total", { reason: "busy" });
    expect(waiting).toBeLessThan(37);
    expect(passed + late).toBe(41 - 3 - waiting);
    await rig.close();
  });
});

/** Ways in which native v1 may answer. */
const ODD_V1: Readonly<Record<string, Serve>> = {
  "500": (_, response) => json(response, '{"code":13,"message":"no","details":[]}', 500),
  nonsense: (_, response) => {
    response.writeHead(200, { "content-type": "text/html", "x-odd": "\u00e9" }).end("<html>\u0000 not JSON");
  },
  "an empty body": (_, response) => response.writeHead(200, { "content-length": "0" }).end(),
  "204": (_, response) => response.writeHead(204).end(),
  "302": (_, response) => response.writeHead(302, { location: "https://example.com/" }).end(),
  gzip: (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(LIST));
  },
  "what only calls itself gzip": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip");
  },
  "cookies and repeats": (_, response) => {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    json(response, LIST);
  },
};

describe("while native v1", () => {
  it("answers in any way, native and shadow give just that", async () => {
    const rig = await inFrontOf(right, empty);
    const seen = async (client: string) => {
      const { status, body, headers } = await rig.ask("GET", GROUPS, as(client));
      const own = headers.filter(([name]) => !["date", "x-request-id", "carryover-mode"].includes(name));
      return { status, body: Buffer.from(body).toString("latin1"), headers: own };
    };
    for (const [what, way] of Object.entries(ODD_V1)) {
      rig.ways.v1 = way;
      const native = await seen("native");
      expect([what, await seen("ui")]).toEqual([what, native]);
      if (/^\d+$/.test(what)) expect(native.status).toBe(Number(what));
    }
    await rig.idle();
  });

  it("never answers, native and shadow say 504 after the same time limit", async () => {
    const rig = await inFrontOf(() => {}, empty, { upstreamV1TimeoutsHeadersSeconds: "0.1" });
    for (const client of ["native", "ui"]) {
      const answer = await rig.ask("GET", GROUPS, as(client));
      expect([client, answer.status, reasonOf(answer)]).toEqual([client, 504, "UPSTREAM_TIMEOUT"]);
    }
  });

  it("sends a body piece by piece, shadow passes each on before the next is there", async () => {
    const turn: { next: () => void } = { next: () => {} };
    const rig = await inFrontOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"items":');
      turn.next = () => response.end("[]}");
    }, empty);
    const pieces = await new Promise<string[]>((done, failed) => {
      const got: string[] = [];
      httpRequest(`${rig.url}${GROUPS}`, (answer) => {
        answer.on("data", (chunk: Buffer) => {
          got.push(chunk.toString());
          turn.next();
        });
        answer.on("end", () => done(got));
      })
        .on("error", failed)
        .end();
    });
    expect(pieces).toEqual(['{"items":', "[]}"]);
    await rig.compared(1);
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(1);
  });

  it("breaks off, or its client leaves, there is no comparison and nothing is kept", async () => {
    const rig = await inFrontOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`{"items":[${" ".repeat(100_000)}`, () => response.destroy());
    }, empty);
    await expect(rig.ask("GET", GROUPS, as("ui"))).rejects.toThrow();
    rig.ways.v1 = (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`{"items":[${" ".repeat(100_000)}`);
    };
    await new Promise<void>((gone) => {
      const sent = httpRequest(`${rig.url}${GROUPS}`, (answer) => {
        answer.once("data", () => sent.destroy());
        answer.on("error", () => {});
        answer.on("close", gone);
      });
      sent.on("error", () => {});
      sent.end();
    });
    await until(
      () => rig.metric("carryover_comparisons_passed_total", { reason: "aborted" }),
      (count) => count === 2,
    );
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total")).toBe(0);
  });
});

describe("a shadowed client", () => {
  it("gets an answer longer than shadow.answerBytes whole; it is not compared, and counted", async () => {
    const long = JSON.stringify({ items: [{ id: "a", name: "x".repeat(MiB) }] });
    const rig = await inFrontOf((_, response) => json(response, long), empty, {
      shadowAnswerBytes: "512KiB",
      shadowMemoryBytes: "1MiB",
    });
    const answers = await Promise.all(Array.from({ length: 4 }, () => rig.ask("GET", GROUPS, as("ui"))));
    expect(answers.every(({ status, text }) => status === 200 && text === long)).toBe(true);
    await rig.idle();
    const metrics = await rig.text("/metrics");
    expect(metrics).not.toMatch(/^carryover_comparisons_total\{.*result="(equal|missing|value)"/m);
    expect(metrics).toMatch(/^carryover_comparisons_(passed_)?total\{.*(failed|too-large|memory).*\} [1-9]/m);
  });

  it("may send bodies of the same length as in native mode", async () => {
    const rig = await inFrontOf(
      (request, response) => {
        let length = 0;
        request.on("data", (chunk: Buffer) => {
          length += chunk.length;
        });
        json(response, JSON.stringify({ id: "a", name: String(length) }));
      },
      (_, response) => json(response, '{"uid":"a","name":"x"}'),
    );
    const outcome = async (client: string, length: number) => {
      const body = `{"name":"${"x".repeat(length - 11)}"}`;
      const answer = await rig.ask("PUT", `${GROUPS}/a`, { ...as(client), body }).catch(() => undefined);
      return answer === undefined ? "refused" : [answer.status, answer.status === 200 || reasonOf(answer)];
    };
    for (const length of [64 * 1024, MiB, MiB + 1]) {
      const native = await outcome("native", length);
      if (length <= MiB) expect(native).toEqual([200, true]);
      expect([length, await outcome("ui", length)]).toEqual([length, native]);
    }
    await rig.idle();
  });
});
