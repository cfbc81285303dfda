/** What of a credential is still in the memory of the process when its request is over? (The process itself, from `dist`.) */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { carryover, type Running } from "../../app/process.ts";
import { later, takeDownAfterEach } from "../../app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

/** Begins each secret of a request; a number and the kind follow. */
const SECRET = "hush-";
/** None of those that the process itself listens to. */
const SIGNAL = "SIGIO";

const RULES = `version: carryover/v1
rules:
  - { name: native, match: { header: { x-way: native } }, mode: native }
  - { name: shadow, match: { header: { x-way: shadow } }, mode: shadow, shadow: { sample: 1, control: 0 } }
`;

/** A page of a short list; of one of several pages, which is read by windows, when a filter is given. */
function pageOf(query: string, token: string): object {
  const total = query.includes("name=") ? 450 : 2;
  const skip = Number(/skip=(\d+)|page_token=[\w-]*-(\d+)/.exec(query)?.slice(1).join("") ?? 0);
  const end = total === 2 ? skip + 1 : Math.min(total, skip + 200);
  const groups = Array.from({ length: end - skip }, (_, at) => ({
    uid: `a${1000 + skip + at}`,
    name: "x",
    description: "",
  }));
  return {
    groups,
    nextPageToken: end < total ? `${token}-${end}` : "",
    totalCount: String(total),
    ...(query.includes("skip=") ? { skipped: skip } : {}),
  };
}

/** Answers in both versions; never, when it is asked to wait. Every list has a page token of its own. */
async function platform(): Promise<string> {
  let pages = 0;
  const server = createServer((req, res) => {
    let sent = "";
    req
      .on("error", () => {})
      .on("data", (piece: Buffer) => {
        sent += piece;
      });
    req.on("end", () => {
      const [path = "", query = ""] = (req.url ?? "").split("?");
      if (path.endsWith("wait")) return;
      res.setHeader("content-type", "application/json");
      const list = pageOf(query, `${SECRET}page-${++pages}`);
      if (path.startsWith("/sts")) res.end(`{"token":"${SECRET}issued-${++pages}"}`);
      else if (path === "/iam/v2beta1/groups") res.end(JSON.stringify(list));
      else if (path === "/iam/v1/groups")
        res.end(`{"items":[{"id":"a","name":"${SECRET}native-${++pages}","description":""}]}`);
      else
        res.end(
          JSON.stringify({
            uid: path.split("/groups/")[1],
            name: "x",
            description: "",
            ...(sent === "" ? {} : JSON.parse(sent)),
          }),
        );
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  later(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Kind {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request of each kind, with secrets in every place that may hold one. */
function kinds(nth: number): readonly Kind[] {
  const query = `access_token=${SECRET}query-${nth}`;
  const secret = `${SECRET}body-${nth}`;
  return [
    { method: "GET", target: "/iam/v1/groups/a" },
    { method: "GET", target: `/iam/v1/groups?${query}` },
    { method: "GET", target: `/iam/v2beta1/groups?page_token=${SECRET}page-of-client-${nth}-1` },
    { method: "GET", target: `/iam/v2beta1/groups/a?${query}`, headers: { cookie: `session=${SECRET}cookie-${nth}` } },
    { method: "PUT", target: "/iam/v1/groups/a", body: JSON.stringify({ name: secret }) },
    { method: "PUT", target: "/iam/v1/groups/a", body: `{"name":"${secret}` },
    { method: "PATCH", target: "/iam/v2beta1/groups/a?updateMask=name", body: JSON.stringify({ name: secret }) },
    { method: "GET", target: `/iam/v1/groups?x=${nth}`, headers: { "x-way": "native" } },
    // Names that are long enough for the engine to keep what they were cut out of.
    { method: "GET", target: `/iam/v1/groups?an_unheard_of_parameter=1&${query}` },
    { method: "PUT", target: "/iam/v1/groups/a", body: JSON.stringify({ anUnheardOfMember: secret, name: "x" }) },
    { method: "GET", target: `/iam/v1/groups?name=${SECRET}filter-${nth}` },
    { method: "GET", target: "/iam/v1/groups/a", headers: { "x-api-key": `${SECRET}key-${nth}` } },
    {
      method: "GET",
      target: "/iam/v1/groups/a",
      headers: { "user-agent": `a-long-product-name ${SECRET}agent-${nth}` },
    },
    { method: "GET", target: `/nowhere?${query}` },
    { method: "GET", target: "/sts/exchange?aud=x" },
    // Last: what is compared behind the client's back ends after everything else.
    { method: "GET", target: "/iam/v1/groups", headers: { "x-way": "shadow" } },
  ];
}

function ask(port: number, agent: Agent, nth: string, { method, target, body, headers }: Kind): Promise<number> {
  return new Promise((resolve) => {
    const authorization = `Bearer ${SECRET}token-${nth}`;
    const asked = httpRequest(
      { port, agent, method, path: target, headers: { authorization, ...headers } },
      (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      },
    );
    asked.on("error", () => resolve(0)).end(body);
  });
}

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
    const folder = await mkdtemp(join(tmpdir(), "heap-"));
    later(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "rules.yaml"), RULES);
    const url = await platform();
    const options = `--listen-host 127.0.0.1 --listen-port 0 --admin-port 0 --upstream-v2-url ${url} --upstream-v1-url ${url} --upstream-sts-url ${url}
      --lists-share-collapse true --lists-share-seconds 1s --clients-identify claim:sub,header:x-api-key,user-agent --cutover-rules-file ${join(folder, "rules.yaml")}`;
    const running = carryover(["serve", ...options.split(/\s+/)], {
      NODE_OPTIONS: `--heapsnapshot-signal=${SIGNAL} --diagnostic-dir=${folder}`,
    });
    const port = Number(/v1 clients at http:\/\/[^:]+:(\d+)/.exec(await running.until(/admin at http/))?.[1]);
    // Connections are kept, and stay open while the heap is looked at.
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    later(async () => agent.destroy());
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
