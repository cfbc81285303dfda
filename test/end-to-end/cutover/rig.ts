/** A carryover under rules, in front of platforms that do what the test says. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { recordingSandbox } from "../../../sandbox/test/seeded.ts";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { later as afterMs, type Timer } from "../../../src/model/clock.ts";
import type { ApiRequest, SendLayer } from "../../../src/model/http.ts";
import { startCarryover } from "../../support/carryover.ts";
import { type Answer, type Ask, later, listening, send } from "../app/rig.ts";

export interface CutoverChoices {
  /** Text of the rules file; without it there is none. */
  readonly rules?: string;
  readonly flags?: Readonly<Record<string, string>>;
  readonly sandbox?: SandboxOptions;
  /** Serves v1, or v2, instead of the sandbox. */
  readonly v1Url?: string;
  readonly v2Url?: string;
  readonly catalogue?: Catalogue;
  /** Milliseconds since 1970, by which rules expire, step back and return; default: the machine's clock. */
  readonly wall?: () => number;
}

/** One carryover. */
export interface Front {
  readonly url: string;
  readonly adminUrl: string;
  readonly lines: string[];
  /** Sends `target` byte for byte. */
  ask(method: string, target: string, ask?: Ask): Promise<Answer>;
  /** A view of the admin port as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into views of every shape.
  view(path: string): Promise<any>;
  text(path: string): Promise<string>;
  /** The sum of all series of a metric whose labels hold all that is given. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Resolves when no comparison is under way, none waits, and nothing is held for one. */
  idle(): Promise<void>;
  /** Resolves when this many comparisons are over. One question at a time. */
  compared(count: number): Promise<void>;
  /** Looks at the rules file now; resolves when its rules are in force, or refused. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface CutoverRig extends Front {
  readonly sandbox: Sandbox;
  readonly sandboxUrl: string;
  /** Everything that arrived at the sandbox. */
  readonly arrived: ApiRequest[];
  readonly rulesPath: string;
  /** Puts other rules into force, in every replica. Rejects when they are refused. */
  change(text: string): Promise<void>;
  /** A further carryover of the same rules before the same platform. */
  replica(flags?: Readonly<Record<string, string>>): Promise<Front>;
}

/** Resolves with what `look` sees when it holds; the test's own time is the limit. */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    await sleep(5);
  }
}

/** A rules file under which native answers everything, and every answer is compared once. */
export const COMPARE_ALL = `version: carryover/v1
rules:
  - name: look
    match: {}
    mode: shadow
    shadow: { sample: 1, control: 0 }
`;

/** A carryover before a sandbox which is both versions, taken down with the test or its file. */
export async function cutover(choices: CutoverChoices = {}): Promise<CutoverRig> {
  const { sandbox, arrived } = recordingSandbox(choices.sandbox);
  later(() => sandbox.close());
  const { url: sandboxUrl } = await sandbox.listen();
  const rulesPath = join(await folder(), "rules.yaml");
  if (choices.rules !== undefined) await writeFile(rulesPath, choices.rules);
  const fronts: Front[] = [];
  const replica = async (flags: Readonly<Record<string, string>> = {}) => {
    const one = await front(sandbox, {
      v1Url: choices.v1Url ?? sandboxUrl,
      v2Url: choices.v2Url ?? sandboxUrl,
      catalogue: choices.catalogue,
      wall: choices.wall ?? Date.now,
      flags: {
        ...(choices.rules === undefined ? {} : { cutoverRulesFile: rulesPath }),
        ...choices.flags,
        ...flags,
      },
    });
    fronts.push(one);
    return one;
  };
  const first = await replica();
  return {
    ...first,
    sandbox,
    sandboxUrl,
    arrived,
    rulesPath,
    replica,
    change: async (text) => {
      await writeFile(rulesPath, text);
      for (const one of fronts) await one.reload();
      const { rulesFile } = await first.view("/rules");
      if (rulesFile.failing !== undefined) throw new Error(JSON.stringify(rulesFile.failing));
    },
  };
}

