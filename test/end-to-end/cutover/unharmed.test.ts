/** Shadow never makes anything worse for the client, whatever v2 or native v1 do. */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, platform } from "./rig.ts";

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
});

describe("while native v1", () => {
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
});
