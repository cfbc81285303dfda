/** Does shadow ever make anything worse for the client, whatever v2 or native v1 do? (Design section 7.) */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { reasonOf, takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, platform, until } from "./rig.ts";

takeDownAfterEach();

const rules = (mode: string, sample = 1) => `version: carryover/v1
rules:
  - name: all
    match: {}
    mode: ${mode}
${mode === "native" ? "" : `    shadow: { sample: ${sample}, control: 0 }\n`}`;

const GROUPS = "/iam/v1/groups";
const V2 = /^\/(iam|registry|vulnerabilities)\/v2beta1\//;
const RECORD = { id: "a", name: "native's own", description: "" };
const LIST = JSON.stringify({ items: [RECORD] });

type Serve = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

const json = (response: ServerResponse, text: string, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" }).end(text);
};

/** Native v1 that is right. */
const right: Serve = (_, response) => json(response, LIST);

/** A platform whose versions behave as given. */
const two = (v1: Serve, v2: Serve) =>
  platform((request, response, body) => (V2.test(request.url ?? "") ? v2 : v1)(request, response, body));

const MiB = 1024 ** 2;
const BOMB = gzipSync(Buffer.alloc(64 * MiB, 0x20));
/** Ways in which v2 may be no help. */
const badV2: Readonly<Record<string, Serve>> = {
  "hangs for ever": () => {},
  "sends a head and then nothing": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"groups":[');
  },
  "answers 500": (_, response) => json(response, '{"code":13,"message":"no","details":[]}', 500),
  "answers 503 with Retry-After": (_, response) => {
    response.writeHead(503, { "content-type": "application/json", "retry-after": "600" }).end("{}");
  },
  "answers garbage": (_, response) => json(response, "\u0000<html>not at all"),
  "answers half of it": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"groups":[{"uid":"a"');
    setImmediate(() => response.destroy());
  },
  "answers an endless number of pages": (_, response) =>
    json(response, JSON.stringify({ groups: [{ uid: "a" }], nextPageToken: "again", totalCount: 1_000_000 })),
  "sends 100 MiB": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(MiB, 0x20);
    let left = 100;
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(chunk)) return response.once("drain", more);
      }
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
  "compresses 64 MiB into little": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(BOMB);
  },
};

