/**
 * Feeds a real Prometheus with a calm fortnight of real carryovers, and with the day four weeks ago. Two instances serve clients of
 * the sandbox; each scrape is stamped with the time that it stands for. A rollout replaces both pods in between.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { exchange } from "../../end-to-end/comparison/http.ts";
import { filledIn } from "./dashboard.ts";
import { type Instance, type Prometheus, type Series, startInstance, startPrometheus, until } from "./processes.ts";
import { DASHBOARDS, RULES, tool } from "./programs.ts";
import { allRules, type Rule } from "./rules-file.ts";
import { type Platform, startPlatform } from "./traffic.ts";

export interface Weeks {
  readonly prometheus: Prometheus;
  /** The last moment that there are numbers of. */
  readonly now: number;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Two scrapes are made in ten minutes, close enough to each other for a rate over five. */
const STEP = 600;
const BETWEEN_SCRAPES = 240;
/** How many requests each one stands for: counters are multiplied. */
const WEIGHT = 60;
const NOW = Date.UTC(2026, 10, 25, 15) / 1000;
/** The day four weeks ago with the hour before it, and the last fortnight. */
const SPANS: readonly (readonly [from: number, to: number])[] = [
  [NOW - 29 * DAY - HOUR, NOW - 28 * DAY],
  [NOW - 14 * DAY, NOW],
];
const BEGAN = SPANS[0]?.[0] ?? NOW;
const ROLLOUT = NOW - 6 * DAY;
const LAST_CALL_OF_THE_OLD_JOB = NOW - 9 * DAY;

/** Rules files, each from a time on. */
const RULES_OVER_TIME: readonly (readonly [from: number, text: string])[] = [
  [BEGAN, rulesOf()],
  [NOW - 14 * DAY, rulesOf("read-groups: shadow")],
  [NOW - 11 * DAY, rulesOf("read-groups: translate", "write-groups: native")],
  [NOW - 4 * DAY, rulesOf("read-groups: translate", "read-roles: translate", "write-groups: shadow")],
];

function rulesOf(...modes: readonly string[]): string {
  const matches = new Map([
    ["read-groups", { resource: ["group"], operation: ["get", "list"] }],
    ["read-roles", { resource: ["role"], operation: ["get", "list"] }],
    ["write-groups", { resource: ["group"], operation: ["update"] }],
  ]);
  const rules = modes.map((one) => {
    const [name = "", mode] = one.split(": ");
    const shadow = mode === "shadow" ? { shadow: { sample: 1 }, promoteWhen: { differencesBelow: 0.05 } } : {};
    const stepBack = mode === "translate" ? { stepBack: { failures: 0.05 } } : {};
    return { name, match: matches.get(name), mode, ...shadow, ...stepBack };
  });
  return stringify({ version: "carryover/v1", rules: [...rules, { name: "rest", match: {}, mode: "native" }] });
}

/** Who calls what in ten minutes at noon. `began` and `ended` bound its time; after `moved` it calls v2. */
interface Client {
  readonly name: string;
  readonly calls: number;
  readonly target: (platform: Platform) => string;
  readonly put?: boolean;
  readonly moved?: number;
  readonly ended?: number;
}
const someGroup = ({ sandbox }: Platform): string => `/iam/v1/groups/${sandbox.wellKnown.someGroup}`;
const role = ({ sandbox }: Platform): string => `/iam/v1/roles/${sandbox.wellKnown.viewerRole}`;
const CLIENTS: readonly Client[] = [
  { name: "web-console", calls: 14, target: someGroup },
  { name: "mobile-app", calls: 12, target: someGroup, moved: NOW - 8 * DAY },
  { name: "terraform", calls: 7, target: role },
  { name: "ci-bot", calls: 6, target: someGroup },
  { name: "audit-export", calls: 0.4, target: () => "/iam/v1/groups" },
  { name: "hr-sync", calls: 3, target: someGroup, put: true },
  { name: "partner-feed", calls: 2, target: someGroup },
  // A group that is gone: the client's own fault.
  { name: "partner-feed", calls: 1, target: (platform) => `${someGroup(platform)}/${"0".repeat(16)}` },
  { name: "billing", calls: 2, target: role, moved: NOW - 3 * DAY },
  { name: "ops-scripts", calls: 0.6, target: () => "/iam/v1/rolebindings" },
  { name: "old-cron-job", calls: 0.5, target: someGroup, ended: LAST_CALL_OF_THE_OLD_JOB },
];

interface Pod extends Instance {
  readonly labels: string;
  readonly rules: string;
}

/** Of processes that stand for other times: which moment of the real clock stands for which. */
interface Moments {
  readonly real: number[];
  readonly meant: number[];
}

