/** Who calls, by which rules, and what is known of all that so far? (Everything of the migration that outlives one request.) */
import { randomBytes, randomUUID } from "node:crypto";
import type { Catalogue } from "./catalogue.ts";
import type { ExplainCutover } from "./commands/explain/rule.ts";
import type { Config } from "./config/config.ts";
import { ConfigError, faultText } from "./config/faults.ts";
import { readRules } from "./config/rules.ts";
import { faultsOf, readBounded } from "./config/watched-file.ts";
import type { Decisions } from "./decide.ts";
import { disk } from "./ledger/disk.ts";
import { createLedgerFile, type LedgerFile } from "./ledger/file.ts";
import { type ClientIdentity, createIdentity } from "./ledger/identity.ts";
import { createLedger, createOperationTraits, type Ledger } from "./ledger/ledger.ts";
import { later, type Timer } from "./model/clock.ts";
import type { Comparison } from "./model/comparison.ts";
import { createExchange, type Exchange } from "./model/exchange.ts";
import { type HeaderList, header } from "./model/http.ts";
import type { LedgerSnapshot } from "./model/ledger.ts";
import {
  type DifferenceBound,
  PROGRESS_VERSION,
  type Progress,
  type RequestTotals,
  type RuleProgress,
} from "./model/progress.ts";
import type { RequestHead } from "./model/request.ts";
import type { CutoverMode } from "./model/rules.ts";
import { clearLastMatch } from "./model/text.ts";
import type { Cutover } from "./proxy.ts";
import { createBucket, createCredentials } from "./rollout/callers.ts";
import { createRollout, type Rollout } from "./rollout/rollout.ts";
import { createRulesFile, type RulesFile, rulesContext } from "./rollout/rules-file.ts";
import type { RolloutEvent } from "./rollout/transitions.ts";
import { upperBound } from "./rollout/upper-bound.ts";
import type { RuleStatus } from "./rollout/view.ts";
import { cannotStream, discard } from "./server/respond.ts";
import { compareAnswers } from "./shadow/compare.ts";
import { withoutNoise } from "./shadow/differences.ts";
import { comparisonError } from "./shadow/outcome.ts";
import type { TranslateInShadow } from "./shadow/request.ts";
import { createShadow, type Shadow } from "./shadow/shadow.ts";
import { shapeOf } from "./shadow/shape.ts";
import type { Log } from "./telemetry/log.ts";
import type { RolloutMetricSources } from "./telemetry/rollout-metrics.ts";
import { createTotals } from "./telemetry/totals.ts";
import { createToolbox, PAGE_SIZE, TIME } from "./toolbox.ts";
import { decode } from "./upstream/client.ts";
import { createPageTurns } from "./upstream/list-queue.ts";
import { createBackgroundUpstreams, type UpstreamParts, type Upstreams } from "./upstreams.ts";

/** Who else hears of it. */
export interface MigrationHooks {
  readonly log: Log;
  readonly renewal: UpstreamParts["renewal"];
  /** Where calls to the upstreams wait. */
  readonly queues: Upstreams["queues"];
  /** Milliseconds since 1970, by which rules begin, step back and expire. */
  readonly wall: () => number;
  /** When files are looked at and saved. */
  readonly later: Timer;
  compared(comparison: Comparison): void;
  /** `at`: milliseconds since 1970. */
  reloaded(successful: boolean, at: number): void;
}

export interface Migration {
  readonly cutover: Cutover;
  readonly sources: RolloutMetricSources;
  readonly explain: ExplainCutover;
  readonly control: Rollout;
  readonly ledger: Ledger;
  readonly identity: ClientIdentity;
  readonly shadow: Shadow | undefined;
  readonly rulesFile: RulesFile | undefined;
  /** `GET /progress`. */
  progress(): unknown;
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  /** Reads what was kept and the rules. Rejects with ConfigError for a rules file that is wrong. */
  start(): Promise<void>;
  /** Looks at the rules file now. */
  reload(): Promise<void>;
  /** Ends comparisons, keeps what is to be kept. */
  close(): Promise<void>;
}