/** A directory, removed after the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "cutover-e2e-"));
  later(() => rm(path, { recursive: true, force: true }));
  return path;
}

interface FrontOptions {
  readonly v1Url: string;
  readonly v2Url: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly catalogue: Catalogue | undefined;
  readonly wall: () => number;
}

/** A file is looked at when a test says so, and the second look follows at once. */
const AT_ONCE: Timer = (ms, run) => afterMs(ms <= 100 ? 1 : ms, run);

async function front(sandbox: Sandbox, { v1Url, v2Url, flags, catalogue, wall }: FrontOptions): Promise<Front> {
  const lines: string[] = [];
  const comparisons = { over: 0, look: () => {} };
  const { url, adminUrl, ...carryover } = await startCarryover({
    v2Url,
    ...(v1Url === "" ? {} : { v1Url }),
    flags,
    catalogue,
    logLine: (line) => lines.push(line),
    clock: { wall, later: AT_ONCE },
    reloadMs: 3_600_000,
    onComparison: () => {
      comparisons.over += 1;
      comparisons.look();
    },
  });
  const text = async (path: string) => (await fetch(`${adminUrl}${path}`)).text();
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    sumOf(await text("/metrics"), name, labels);
  const closed = { yet: false };
  const close = async () => {
    if (closed.yet) return;
    closed.yet = true;
    await carryover.close();
  };
  later(close);
  return {
    url,
    adminUrl,
    lines,
    text,
    metric,
    view: async (path) => (await fetch(`${adminUrl}${path}`)).json(),
    ask: (method, target, ask = {}) => send(url, sandbox, method, target, ask),
    idle: async () => {
      await until(
        async () => {
          const now = await text("/metrics");
          return ["in_progress", "waiting", "held_bytes"].map((what) => sumOf(now, `carryover_comparisons_${what}`));
        },
        (gauges) => gauges.every((gauge) => gauge === 0),
      );
    },
    compared: (count) =>
      new Promise((resolve) => {
        comparisons.look = () => {
          if (comparisons.over >= count) resolve();
        };
        comparisons.look();
      }),
    reload: async () => {
      // Closed ones are not asked.
      if (!closed.yet) await carryover.reload();
    },
    close,
  };
}

/** The sum of the series of `name` in Prometheus text whose labels hold `labels`. */
function sumOf(metrics: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let sum = 0;
  for (const line of metrics.split("\n")) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
    if (Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`))) {
      sum += Number(line.slice(line.lastIndexOf(" ") + 1));
    }
  }
  return sum;
}

/** What a client that names its product sends. */
export function as(product: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { "user-agent": `${product}/1.0` } };
}

/** A server of the test's own, closed with all its connections after it. Every request that came is in `asked`. */
export async function platform(
  serve: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer({ maxHeaderSize: 4 * 1024 ** 2 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url}`);
      serve(request, response, Buffer.concat(chunks));
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, asked };
}

/** A sandbox whose v2 answers (those whose target `of` matches) say something else. */
export function v2Says(change: (text: string) => string, of = /\/v2beta1\//): SendLayer {
  return (next) => async (request, options) => {
    const answer = await next(request, options);
    if (!of.test(request.target)) return answer;
    const headers = answer.headers.filter(([name]) => name !== "content-length");
    return { ...answer, headers, body: Buffer.from(change(Buffer.from(answer.body).toString())) };
  };
}

/** What v2 lacks and this sandbox's v1 has not: served here, so that there is a client who needs it. */
export const LACKING = "/registry/v1/eoltags";
export const serveLacking: SendLayer = (next) => (request, options) => {
  if (!request.target.startsWith(LACKING)) return next(request, options);
  const headers = [["content-type", "application/json"]] as const;
  return Promise.resolve({ status: 200, headers, body: Buffer.from('{"items":[]}') });
};
