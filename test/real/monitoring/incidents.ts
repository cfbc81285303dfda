/** Starts the servers of the monitoring test and triggers each alert on purpose. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { freePort } from "../../../scripts/free-ports.mjs";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { type Instance, type Prometheus, serve, startAlertmanager, startInstance, until } from "./processes.ts";
import { type Ask, asker, everyKind, type Platform, rpcs, slowPut, startPlatform } from "./traffic.ts";

/** One alert as Alertmanager sends it to a receiver. */
export interface Told {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly folder: string;
  readonly prometheus: Prometheus;
  /** Alerts that arrived, in their order. */
  readonly told: Told[];
  /** Serve clients; both follow the same rules, each from a file of its own. */
  readonly edge: readonly (Instance & { readonly rpcUrl: string })[];
  readonly platform: Platform;
  /** Has everything go wrong. */
  readonly odd: Instance;
  readonly oddPlatform: Platform;
  readonly oddFlags: Readonly<Record<string, string>>;
  /** Restarts in one place; the last one. */
  restless: Instance;
  readonly restlessFlags: Readonly<Record<string, string>>;
  /** Metrics as after a mistake of carryover's own, some minutes with a slow v2, and two weeks without a client. */
  readonly madeUp: { internal: number };
}

type Watching = (jobs: ReadonlyMap<string, readonly string[]>, alertmanager: string) => Promise<Prometheus>;

const RULES = `version: carryover/v1
rules:
  - name: long-ago
    match: { client: [nobody] }
    mode: native
    expires: 2020-01-01
  - name: look
    match: { client: [watcher] }
    mode: shadow
    shadow: { sample: 1 }
    promoteWhen: { differencesBelow: 0.5, minClients: 1 }
  - name: moved
    match: { client: [ci-bot, web-ui] }
    mode: translate
    stepBack: { failures: 0.2, minRequests: 20, minClients: 1, window: 1m }
  - name: tolerant
    match: { client: [old] }
    mode: translate
    guard: warn
    onFailure: native
  - name: rest
    match: {}
    mode: native
`;

export async function startEverything(folder: string, watch: Watching): Promise<Stage> {
  const told: Told[] = [];
  const receiver = await serve((_path, body) => {
    told.push(...(JSON.parse(body) as { alerts: Told[] }).alerts);
    return "";
  });
  const [platform, oddPlatform] = [await startPlatform(), await startPlatform()];
  const edge = await Promise.all(["one", "two"].map((name) => startEdge(folder, name, platform.url)));
  const state = join(folder, "state");
  const authority = join(folder, "authority.pem");
  await writeFile(authority, LOCALHOST.cert);
  const oddFlags = {
    ...ofPlatform(oddPlatform.url),
    // No client exchanges tokens here: only the certificate is checked, repeatedly.
    "upstream-sts-url": "https://localhost:9",
    "upstream-sts-tls-ca-file": authority,
    "state-dir": state,
    // No server listens there.
    "state-url": "redis://127.0.0.1:9",
    "limits-in-flight": "4",
    "lists-max-concurrent": "1",
    "lists-max-records": "600",
    "lists-require": "none",
  };
  // Its log is not read.
  const odd = await startInstance(oddFlags, "pipe");
  // From now on nothing can be saved, and there is something to save.
  await rm(state, { recursive: true });
  await asker(odd.url, oddPlatform.sandbox)("GET", "/iam/v1/roles");
  const restlessFlags = ofPlatform(platform.url);
  const restless = await startInstance(restlessFlags);
  const madeUp = { internal: 0 };
  const standIn = await serve(() => madeUpMetrics(madeUp.internal));
  const receivers = [{ name: "test", webhook_configs: [{ url: `http://${receiver}/`, send_resolved: false }] }];
  const route = { receiver: "test", group_by: ["..."], group_wait: "0s", group_interval: "1s", repeat_interval: "1h" };
  await writeFile(join(folder, "alertmanager.yaml"), stringify({ route, receivers }));
  const alertmanager = await startAlertmanager(join(folder, "alertmanager.yaml"), folder);
  const jobs = new Map([
    ["edge", edge.map(({ target }) => target)],
    ["odd", [odd.target]],
    ["restless", [restless.target]],
    ["stand-in", [standIn]],
  ]);
  const prometheus = await watch(jobs, alertmanager);
  return { folder, prometheus, told, edge, platform, odd, oddPlatform, oddFlags, restless, restlessFlags, madeUp };
}

function ofPlatform(url: string): Record<string, string> {
  return {
    "upstream-v2-url": url,
    "upstream-v1-url": url,
    "cutover-mode": "translate",
    "clients-identify": "header:x-client",
  };
}