describe("while v2", () => {
  it.each(Object.keys(badV2))("%s, a shadowed client gets native's answer, and nothing stays behind", async (what) => {
    const { url } = await two(right, badV2[what] as Serve);
    const rig = await cutover({
      rules: rules("shadow"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { shadowSeconds: "1s", shadowConcurrent: "2" },
    });
    const asked = 12;
    for (let at = 0; at < asked; at++) {
      const answer = await rig.ask("GET", GROUPS, as("ui"));
      expect([answer.status, answer.text, answer.field("carryover-mode")]).toEqual([200, LIST, "shadow"]);
    }
    await rig.idle();
    // What could not be compared is counted as such, or as passed over; nothing is called equal.
    const metrics = await rig.text("/metrics");
    expect(metrics).toMatch(/^carryover_comparisons_total\{.*result="(failed|error|status)"/m);
    expect(metrics).not.toMatch(/^carryover_comparisons_total\{.*result="equal"/m);
  });

  it("hangs, v1 writes and v2's own traffic go on, and comparisons wait in line, few of them", async () => {
    const { url, asked } = await two(right, (request, response) => {
      if (request.headers["user-agent"]?.startsWith("v2-client")) json(response, "{}");
    });
    const rig = await cutover({
      rules: rules("shadow"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { shadowSeconds: "58s", shadowConcurrent: "3" },
    });
    const answers = await Promise.all(
      // Two credentials: one takes half of the places at most.
      Array.from({ length: 60 }, (_, at) =>
        rig.ask("GET", GROUPS, at % 2 === 0 ? as("ui") : { headers: { authorization: "Bearer web" } }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 ${LIST}`]));
    expect(await rig.metric("carryover_comparisons_in_progress")).toBe(3);
    expect(await rig.metric("carryover_comparisons_waiting")).toBeLessThan(57);
    expect(asked.filter((one) => one.includes("v2beta1")).length).toBeLessThanOrEqual(3);
    expect((await rig.ask("PUT", `${GROUPS}/a`, { ...as("ui"), body: { name: "x" } })).text).toBe(LIST);
    expect((await rig.ask("GET", "/iam/v2beta1/groups", as("v2-client"))).text).toBe("{}");
    // An operator can tell how many comparisons were left out, and why.
    const waiting = await rig.metric("carryover_comparisons_waiting");
    const [passed, late] = [
      await rig.metric("carryover_comparisons_passed_total", { reason: "busy" }),
      await rig.metric("carryover_comparison_failures_total", { reason: "busy" }),
    ];
    expect((passed ?? 0) + (late ?? 0)).toBe(61 - 3 - (waiting ?? 0));
  });

  it("hangs, carryover still stops at once", async () => {
    const { url } = await two(right, badV2["hangs for ever"] as Serve);
    const rig = await cutover({
      rules: rules("shadow"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { shadowSeconds: "58s" },
    });
    await rig.ask("GET", GROUPS, as("ui"));
    await until(
      () => rig.metric("carryover_comparisons_in_progress"),
      (count) => count === 1,
    );
    await rig.close();
  });
});

/** Ways in which native v1 may fail, and what a client of `native` gets then: `shadow` must give the same. */
const badV1: Readonly<Record<string, Serve>> = {
  "answers 500": (_, response) => json(response, '{"code":13,"message":"no","details":[]}', 500),
  "answers nonsense": (_, response) => {
    response.writeHead(200, { "content-type": "text/html", "x-odd": "\u00e9" }).end("<html>\u0000 not JSON");
  },
  "answers an empty body": (_, response) => response.writeHead(200, { "content-length": "0" }).end(),
  "answers 204": (_, response) => response.writeHead(204).end(),
  "answers 302": (_, response) => response.writeHead(302, { location: "https://example.com/" }).end(),
  "answers gzip": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(LIST));
  },
  "answers what only calls itself gzip": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip");
  },
  "answers other JSON": (_, response) => json(response, '[1,2,{"items":null}]'),
  "answers with cookies and repeats": (_, response) => {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    json(response, LIST);
  },
};

describe("while native v1", () => {
  it.each(Object.keys(badV1))("%s, native and shadow give just that", async (what) => {
    const { url } = await two(badV1[what] as Serve, (_, response) => json(response, '{"groups":[],"totalCount":0}'));
    const rig = await cutover({
      rules: rules("native"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
    });
    const seen = async () => {
      const { status, body, headers } = await rig.ask("GET", GROUPS, as("ui"));
      return {
        status,
        body: Buffer.from(body).toString("latin1"),
        headers: headers.filter(([name]) => !["date", "x-request-id", "carryover-mode"].includes(name)),
      };
    };
    const native = await seen();
    await rig.change(rules("shadow"));
    for (let at = 0; at < 3; at++) expect(await seen()).toEqual(native);
    await rig.idle();
    const direct = await fetch(`${url}${GROUPS}`, { redirect: "manual", headers: { "accept-encoding": "identity" } })
      .then(({ status }) => status)
      .catch(() => native.status);
    expect(native.status).toBe(direct);
  });

  it("is down, native and shadow say 502, translate goes on", async () => {
    const { url } = await two(right, (_, response) =>
      json(response, '{"groups":[{"uid":"a","name":"v2"}],"totalCount":1}'),
    );
    const rig = await cutover({
      rules: rules("native"),
      v1Url: "http://127.0.0.1:9",
      v2Url: url,
      sandbox: { organisation: false },
    });
    for (const mode of ["native", "shadow"]) {
      if (mode === "shadow") await rig.change(rules("shadow"));
      for (const method of ["GET", "PUT"]) {
        const body = method === "PUT" ? { body: { name: "x" } } : {};
        const answer = await rig.ask(method, method === "GET" ? GROUPS : `${GROUPS}/a`, { ...as("ui"), ...body });
        expect([mode, method, answer.status, reasonOf(answer)]).toEqual([mode, method, 502, "UPSTREAM_UNREACHABLE"]);
        expect(answer.json.code).toBe(14);
        expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN/);
      }
    }
    await rig.idle();
    await rig.change(rules("translate"));
    const answer = await rig.ask("GET", GROUPS, as("ui"));
    expect([answer.status, answer.json.items[0].name]).toEqual([200, "v2"]);
    await rig.idle();
  });

  it("never answers, native and shadow say 504 after the same time limit", async () => {
    const { url } = await two(
      () => {},
      (_, response) => json(response, '{"groups":[],"totalCount":0}'),
    );
    const rig = await cutover({
      rules: rules("native"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { upstreamV1TimeoutsHeadersSeconds: "0.3" },
    });
    for (const mode of ["native", "shadow"]) {
      if (mode === "shadow") await rig.change(rules("shadow"));
      const answer = await rig.ask("GET", GROUPS, as("ui"));
      expect([mode, answer.status, reasonOf(answer)]).toEqual([mode, 504, "UPSTREAM_TIMEOUT"]);
    }
    await rig.idle();
  });

  it("breaks off in the middle, the client's answer breaks off as well and is no comparison", async () => {
    const { url } = await two(
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"items":[');
        setTimeout(() => response.destroy(), 20);
      },
      (_, response) => json(response, '{"groups":[],"totalCount":0}'),
    );
    const rig = await cutover({ rules: rules("shadow"), v1Url: url, v2Url: url, sandbox: { organisation: false } });
    for (let at = 0; at < 3; at++) await expect(rig.ask("GET", GROUPS, as("ui"))).rejects.toThrow();
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(0);
    expect(await rig.metric("carryover_comparisons_total", { result: "missing" })).toBe(0);
  });

  it("sends a body piece by piece, shadow passes each on before the next is there", async () => {
    const turn: { next: () => void } = { next: () => {} };
    const { url } = await two(
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"items":');
        turn.next = () => response.end("[]}");
      },
      (_, response) => json(response, '{"groups":[],"totalCount":0}'),
    );
    const rig = await cutover({ rules: rules("shadow"), v1Url: url, v2Url: url, sandbox: { organisation: false } });
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

describe("a shadowed client", () => {
  it("that leaves in the middle is no comparison, and nothing of it is kept", async () => {
    const { url } = await two(
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(`{"items":[${" ".repeat(100_000)}`);
      },
      (_, response) => json(response, '{"groups":[],"totalCount":0}'),
    );
    const rig = await cutover({ rules: rules("shadow"), v1Url: url, v2Url: url, sandbox: { organisation: false } });
    for (let at = 0; at < 5; at++) {
      await new Promise<void>((gone) => {
        const sent = httpRequest(`${rig.url}${GROUPS}`, (answer) => {
          answer.once("data", () => sent.destroy());
          answer.on("error", () => {});
          answer.on("close", gone);
        });
        sent.on("error", () => {});
        sent.end();
      });
    }
    await rig.idle();
    await until(
      () => rig.metric("carryover_in_flight_requests"),
      (count) => count === 0,
    );
    expect(await rig.metric("carryover_comparisons_passed_total", { reason: "aborted" })).toBe(5);
    expect(await rig.metric("carryover_comparisons_total")).toBe(0);
  });

  it("gets an answer longer than shadow.answerBytes whole; it is not compared, and counted", async () => {
    const long = JSON.stringify({ items: [{ id: "a", name: "x".repeat(3 * MiB) }] });
    const { url } = await two(
      (_, response) => json(response, long),
      (_, response) => json(response, '{"groups":[],"totalCount":0}'),
    );
    const rig = await cutover({
      rules: rules("shadow"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { shadowAnswerBytes: "1MiB", shadowMemoryBytes: "2MiB" },
    });
    const answers = await Promise.all(Array.from({ length: 6 }, () => rig.ask("GET", GROUPS, as("ui"))));
    expect(answers.every(({ status, text }) => status === 200 && text === long)).toBe(true);
    await rig.idle();
    const metrics = await rig.text("/metrics");
    expect(metrics).not.toMatch(/^carryover_comparisons_total\{.*result="(equal|missing|value)"/m);
    expect(metrics).toMatch(/^carryover_comparisons_(passed_)?total\{.*(failed|too-large|memory).*\} [1-9]/m);
  });

  it("may send bodies up to the limit, and is refused above it as in native mode", async () => {
    const { url } = await two(
      (_, response, body) => json(response, JSON.stringify({ id: "a", name: String(body.length) })),
      (_, response) => json(response, '{"uid":"a","name":"x"}'),
    );
    const rig = await cutover({ rules: rules("native"), v1Url: url, v2Url: url, sandbox: { organisation: false } });
    const outcome = async (length: number) => {
      const body = `{"name":"${"x".repeat(length - 11)}"}`;
      try {
        const answer = await rig.ask("PUT", `${GROUPS}/a`, { ...as("ui"), body });
        return [answer.status, answer.status === 200 ? answer.json.name : reasonOf(answer)];
      } catch (error) {
        return String(error).replace(/\d+/g, "");
      }
    };
    const lengths = [64 * 1024, MiB, MiB + 1, 5 * MiB];
    const native = [];
    for (const length of lengths) native.push(await outcome(length));
    expect(native.slice(0, 2)).toEqual(lengths.slice(0, 2).map((length) => [200, String(length)]));
    await rig.change(rules("shadow"));
    const shadow = [];
    for (const length of lengths) shadow.push(await outcome(length));
    expect(shadow).toEqual(native);
    await rig.idle();
  });

  it("gets its answers while the comparisons' memory is full, and the gauges return to 0", async () => {
    const held: (() => void)[] = [];
    const { url } = await two(right, (_, response) => {
      held.push(() => json(response, '{"groups":[{"uid":"a","name":"native\'s own"}],"totalCount":1}'));
    });
    const rig = await cutover({
      rules: rules("shadow"),
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { shadowConcurrent: "2", shadowMemoryBytes: "1024", shadowAnswerBytes: "1024" },
    });
    for (let at = 0; at < 40; at++) expect((await rig.ask("GET", GROUPS, as("ui"))).text).toBe(LIST);
    expect(await rig.metric("carryover_comparisons_held_bytes")).toBeLessThanOrEqual(1024);
    const release = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 10);
    await rig.idle();
    clearInterval(release);
  });
});
