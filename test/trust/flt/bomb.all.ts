import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { front, reasonOf, V1 } from "../smg/front.ts";

takeDownAfterEach();

const MIB = 1024 ** 2;

it("T-FLT-15: an answer that unpacks to a thousand times its size takes bounded memory", async () => {
  // About 1 MB that unpack to 1 GB.
  const piece = gzipSync(Buffer.alloc(64 * MIB));
  const bytes = Buffer.concat(Array.from({ length: 16 }, () => piece));
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  const here = await front(Buffer.concat([Buffer.from(head), bytes]));
  later(here.close);
  const refused = async () => {
    const { answer } = await here.ask(`GET ${V1}/a/b`);
    expect([answer.status, reasonOf(answer)]).toEqual([502, "UPSTREAM_INVALID"]);
  };
  await refused();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 2);
  for (let i = 0; i < 5; i++) await refused();
  clearInterval(watch);
  // A wide margin: the sender's megabytes are in this process too. One that unpacked whole would take twelve times as much.
  expect((most - before) / MIB).toBeLessThan(80);
  figure("T-FLT-15", "memory that answers of 1 MB that unpack to 1 GB take", (most - before) / MIB, "MiB");
});