/** Nothing is read or sent before `start`. */
export function createMigration(
  config: Config,
  catalogue: Catalogue,
  decisions: Decisions,
  hooks: MigrationHooks,
): Migration {
  const { log, wall } = hooks;
  const { mode, salt } = config.cutover;
  const instance = randomUUID();
  const identity = createIdentity({ ...config.clients, key: salt });
  const ledger = createLedger({
    max: config.clients.max,
    wall,
    instance,
    pageSize: PAGE_SIZE,
    identity,
    traits: createOperationTraits(catalogue.resources),
  });
  const totals = createTotals(wall);
  const bucketOf = createBucket(salt);
  const control = createRollout({
    rules: undefined,
    mode,
    bucketOf,
    wall,
    onEvent: (event) => logRolloutEvent(log, event),
  });
  const credentialOf = createCredentials(config.clients.identify, randomBytes(32));
  const shadow = createBackgroundShadow(config, decisions, {
    credentialOf,
    report: (comparison, { headers }) => {
      control.compared(comparison, credentialOf(headers));
      hooks.compared(comparison);
      // A comparison ends behind its request.
      clearLastMatch();
    },
    renewal: hooks.renewal,
    queues: hooks.queues,
    learn: (exchange, { headers }) => ledger.learn({ ...exchange, client: identity.nameOf(headers) }),
  });
  const rulesFile = rulesFileOf(config, catalogue, control, hooks);
  const ledgerFile = ledgerFileOf(config, ledger, hooks);
  const sources: ProgressSources = {
    instance,
    since: wall(),
    wall,
    mode,
    control,
    shadow,
    lastReloadSuccessful: () => rulesFile?.state().failing === undefined,
    totals: totals.snapshot,
    ledger: ledger.snapshot,
  };
  return {
    cutover: { nameOf: identity.nameOf, credentialOf, control, shadow },
    sources: sourcesOf({ config, identity, ledger, ledgerFile, control, shadow, wall }),
    explain: { control, bucketOf, nameOf: identity.nameOf, wall },
    control,
    ledger,
    identity,
    shadow,
    rulesFile,
    progress: () => progressOf(sources),
    observe: (exchange) => {
      control.observe(exchange);
      ledger.observe(exchange);
      totals.observe(exchange);
    },
    start: async () => {
      await ledgerFile?.start();
      await rulesFile?.start().catch(refuse);
    },
    reload: async () => rulesFile?.check(),
    close: async () => {
      rulesFile?.close();
      await shadow?.close();
      await ledgerFile?.close();
    },
  };
}

/** Without right rules nothing begins, whatever is wrong with the file: that is a fault of the configuration. */
function refuse(error: unknown): never {
  if (error instanceof ConfigError || !(error instanceof Error)) throw error;
  const faults = faultsOf(error);
  throw faults.length === 0 ? error : new ConfigError(faults);
}

/** What operators want to be woken for is a warning. */
function logRolloutEvent(log: Log, { kind, rule, from, to, reason }: RolloutEvent): void {
  const facts = { ...(rule === undefined ? {} : { rule }), from, to, reason };
  if (kind === "stepped-back" || kind === "forced" || kind === "expired")
    log.warn(`cutover: ${kind}`, undefined, facts);
  else log.info(`cutover: ${kind}`, facts);
}

