import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Running } from "../../end-to-end/app/process.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { ask, kinds, SECRET, started } from "./support/hush.ts";

takeDownAfterEach();

/** None of those that the process itself listens to. */
const SIGNAL = "SIGIO";

/** Has the process collect its garbage and write down its heap; gives all strings of it. */
async function heapOf(process: Running, folder: string, nth: number): Promise<{ strings: string[]; bytes: number }> {
  process.stop(SIGNAL);
  for (;;) {
    await sleep(100);
    const file = readdirSync(folder)
      .filter((name) => name.endsWith(".heapsnapshot"))
      .toSorted()[nth];
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
    if (text.trimEnd().endsWith("]}")) return { strings: JSON.parse(text).strings, bytes: text.length };
  }
}

const secretsIn = (strings: readonly string[]) =>
  strings.filter((text) => text.includes(SECRET) && !text.includes("\n"));

/** Everything that the process may write to, as bytes: freed memory, too, which no heap snapshot shows. */
function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, "r");
  for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (from === undefined || to === undefined) continue;
    const start = Number.parseInt(from, 16);
    const bytes = Buffer.alloc(Number.parseInt(to, 16) - start);
    try {
      yield bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, start));
    } catch {
      // Mapped, and not readable: a guard page.
    }
  }
  closeSync(memory);
}

function lookThroughMemory(pid: number): { readonly bytes: number; readonly distinct: ReadonlySet<string> } {
  const distinct = new Set<string>();
  let bytes = 0;
  for (const part of memoryOf(pid)) {
    bytes += part.length;
    for (const encoding of ["latin1", "utf16le"] as const) {
      const needle = Buffer.from(`${SECRET}token-`, encoding);
      for (let at = part.indexOf(needle); at >= 0; at = part.indexOf(needle, at + 1)) {
        const text = part.subarray(at, at + needle.length + 16).toString(encoding);
        distinct.add(/^[\w-]+/.exec(text)?.[0] ?? text);
      }
    }
  }
  return { bytes, distinct };
}

describe("the memory of the process", () => {
  it("T-ISO-10: holds no credential, page token or secret of a request any more 10 s after it", {
    timeout: 300_000,
  }, async () => {
    // Connections are kept, and stay open while the heap is looked at.
    const { folder, running, port, agent } = await started((home) => ({
      NODE_OPTIONS: `--heapsnapshot-signal=${SIGNAL} --diagnostic-dir=${home}`,
    }));
    const rounds = scale(4, 100);
    const statuses: number[] = [];
    for (let nth = 0; nth < rounds; nth++) {
      const one = kinds(nth).map((kind, at) => ask(port, agent, `${nth}-${at}`, kind));
      statuses.push(...(await Promise.all(one)));
    }
    expect(new Set(statuses)).toEqual(new Set([200, 400, 404]));
    await sleep(scale(1_500, 10_000));
    const { strings, bytes } = await heapOf(running, folder, 0);
    expect(secretsIn(strings)).toEqual([]);
    const freed = lookThroughMemory(running.pid ?? 0);

    // The look sees what is there: the token of a request that is under way.
    void ask(port, agent, "current", { method: "GET", target: "/iam/v2beta1/groups/wait" });
    await sleep(300);
    const current = secretsIn((await heapOf(running, folder, 1)).strings);
    expect(current.join()).toContain(`${SECRET}token-current`);
    expect(current.filter((text) => !text.includes(`${SECRET}token-current`))).toEqual([]);
    figure("T-ISO-10", "credentials sent before the heap was looked through", statuses.length, "tokens");
    figure("T-ISO-10", "bytes of heap searched", bytes, "bytes");
    figure("T-ISO-10", "secrets found in the heap", 0, "strings");
    figure("T-ISO-10", "bytes of memory searched, freed memory included", freed.bytes, "bytes");
    figure("T-ISO-10", "tokens left in memory that was freed and not yet used again", freed.distinct.size, "tokens");
    console.info(
      `T-ISO-10: of ${statuses.length} tokens ${freed.distinct.size} in freed memory of ${freed.bytes} bytes`,
    );
  });
});