async function startEdge(folder: string, name: string, url: string): Promise<Stage["edge"][number]> {
  const rules = join(folder, `${name}.yaml`);
  await writeFile(rules, RULES);
  const port = await freePort();
  const instance = await startInstance({
    ...ofPlatform(url),
    "listen-grpc-port": String(port),
    "cutover-rules-file": rules,
    "clients-names": "ci-bot=ci-bot,web-ui=web-ui",
    "state-dir": join(folder, name),
  });
  return { ...instance, rpcUrl: `http://127.0.0.1:${port}` };
}

/** In Prometheus's text, as carryover says it. */
function madeUpMetrics(internal: number): string {
  const twoWeeksAgo = Math.floor(Date.now() / 1000) - 15 * 86_400;
  return `# TYPE carryover_problems_total counter
carryover_problems_total{reason="INTERNAL"} ${internal}
carryover_problems_total{reason="MESSAGE_TOO_LARGE"} ${internal}
# TYPE carryover_rule_v2_slow gauge
carryover_rule_v2_slow{rule="slowed"} ${internal * 4}
# TYPE carryover_brownout_stopped gauge
carryover_brownout_stopped{rule="tuesdays"} ${internal}
# TYPE carryover_brownout_running gauge
carryover_brownout_running{rule="mondays"} ${internal}
# TYPE carryover_brownout_refused_total counter
carryover_brownout_refused_total{rule="mondays"} ${internal}
# TYPE carryover_recording_failing gauge
carryover_recording_failing ${internal}
# TYPE carryover_client_last_v1_request_timestamp_seconds gauge
carryover_client_last_v1_request_timestamp_seconds{client="monthly"} ${twoWeeksAgo}
`;
}

/** Triggers the alerts in turn; resolves when each has been sent. */
export async function fireAll(stage: Stage): Promise<void> {
  const { platform, prometheus, edge } = stage;
  const stop = traffic(stage);
  await scraped(prometheus, 'sum(rate(carryover_requests_total{job="edge",mode="translate"}[1m])) > 0');
  stage.madeUp.internal = 1;
  await told(
    stage,
    "CarryoverInternalError",
    "CarryoverMessagesTooLarge",
    "CarryoverRuleExpired",
    "CarryoverBrownoutStopped",
    "CarryoverRecordingFailing",
    "CarryoverRuleCouldMove",
    "CarryoverV2Slow",
    "CarryoverStateNotSaved",
    "CarryoverStoreAway",
  );
  await told(stage, "CarryoverClientSilent");
  platform.mood = "other-values";
  await told(stage, "CarryoverDifferences", "CarryoverUpdateMismatch");
  platform.mood = "garbage";
  await told(stage, "CarryoverOwnErrors", "CarryoverRuleSteppedBack", "CarryoverClientErrors");
  platform.mood = "cut";
  await told(stage, "CarryoverGatewayErrors");
  platform.mood = "down";
  await told(stage, "CarryoverComparisonsFail", "CarryoverV2FailsClients");
  platform.mood = "well";
  await troubleWithRules(stage);
  await Promise.all([troubleWithLists(stage), restarts(stage)]);
  await troubleWithTheProcess(stage);
  await stop();
  await until(
    "the rest of traffic was scraped",
    () => prometheus.query(`up{instance="${edge[0]?.target}"}`),
    (all) => all.length > 0,
  );
  await ends(stage);
}

/** Clients of both edge instances, until stopped. */
function traffic({ edge, platform }: Stage): () => Promise<void> {
  const state = { going: true };
  const loop = async (ask: Ask, rpcUrl: string): Promise<void> => {
    while (state.going) {
      await everyKind(ask, platform.sandbox);
      await rpcs(rpcUrl, platform.sandbox);
      // Clients that never pause leave no time to whatever else is to be seen here.
      await sleep(250);
    }
  };
  const loops = edge.map(({ url, rpcUrl }) => loop(asker(url, platform.sandbox), rpcUrl));
  return async () => {
    state.going = false;
    await Promise.all(loops);
  };
}

async function troubleWithRules(stage: Stage): Promise<void> {
  const change = async (name: string, text: string): Promise<void> => {
    await writeFile(join(stage.folder, "next.yaml"), text);
    await rename(join(stage.folder, "next.yaml"), join(stage.folder, `${name}.yaml`));
  };
  await change("one", "version: carryover/v1\nrules: [{ name: wrong, mode: perhaps }]\n");
  await change(
    "two",
    RULES.replace("rules:", "force: native\nrules:").replace(/ {2}- name: long-ago[^-]*-01-01\n/, ""),
  );
  await writeFile(stage.oddFlags["upstream-sts-tls-ca-file"] ?? "", "no certificate any more");
  await told(stage, "CarryoverReloadFailed", "CarryoverRulesDiffer", "CarryoverForced", "CarryoverCertificatesFailed");
}