function rulesFileOf(
  config: Config,
  catalogue: Catalogue,
  control: Rollout,
  { log, reloaded, wall, later }: MigrationHooks,
): RulesFile | undefined {
  const { rulesFile: path, reloadSeconds } = config.cutover;
  if (path === undefined) return undefined;
  const native = config.upstream.v1 !== undefined;
  const inForce = (): ReadonlySet<string> => new Set(control.rules()?.rules.map(({ identity }) => identity));
  return createRulesFile({
    path,
    read: readBounded,
    parse: (bytes, first) =>
      readRules(
        bytes,
        rulesContext(catalogue, {
          name: path,
          native,
          fallback: config.fallback,
          now: wall(),
          expired: first ? "warn" : "refuse",
          inForce: inForce(),
        }),
      ),
    everyMs: reloadSeconds * 1000,
    later,
    wall,
    apply: (rules, warnings) => {
      control.replace(rules);
      reloaded(true, wall());
      for (const warning of warnings) log.warn("the rules file", undefined, { warning });
    },
    failed: (error, faults) => {
      reloaded(false, wall());
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      log.error("the rules file cannot be used; the rules before it stay in force", undefined, { faults: what });
    },
    recovered: () => {
      reloaded(true, wall());
      log.info("the rules file holds the rules in force again", { digest: control.rules()?.digest ?? "none" });
    },
  });
}

function ledgerFileOf(config: Config, ledger: Ledger, { log, later }: MigrationHooks): LedgerFile | undefined {
  const { file } = config.clients;
  if (file === undefined) return undefined;
  const warn = (message: string, cause: unknown): void => log.warn(message, cause);
  return createLedgerFile({ path: file, disk, later, ledger, warn });
}

interface MetricsInput {
  readonly config: Config;
  readonly identity: ClientIdentity;
  readonly ledger: Ledger;
  readonly ledgerFile: LedgerFile | undefined;
  readonly control: Rollout;
  readonly shadow: Shadow | undefined;
  readonly wall: () => number;
}

/** What metrics read. */
function sourcesOf({
  config,
  identity,
  ledger,
  ledgerFile,
  control,
  shadow,
  wall,
}: MetricsInput): RolloutMetricSources {
  return {
    clientLabel: (name) => (identity.isExcluded(name) ? undefined : identity.labelOf(name)),
    clientNames: identity.names,
    metricSeries: config.clients.metricSeries,
    clients: ledger.callers,
    rules: control.states,
    force: () => control.rules()?.force ?? "none",
    digest: () => control.rules()?.digest,
    ledgerSaved: () => ledgerFile?.failing() !== true,
    wall,
    shadow: () => shadow?.state() ?? { running: 0, waiting: 0, heldBytes: 0, passed: {} },
  };
}

/** How are answers of both versions compared in the background? (Connections and memory of its own, and idle places: design section 7.) */

/** Who asks, and who hears of what is found. */
export interface BackgroundShadowHooks {
  /** Stands for the credential that was sent along. */
  credentialOf(headers: HeaderList): string;
  /** A comparison of the request with this head is over. */
  report(comparison: Comparison, head: RequestHead): void;
  /** What a translation in the background noted about the request with this head. */
  learn(exchange: Exchange, head: RequestHead): void;
  /** Keeps the connections up to date. */
  readonly renewal: UpstreamParts["renewal"];
  /** Where calls wait for their turn. */
  readonly queues: Upstreams["queues"];
}

/** Pages of one list read at a time: slower than for a client, who waits. */
const BACKGROUND_READERS = 2;

/** Undefined without native v1: there is nothing to compare with. */
export function createBackgroundShadow(
  config: Config,
  decisions: Decisions,
  hooks: BackgroundShadowHooks,
): Shadow | undefined {
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) return undefined;
  const { concurrent, answerBytes, memoryBytes, seconds } = config.shadow;
  const upstreams = createBackgroundUpstreams({ v1, v2 }, concurrent * BACKGROUND_READERS, answerBytes, {
    renewal: hooks.renewal,
    queues: hooks.queues,
    now: () => performance.now(),
    random: Math.random,
  });
  const toolbox = createToolbox({ ...config, lists: backgroundLists(config) }, upstreams.v2, TIME, true);
  const translate: TranslateInShadow = async ({ head, body }, layer, signal) => {
    const [path = ""] = head.target.split("?", 1);
    const exchange = createExchange(header(head.headers, "x-request-id") ?? "", performance.now(), head.method, path);
    const decide = decisions.decide((noted, asked, stop) => toolbox.tools(noted, asked, stop, layer));
    const plan = decide(head, exchange);
    if (plan.kind !== "answer") throw new Error("what is compared is translated");
    try {
      const answer = await plan.respond(body, signal);
      if (cannotStream(head.httpVersion, answer.body)) {
        discard(answer.body);
        throw comparisonError("old-http");
      }
      return { answer, exchange };
    } finally {
      hooks.learn(exchange, head);
    }
  };
  const shadow = createShadow({
    limits: { concurrent, answerBytes, memoryBytes, seconds },
    native: upstreams.v1,
    translate,
    decode,
    compare: { shapeOf, compareAnswers, withoutNoise },
    report: hooks.report,
    samples: { perOperation: config.shadow.samples, values: config.shadow.values },
    ownerOf: ({ head }) => hooks.credentialOf(head.headers),
    now: () => performance.now(),
    wall: () => Date.now(),
    random: Math.random,
    later,
    turn: createPageTurns(() => performance.now()),
  });
  return {
    ...shadow,
    close: async () => {
      await shadow.close();
      await upstreams.close();
    },
  };
}

