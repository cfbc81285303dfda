import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const ROOT = resolve(import.meta.dirname, "../..");

/** Starts a script that prints its address. */
async function started(script: string, ...words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [resolve(ROOT, script), ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  later(async () => {
    child.kill();
    await ended;
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return line;
}

/** Reads a list of `records` records, with pauses as a slow client makes them. Returns the number that came. */
async function recordsOf(url: string, records: number): Promise<number> {
  const headers = { authorization: `Bearer records-${records}` };
  const { body, status } = await fetch(`${url}/iam/v1/groups`, { headers });
  expect(status).toBe(200);
  let found = 0;
  let tail = "";
  for await (const chunk of body ?? []) {
    const text = tail + Buffer.from(chunk as Uint8Array).toString("latin1");
    found += text.match(/"name":/g)?.length ?? 0;
    tail = text.slice(text.lastIndexOf('"name":') + 7).slice(-6);
    if (found % 7 === 0) await setTimeout(1);
  }
  return found;
}

it("the plugin streams 100,000 records in the memory of 20,000", async () => {
  const url = await started(
    "test/fastify/long-list-app.mjs",
    await started("bench/peers/paged-upstream.mjs", "100000", "0", "0"),
  );
  const peakOf = async (records: number): Promise<number> => {
    await (await fetch(`${url}/memory`)).text();
    expect(await recordsOf(url, records)).toBe(records);
    return Number(await (await fetch(`${url}/memory`)).text());
  };
  await peakOf(20_000);
  const short = await peakOf(20_000);
  const long = await peakOf(100_000);
  console.log(
    `peak of heap and external memory: ${short >> 20} MiB with 20,000 records, ${long >> 20} MiB with 100,000`,
  );
  expect(long).toBeLessThan(2 * short);
});
