/** What long lists cost over the gRPC port: the time of short calls of either port, and memory. */
import { readFileSync } from "node:fs";
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { answered, framed, open, session } from "../../grpc/support/rpc.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { serve } from "../lod/serving.ts";

takeDownAfterEach();

const LIST = `/${VENDOR_TYPES}.iam.Groups/List`;

async function stage(size: number, heapMib?: number) {
  const sandbox = createSandbox({ size, recordTimes: "published" });
  later(sandbox.close);
  const { url: platform } = await sandbox.listen();
  const env = heapMib === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heapMib}` };
  const flags = { upstreamV2Url: platform, listenGrpcPort: "0", v1RecordTimes: "published" };
  const { run, url } = await serve({ ...flags, grpcDescriptors: fileWith(sandbox.descriptors()) }, env);
  const [, rpcUrl = ""] = /gRPC clients at (\S+): /.exec(await run.until(/gRPC clients at \S+: /)) ?? [];
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const other = `Bearer ${sandbox.token("viewer")}`;
  const id = sandbox.wellKnown.someGroup;
  const on = session(rpcUrl);
  const one = framed(Buffer.concat([Buffer.from([10, id.length]), Buffer.from(id)]));
  return {
    list: async (over: ClientHttp2Session = session(rpcUrl)) => {
      const stream = open(over, LIST, { authorization });
      stream.end(framed(Buffer.of()));
      return answered(stream);
    },
    listHttp: async () => (await fetch(`${url}/iam/v1/groups`, { headers: { authorization } })).text(),
    short: {
      HTTP: async () =>
        (await fetch(`${url}/iam/v1/groups/${id}`, { headers: { authorization: other } })).status === 200,
      gRPC: async () => {
        const stream = open(on, LIST, { authorization: other });
        stream.end(one);
        return (await answered(stream)).status === 0;
      },
    },
    rssMib: (line: "VmRSS" | "VmHWM") => {
      const text = readFileSync(`/proc/${run.pid}/status`, "utf8");
      return Number(new RegExp(`${line}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
    },
  };
}

/** p99 of `make`, made again and again, one at a time, for `ms`. */
async function p99(make: () => Promise<boolean>, ms: number): Promise<number> {
  const times: number[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const began = performance.now();
    expect(await make()).toBe(true);
    times.push(performance.now() - began);
    await sleep(5);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

it("T-RPC-38: short calls of either port go on while lists of the other saturate carryover, and both ports are served", {
  timeout: 300_000,
}, async () => {
  const { list, listHttp, short } = await stage(2_000);
  const ms = scale(1_500, 15_000);
  for (const make of Object.values(short)) await p99(make, 1_000);
  for (const [port, lists] of [
    ["HTTP", () => list()],
    ["gRPC", listHttp],
  ] as const) {
    const idle = await p99(short[port], ms);
    let going = true;
    let made = 0;
    const listing = Array.from({ length: 4 }, async () => {
      while (going) {
        await lists();
        made++;
      }
    });
    const busy = await p99(short[port], ms);
    going = false;
    await Promise.all(listing);
    expect(made).toBeGreaterThan(0);
    const other = port === "HTTP" ? "gRPC" : "HTTP";
    const what = `short calls over ${port} while lists over ${other} saturate`;
    figure("T-RPC-38", `${what}, p99, compared with idle`, busy / idle, "ratio");
    figure("T-RPC-38", `${what}, p99`, busy, "ms");
    figure("T-RPC-38", `lists over ${other} meanwhile`, made, "lists");
  }
});

it("T-RPC-38: lists of both ports share carryover", { timeout: 300_000 }, async () => {
  const { list, listHttp } = await stage(1_000);
  const counts = { HTTP: 0, gRPC: 0 };
  const until = performance.now() + scale(2_000, 15_000);
  const again = async (port: keyof typeof counts, make: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < until) {
      await make();
      counts[port]++;
    }
  };
  const clients = Array.from({ length: 4 }, () => [again("HTTP", listHttp), again("gRPC", () => list())]);
  await Promise.all(clients.flat());
  const share = Math.min(counts.HTTP, counts.gRPC) / Math.max(counts.HTTP, counts.gRPC);
  expect(share).toBeGreaterThan(0.1);
  figure("T-RPC-38", "lists of the port that got fewer, as a share of the other's", share, "ratio");
});

it("T-RPC-39: long lists over gRPC stay within a heap of 256 MiB", { timeout: 600_000 }, async () => {
  const { list, rssMib } = await stage(scale(5_000, 20_000), 256);
  await sleep(1_000);
  const idle = rssMib("VmRSS");
  const total = scale(6, 40);
  let bytes = 0;
  let begun = 0;
  const statuses = new Map<number | undefined, number>();
  const client = async (): Promise<void> => {
    const on = await list().then(() => undefined);
    while (begun++ < total) {
      const { status, body } = await list(on);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      bytes = Math.max(bytes, body.length);
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  const most = rssMib("VmHWM");
  expect([...statuses]).toEqual([[0, total]]);
  figure("T-RPC-39", "memory at idle (RSS)", idle, "MiB");
  figure("T-RPC-39", "most memory with four clients that list 20,000 records each (RSS)", most, "MiB");
  figure("T-RPC-39", "length of such a message", bytes / 2 ** 20, "MiB");
  figure("T-RPC-39", "such lists", total, "lists");
});