/**
 * Lists read for comparing: a few pages at a time. How long they may be is the client's own limit:
 * what is refused here would be refused there. A list too long to be compared comes in pieces, and is given up on the way.
 */
function backgroundLists({ lists, shadow }: Config): Config["lists"] {
  return {
    ...lists,
    readers: Math.min(lists.readers, BACKGROUND_READERS),
    maxConcurrent: shadow.concurrent,
    maxConcurrentPerCredential: shadow.concurrent,
  };
}

/** What does this instance tell a report? (Design section 8: `GET /progress`.) */

/** Where it is read from. */
export interface ProgressSources {
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly wall: () => number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly control: Pick<Rollout, "rules" | "states">;
  readonly shadow: Pick<Shadow, "bounds"> | undefined;
  readonly lastReloadSuccessful: () => boolean;
  readonly totals: () => RequestTotals;
  readonly ledger: () => LedgerSnapshot;
}

/** As it is now. */
export function progressOf(sources: ProgressSources): Progress {
  const { control, shadow } = sources;
  return {
    version: PROGRESS_VERSION,
    instance: sources.instance,
    since: sources.since,
    at: sources.wall(),
    mode: sources.mode,
    force: control.rules()?.force ?? "none",
    lastReloadSuccessful: sources.lastReloadSuccessful(),
    totals: sources.totals(),
    ledger: sources.ledger(),
    bounds: (shadow?.bounds() ?? []).map(boundOf),
    rules: control.states().map(ruleProgressOf),
  };
}

function boundOf({
  resource,
  operation,
  client,
  comparisons,
  differences,
}: Omit<DifferenceBound, "upper">): DifferenceBound {
  return { resource, operation, client, comparisons, differences, upper: upperBound(differences, comparisons) };
}

function ruleProgressOf(rule: RuleStatus): RuleProgress {
  const { name, mode, effective, since } = rule;
  return { name, mode, doing: effective, state: ruleStateWord(rule), since, detail: ruleDetail(rule) };
}

function ruleStateWord({ state, expired, promoted, couldMove }: RuleStatus): RuleProgress["state"] {
  if (expired) return "expired";
  if (state === "back") return "stepped-back";
  if (state === "returning") return "returning";
  if (couldMove) return "could-move";
  return promoted ? "promoted" : "as-written";
}

/** The numbers that it rests on. */
function ruleDetail(rule: RuleStatus): string {
  const { requests, failures, comparisons, differences, bound, step, heldBack } = rule;
  const parts = [
    ...(step === undefined ? [] : [`${share(step)} of its clients are translated`]),
    ...(requests === 0 ? [] : [`${failures} of ${requests} requests failed because of translation`]),
    ...(comparisons === 0
      ? []
      : [`${differences} of ${comparisons} comparisons differed: at most ${share(bound)} do (95 %)`]),
    ...(heldBack.length === 0 ? [] : [`not to be translated yet: ${heldBack.join("; ")}`]),
  ];
  return parts.join("; ");
}

function share(part: number): string {
  return `${Number((part * 100).toPrecision(2))} %`;
}