/** Lists of role bindings have three pages here, lists of groups more records than may be. */
async function troubleWithLists(stage: Stage): Promise<void> {
  const { odd, oddPlatform: platform, prometheus } = stage;
  const ask = asker(odd.url, platform.sandbox);
  const list = "/iam/v1/rolebindings";
  await scraped(prometheus, 'carryover_ready{job="odd"} == 1');
  await ask("GET", "/iam/v1/groups");
  platform.mood = "garbage-pages";
  await ask("GET", list);
  platform.mood = "refused-pages";
  // A few refused lists must not raise an alert.
  for (let times = 0; times < 6; times++) await ask("GET", list);
  await told(stage, "CarryoverListsTooLarge", "CarryoverListsIncomplete", "CarryoverListsRefused");
  platform.mood = "later-pages";
  // Each is asked to wait a few times, and then refused.
  await until(
    "resting readers are told of",
    async () => {
      await Promise.all([ask("GET", list), ask("GET", list)]);
      return heard(stage, "CarryoverReadersPaused");
    },
    Boolean,
  );
  platform.mood = "hanging";
  // One is read, the others wait for its place: four of four requests under way, and a fifth is one too many.
  // A list may be refused because the platform's pause is not over, or because it waited too long. Then it is asked for again.
  const waiting = [1, 2, 3, 4].map(async () => {
    while (platform.mood === "hanging") {
      await ask("GET", list);
      await sleep(100);
    }
  });
  await told(stage, "CarryoverListsWaiting", "CarryoverSaturated");
  await ask("GET", list);
  await told(stage, "CarryoverOverloaded");
  platform.mood = "well";
  await Promise.all(waiting);
}

/** In one place, so that it is the same target. */
async function restarts(stage: Stage): Promise<void> {
  const { target, url } = stage.restless;
  const ports = { "admin-port": target.split(":")[1] ?? "", "listen-port": new URL(url).port };
  const began = `carryover_process_start_time_seconds{instance="${target}"}`;
  for (let times = 0; times < 3; times++) {
    const [before] = await scraped(stage.prometheus, began);
    await stage.restless.kill();
    stage.restless = await startInstance({ ...stage.restlessFlags, ...ports });
    await scraped(stage.prometheus, `${began} > ${before?.values[0]?.[1] ?? 0}`);
  }
  await told(stage, "CarryoverRestarting");
}

async function troubleWithTheProcess(stage: Stage): Promise<void> {
  const { odd, oddPlatform } = stage;
  const { wellKnown } = oddPlatform.sandbox;
  const token = oddPlatform.sandbox.token("admin");
  const ask = asker(odd.url, oddPlatform.sandbox);
  const group = `/iam/v1/groups/${wellKnown.someGroup}`;
  await until(
    "slow clients are told of",
    async () => {
      await Promise.all([1, 2, 3].map(() => slowPut(odd.url, group, token, 2000)));
      return heard(stage, "CarryoverOwnTimeHigh");
    },
    Boolean,
  );
  await until(
    "lost lines are told of",
    async () => {
      for (let at = 0; at < 200; at++)
        await Promise.all([1, 2, 3, 4].map(() => ask("GET", `/nothing/${"x y".repeat(600).replaceAll(" ", "/")}`)));
      return heard(stage, "CarryoverLogLinesDropped");
    },
    Boolean,
    120,
  );
  await until(
    "a process that stands still is told of",
    async () => {
      for (let times = 0; times < 3; times++) {
        odd.child.kill("SIGSTOP");
        await sleep(500);
        odd.child.kill("SIGCONT");
        await sleep(100);
      }
      return heard(stage, "CarryoverEventLoopBlocked");
    },
    Boolean,
  );
}

async function ends(stage: Stage): Promise<void> {
  const { odd, oddPlatform, restless } = stage;
  oddPlatform.mood = "hanging";
  const last = asker(odd.url, oddPlatform.sandbox)("GET", "/iam/v1/rolebindings");
  await scraped(stage.prometheus, 'carryover_in_flight_requests{job="odd"} == 1');
  odd.child.kill("SIGTERM");
  await told(stage, "CarryoverNotReady");
  oddPlatform.mood = "well";
  await last;
  await restless.kill();
  await told(stage, "CarryoverDown", "CarryoverGone");
}

const heard = ({ told: all }: Stage, name: string): boolean => all.some(({ labels }) => labels["alertname"] === name);

/** Resolves when Alertmanager has passed on each of them. */
async function told(stage: Stage, ...names: readonly string[]): Promise<void> {
  await until(
    `told of ${names}`,
    async () => names.filter((name) => !heard(stage, name)),
    (missing) => missing.length === 0,
  );
}

function scraped(prometheus: Prometheus, expr: string) {
  return until(
    expr,
    () => prometheus.query(expr),
    (series) => series.length > 0,
  );
}