/** `folder` is the caller's to remove. */
export async function feedWeeks(folder: string): Promise<Weeks> {
  const platform = await startPlatform();
  const file = join(folder, "scraped.txt");
  const out = createWriteStream(file);
  const names = await namesAskedFor();
  const moments: Moments = { real: [], meant: [] };
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const due = new Map<Client, number>();
  let pods: readonly Pod[] = [];
  let generation = -1;
  let inForce = -1;
  for (const [from, to] of SPANS) {
    for (let begin = from; begin < to; begin += STEP) {
      moments.real.push(Date.now() / 1000);
      moments.meant.push(begin);
      const wanted = [SPANS[0]?.[1] ?? 0, ROLLOUT].filter((time) => begin >= time).length;
      if (wanted !== generation) {
        generation = wanted;
        await Promise.all(pods.map((pod) => pod.kill()));
        pods = await Promise.all([0, 1].map((at) => startPod(folder, platform, generation, at)));
        inForce = -1;
      }
      const rules = RULES_OVER_TIME.filter(([since]) => begin >= since).length - 1;
      if (rules !== inForce) await follow(pods, RULES_OVER_TIME[rules]?.[1] ?? "");
      inForce = rules;
      for (const seconds of [STEP - BETWEEN_SCRAPES, BETWEEN_SCRAPES]) {
        await callsOf(begin, seconds / STEP, due, platform, pods, agent);
        const at = begin + (seconds === BETWEEN_SCRAPES ? STEP : seconds);
        const wants = at > NOW - 26 * HOUR ? names.all : names.forWeeks;
        for (const pod of pods) await scrape(pod, at, wants, moments, out);
      }
    }
  }
  agent.destroy();
  await Promise.all(pods.map((pod) => pod.kill()));
  out.end("# EOF\n");
  await until("all is written", async () => out.writableFinished, Boolean);
  return { prometheus: await loaded(folder, file), now: NOW };
}

async function startPod(folder: string, { url }: Platform, generation: number, at: number): Promise<Pod> {
  const rules = join(folder, `rules-${generation}-${at}.yaml`);
  await writeFile(rules, rulesOf());
  const instance = await startInstance({
    "upstream-v2-url": url,
    "upstream-v1-url": url,
    "clients-identify": "header:x-client",
    "clients-names": [...new Set(CLIENTS.map(({ name }) => `${name}=${name}`))].join(","),
    "cutover-mode": "native",
    "cutover-rules-file": rules,
    "log-level": "error",
  });
  const pod = `carryover-${["6c9d7", "58f4b", "7b66d"][generation]}-${["h2x8q", "p9kz4"][at]}`;
  const address = `10.42.${generation}.${17 + at}:8081`;
  return { ...instance, rules, labels: `namespace="iam",job="carryover",pod="${pod}",instance="${address}"` };
}

/** Writes the rules, and waits until both have read them. */
async function follow(pods: readonly Pod[], text: string): Promise<void> {
  for (const { rules } of pods) {
    await writeFile(`${rules}.next`, text);
    await rename(`${rules}.next`, rules);
  }
  const names = [...text.matchAll(/- name: (\S+)/g)].map(([, name]) => name).toString();
  for (const { adminUrl } of pods) {
    const seen = async (): Promise<string> => {
      const { rules } = (await (await fetch(`${adminUrl}/rules`)).json()) as { rules: { name: string }[] };
      return rules.map(({ name }) => name).toString();
    };
    await until("the rules are followed", seen, (now) => now === names);
  }
}

/** A day has its night, and a week its weekend. */
function busy(time: number): number {
  const hour = (time % DAY) / HOUR;
  const day = 0.35 + 0.65 * Math.max(0, Math.sin(((hour - 5) / 16) * Math.PI)) ** 1.2;
  const weekend = [6, 0].includes(new Date(time * 1000).getUTCDay()) ? 0.6 : 1;
  return day * weekend * (time < (SPANS[0]?.[1] ?? 0) ? 1.25 : 1);
}

/** `share` of the calls of ten minutes. What is due of a call and not yet made is carried on. */
async function callsOf(
  begin: number,
  share: number,
  due: Map<Client, number>,
  platform: Platform,
  pods: readonly Pod[],
  agent: Agent,
): Promise<void> {
  const token = platform.sandbox.token("admin");
  const calls = CLIENTS.flatMap((client) => {
    if (client.ended !== undefined && begin >= client.ended) return [];
    const total = (due.get(client) ?? 0) + client.calls * share * busy(begin);
    due.set(client, total % 1);
    return Array.from({ length: Math.floor(total) }, () => client);
  });
  await Promise.all(
    calls.map(async ({ name, target, put, moved = Number.POSITIVE_INFINITY }, at) => {
      const path = target(platform);
      const body = put === true ? new TextEncoder().encode('{"name":"renamed"}') : undefined;
      await exchange({
        method: put === true ? "PUT" : "GET",
        url: pods[at % pods.length]?.url ?? "",
        target: begin >= moved ? path.replace("/v1/", "/v2beta1/") : path,
        headers: { authorization: `Bearer ${token}`, "x-client": name },
        body,
        agent,
      });
    }),
  );
}

