import { createServer, get, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createResponseBatch } from "../../src/server/response-batch.ts";
import { listening, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

/** Every value that a byte can have. */
const BYTES = Uint8Array.from({ length: 256 }, (_, value) => value);
const sent = (res: ServerResponse): number => res.socket?.bytesWritten ?? Number.NaN;

/** Sends `count` requests, each over a connection of its own, and calls `run` with all their responses, their heads made. */
async function requests(count: number, run: (all: readonly ServerResponse[]) => void): Promise<string[]> {
  const all: ServerResponse[] = [];
  const server = createServer((_, res) => {
    res.writeHead(200);
    if (all.push(res) === count) run(all);
  });
  const port = await listening(server);
  const one = () =>
    new Promise<string>((resolve, reject) => {
      get({ port, host: "127.0.0.1", agent: false }, (response) => {
        resolve(text(response.setEncoding("latin1")));
      }).on("error", reject);
    });
  return Promise.all(Array.from({ length: count }, () => one().catch(() => "broken")));
}

describe("a batch of responses", () => {
  it("goes out when the event loop has read what came, with every byte as it is", async () => {
    const batch = createResponseBatch();
    const written: number[][] = [];
    const bodies = await requests(2, (all) => {
      for (const res of all) batch.end(res, BYTES, () => written.push(all.map(sent)));
      written.push(all.map(sent));
    });
    expect(bodies).toEqual(Array(2).fill(Buffer.from(BYTES).toString("latin1")));
    expect(written.map((each) => each.map((bytes) => bytes > BYTES.length))).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
  });

  it("waits for no more than 16, and takes no long body", async () => {
    const batch = createResponseBatch();
    const started: boolean[] = [];
    await requests(17, ([long, ...others]) => {
      if (long === undefined) return;
      batch.end(long, new Uint8Array(9_000));
      started.push(sent(long) > 0);
      for (const res of others) {
        started.push(others.some((other) => sent(other) > 0));
        batch.end(res, BYTES);
      }
      started.push(others.every((other) => sent(other) > 0));
    });
    expect(started).toEqual([true, ...Array(16).fill(false), true]);
  });

  it("leaves out one that was cut off meanwhile", async () => {
    const batch = createResponseBatch();
    const bodies = await requests(2, (all) => {
      for (const res of all) batch.end(res, BYTES);
      all[0]?.destroy();
    });
    expect(bodies.map((body) => body.length).sort()).toEqual([256, 6].sort());
  });
});
