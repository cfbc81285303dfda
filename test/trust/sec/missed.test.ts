/** What holds only as long as one line of code is there, which nothing in ordinary use would miss (T-SEC-04). */
import { describe, expect, it } from "vitest";
import { checkRequest } from "../../../src/edge/request-checks.ts";
import { readHeaders } from "../../../src/model/http.ts";
import { createPool } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { dial } from "../../server/support/client.ts";
import { createDouble } from "../../server/support/double.ts";
import { later, POOL, rig, takeDownAfterEach } from "../../server/support/rig.ts";

takeDownAfterEach();

/** What Node's parser refuses today, another version or another setting of it may let through. */
function reasonOfTarget(target: string): string | undefined {
  return checkRequest(
    { method: "GET", target, httpVersion: "1.1", received: readHeaders(["Host", "a"], true) },
    { uriBytes: 8_192 },
  )?.reason;
}

function reasonOf(...raw: readonly string[]): string | undefined {
  const received = readHeaders(["Host", "a", ...raw], true);
  return checkRequest({ method: "POST", target: "/", httpVersion: "1.1", received }, { uriBytes: 8_192 })?.reason;
}

describe("T-SEC-04: without the router the gate refuses", () => {
  it.each(["/a/%2e%2e/b", "/a/%2E/b", "/a/.%2e", "/a%2f%2e%2e%2fb", "/a/%2e%2e;x/b", "/%5c..%5cb"])(
    "the dots of %s",
    (target) => {
      expect(reasonOfTarget(target)).toBe("INVALID_PATH");
    },
  );

  it("and lets in dots that are part of a name", () => {
    expect(reasonOfTarget("/a/b.c/..d/%2ee")).toBeUndefined();
  });
});

describe("T-SEC-04: without the parser the gate refuses", () => {
  it.each([
    ["a length beside chunks", ["Content-Length", "5", "Transfer-Encoding", "chunked"]],
    ["two lengths", ["Content-Length", "5", "Content-Length", "6"]],
    ["two equal lengths", ["Content-Length", "5", "content-length", "5"]],
    ["a length that would be rounded", ["Content-Length", "9007199254740993"]],
    ["two transfer codings", ["Transfer-Encoding", "chunked", "Transfer-Encoding", "identity"]],
    ["chunks twice", ["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"]],
  ])("%s", (_, raw) => {
    expect(reasonOf(...raw)).toBe("INVALID_REQUEST");
  });

  it("and lets in one of each", () => {
    expect(reasonOf("Content-Length", "5")).toBeUndefined();
    expect(reasonOf("Transfer-Encoding", "chunked")).toBeUndefined();
  });
});

it("T-FLT-09: an answer that has begun and breaks off is never asked for again", async () => {
  const { port, double, ended } = await rig({
    script: (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
      setTimeout(() => socket.destroy(), 30);
    },
  });
  const client = await dial(port);
  client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await client.closed()).toMatch(/half$/);
  await ended(1);
  expect(double.requests).toHaveLength(1);
});

const BYTES = 32 * 1024 * 1024;

/** Else the whole answer would lie in memory. */
it("T-SLO-03: nothing more is read for a client that has not taken what came", async () => {
  const double = await createDouble(({ line }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${line.includes("/long") ? BYTES : 2}\r\n\r\n`);
    socket.write(line.includes("/long") ? Buffer.alloc(BYTES) : "ok");
  });
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL });
  later(pool.close);
  const stream = createStream(pool, createRetryBudget());
  let taken = 0;
  /** Resolves when the answer has begun, or for `patient` has ended. */
  const call = (target: string, patient: boolean) =>
    new Promise<{ cancel(): void }>((resolve, reject) => {
      const made = stream(
        { method: "GET", target, headers: [], body: undefined },
        {
          head: () => {},
          data: (chunk) => {
            if (!patient) taken += chunk.length;
            if (!patient) resolve(made);
            return patient;
          },
          end: () => resolve(made),
          fail: reject,
        },
      );
    });
  const long = await call("/long", false);
  const first = taken;
  // Meanwhile others are served, one after the other: time enough for more to come.
  for (let i = 0; i < 50; i++) await call("/short", true);
  expect([first > 0, taken]).toEqual([true, first]);
  long.cancel();
});