interface Names {
  readonly all: ReadonlySet<string>;
  /** What looks back further than a day. */
  readonly forWeeks: ReadonlySet<string>;
}

/** All that rules and dashboards ask for. */
async function namesAskedFor(): Promise<Names> {
  const files = await Promise.all([RULES, ...DASHBOARDS].map((path) => readFile(path, "utf8")));
  const namesIn = (text: string) => new Set(text.match(/\bcarryover_[a-z0-9_]+/g) ?? []);
  const recorded = allRules().flatMap(({ record, expr }) => (record === undefined ? [] : [expr]));
  const more = ["carryover_client_requests_total", "carryover_build_info", "carryover_ready"];
  return { all: namesIn(files.join("\n")), forWeeks: namesIn([...recorded, ...more].join("\n")) };
}

/** Writes what a pod says, as if it had said it at another time. */
async function scrape(
  { adminUrl, labels }: Pod,
  at: number,
  wanted: ReadonlySet<string>,
  { real, meant }: Moments,
  out: WriteStream,
): Promise<void> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, name = "", own, value = ""] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!wanted.has(name) || !Number.isFinite(Number(value))) continue;
    lines.push(`${name}{${own === undefined ? "" : `${own},`}${labels}} ${asMeant(name, Number(value))} ${at}`);
  }
  if (!out.write(`${lines.join("\n")}\n`)) await once(out, "drain");

  function asMeant(name: string, value: number): number {
    if (/_timestamp_seconds$|_start_time_seconds$/.test(name) && value > 0) {
      const step = real.findLastIndex((moment) => moment <= value);
      // A process starts a moment before the step that it is started for.
      return Math.min(at, (meant[Math.max(step, 0)] ?? at) + BETWEEN_SCRAPES);
    }
    if (/_(?:total|bucket|sum|count)$/.test(name)) return value * WEIGHT;
    return value;
  }
}

/** A Prometheus that has it all, and what the recording rules make of it. */
async function loaded(folder: string, scraped: string): Promise<Prometheus> {
  const config = join(folder, "prometheus.yaml");
  await writeFile(config, stringify({ global: { scrape_interval: "10m" } }));
  await toBlocks(folder, scraped);
  const start = () => startPrometheus(config, folder, "--storage.tsdb.retention.time=10y");
  let prometheus = await start();
  for (const [level, rules] of levelsOf(allRules()).entries()) {
    const file = join(folder, `recorded-${level}.txt`);
    const out: string[] = [];
    for (const { record = "", expr } of rules) {
      for (const [from, to] of SPANS) {
        const series = await prometheus.queryRange(withoutMemory(record, expr), from + STEP, to, STEP);
        out.push(...series.flatMap((one) => samplesOf(record, one)));
      }
    }
    await writeFile(file, `${out.join("\n")}\n# EOF\n`);
    await prometheus.stop();
    await toBlocks(folder, file);
    prometheus = await start();
  }
  return prometheus;
}

function samplesOf(record: string, { metric, values }: Series): readonly string[] {
  const labels = Object.entries(metric).flatMap(([name, value]) => (name === "__name__" ? [] : [`${name}="${value}"`]));
  return values.flatMap(([at, value]) =>
    Number.isFinite(value) ? [`${record}{${labels.join(",")}} ${value} ${at}`] : [],
  );
}

/** One rule asks for what it recorded itself. Here nothing was recorded before, so it asks for what was scraped before. */
function withoutMemory(record: string, expr: string): string {
  const [, metric] = /^job_client:(\w+):max$/.exec(record) ?? [];
  if (metric === undefined) return expr;
  return `max by (cluster, namespace, job, client) (max_over_time(${metric}{client!~"excluded|unauthenticated"}[60d]))`;
}

/** Recording rules, those first that ask for what was scraped only. */
function levelsOf(rules: readonly Rule[]): readonly (readonly Rule[])[] {
  const recording = rules.filter(({ record }) => record !== undefined);
  const levels = new Map<string, number>();
  for (const { record = "", expr } of recording) {
    const below = [...levels].filter(([name]) => name !== record && expr.includes(name)).map(([, level]) => level + 1);
    levels.set(record, Math.max(0, ...below));
  }
  const highest = Math.max(...levels.values());
  return Array.from({ length: highest + 1 }, (_, level) =>
    recording.filter(({ record = "" }) => levels.get(record) === level),
  );
}

async function toBlocks(folder: string, file: string): Promise<void> {
  const args = ["tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=96h", file, join(folder, "data")];
  await promisify(execFile)(tool("promtool"), args, { maxBuffer: 64 << 20 });
}

/** A query as Grafana asks it, with everything chosen. */
export const asked = (expr: string): string =>
  filledIn(expr, {
    cluster: ".*",
    namespace: ".*",
    job: ".+",
    instance: ".+",
    client: ".+",
    __rate_interval: "40m",
  });
