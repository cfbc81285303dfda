/** Everything about the migration that outlives one request: rules and their evidence, the ledger, comparisons, progress. */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { ConfigError, faultText } from "../config/faults.ts";
import { readRules, requestedOperations } from "../config/rules.ts";
import { faultsOf, readBounded } from "../config/watched-file.ts";
import { PAGE_SIZE } from "../drain/limits.ts";
import { discard } from "../edge/body-portions.ts";
import type { EventHistory } from "../history/events.ts";
import { type AskedTimes, createRequestHistory } from "../history/requests.ts";
import type { ClientsRollout } from "../ledger/clients-view.ts";
import { DAY_MS } from "../ledger/days.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { ForgottenClient } from "../ledger/forgotten.ts";
import { type ClientIdentity, createIdentity, type NameMeanings } from "../ledger/identity.ts";
import { createLedger, createOperationTraits, type Ledger } from "../ledger/ledger.ts";
import { createRetention } from "../ledger/retention.ts";
import { type MissedName, missedNames, missedText } from "../ledger/rule-names.ts";
import { later, TIME, type Timer } from "../model/clock.ts";
import type { Comparison } from "../model/comparison.ts";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { header, type StreamSend } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { RequestHead } from "../model/request.ts";
import type { CutoverMode } from "../model/rules.ts";
import { clearLastMatch } from "../model/text.ts";
import { createBucket } from "../rollout/callers.ts";
import { createRollout, type Rollout } from "../rollout/rollout.ts";
import type { RolloutEvent } from "../rollout/rule-state.ts";
import {
  createLastRules,
  createRulesFile,
  type LastRules,
  type RulesFile,
  resourceNames,
  rulesContext,
} from "../rollout/rules-file.ts";
import { upperBound } from "../rollout/upper-bound.ts";
import type { Rule } from "../rules/rule.ts";
import type { ConfirmedRule, ForceCommand, ForceNote, ForceState } from "../rules/status.ts";
import { cannotStream } from "../server/respond.ts";
import { ComparisonError } from "../shadow/outcome.ts";
import type { ShadowOptions, TranslateInShadow } from "../shadow/request.ts";
import { createShadow, type Shadow } from "../shadow/shadow.ts";
import type { Log } from "../telemetry/log.ts";
import { PROGRESS_VERSION, type Progress, type RequestTotals, type RequestWindow } from "../telemetry/progress.ts";
import type { RolloutMetricSources } from "../telemetry/rollout-metrics.ts";
import { createPageTurns } from "../upstream/list-queue.ts";
import { createToolbox } from "./calls.ts";
import { createLifeEvents, logRolloutEvent } from "./events.ts";
import type { ExplainCutover } from "./explain/rule.ts";
import { createForgetting } from "./forgetting.ts";
import { createNativeReads } from "./native-reads.ts";
import { createCredentialDigests, createSavedState } from "./persistence.ts";
import type { Cutover, Decisions } from "./proxy.ts";
import { askedRule } from "./rule-clients.ts";
import { createSharedState } from "./shared-state.ts";
import { createBackgroundUpstreams, type UpstreamParts, type Upstreams } from "./upstreams.ts";

interface MigrationHooks {
  readonly log: Log;
  readonly history: EventHistory;
  /** Random, one per process. */
  readonly instance: string;
  readonly renewal: UpstreamParts["renewal"];
  /** Where calls to the upstreams wait. */
  readonly queues: Upstreams["queues"];
  /** Calls native v1 within its connections. Undefined without a native v1. */
  readonly native: StreamSend | undefined;
  /** Milliseconds since 1970, by which rules begin, step back and expire. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** When files are looked at and saved. */
  readonly later: Timer;
  /** Milliseconds between two looks at the rules file. */
  readonly reloadMs: number;
}

/** Events that belong to no request. */
interface MigrationListener {
  /** A comparison is over. */
  compared(comparison: Comparison): void;
  /** A client is no longer known; `label`: its name in metrics. */
  forgotten(label: string): void;
  /** The rules file was looked at; `at`: milliseconds since 1970. */
  reloaded(successful: boolean, at: number): void;
}

export interface Migration {
  readonly cutover: Cutover;
  readonly sources: RolloutMetricSources;
  readonly explain: ExplainCutover;
  readonly rollout: Rollout;
  readonly ledger: Ledger;
  readonly identity: ClientIdentity;
  readonly shadow: Shadow | undefined;
  readonly rulesFile: RulesFile | undefined;
  /** `GET /progress`. `times`: with the requests of this time. */
  progress(times?: AskedTimes): Progress;
  /** Records when the process starts to serve, and when it stops. */
  readonly life: ReturnType<typeof createLifeEvents>;
  /** `POST /force`: what is in force then, once it is saved. Rejects with `Problem` where there is no native v1. */
  force(command: ForceCommand, note: ForceNote): Promise<ForceState & { readonly survives: boolean }>;
  /** `POST /confirm`: whether the rule was unknown, and what it does now, once that is saved. Rejects with `Problem` for an unknown name. */
  confirm(rule: string): Promise<ConfirmedRule>;
  /** `POST /forget`: what was dropped of the client, once that is saved. */
  forget(client: string): Promise<ForgottenClient>;
  /** Rules that name a client otherwise than the ledger does. */
  missedNames(): readonly MissedName[];
  /** `?rule=NAME` of the query: which clients it takes now. Throws `Problem` for an unknown rule. */
  clientsRollout(query: URLSearchParams): ClientsRollout;
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  /** Calls `listener` from now on; to be called before `start`. */
  subscribe(listener: MigrationListener): void;
  /** Reads what was saved and the rules. Rejects with ConfigError for an unusable `state.dir` and an invalid rules file. */
  start(): Promise<void>;
  /** Looks at the rules file now. */
  reload(): Promise<void>;
  /** Replaces `clients.names`. */
  rename(names: Config["clients"]["names"]): void;
  /** Ends a `start` that waits for `state.dir`. */
  endWait(): void;
  /** True while this process may write to `state.dir`. */
  holdsState(): Promise<boolean>;
  /** Ends comparisons, and saves everything. */
  close(): Promise<void>;
}

/** Nothing is read or sent before `start`. */
export function createMigration(
  config: Config,
  catalogue: Catalogue,
  decisions: Decisions,
  hooks: MigrationHooks,
): Migration {
  const { log, wall, history, instance } = hooks;
  const listeners: MigrationListener[] = [];
  const { mode, salt } = config.cutover;
  const identity = createIdentity({ ...config.clients, key: salt });
  const ledger = createLedger({
    max: config.clients.max,
    wall,
    instance,
    pageSize: PAGE_SIZE,
    identity,
    traits: createOperationTraits(catalogue.resources),
  });
  const requests = createRequestHistory(wall);
  const bucketOf = createBucket(salt);
  const changed: ((event: RolloutEvent) => void)[] = [];
  const rollout = createRollout({
    rules: undefined,
    mode,
    native: config.upstream.v1 !== undefined,
    bucketOf,
    wall,
    now: hooks.now,
    blameV2: ledger.blameV2,
    // Without rules nothing changes before the saved state below is made.
    onEvent: (event) => {
      for (const listener of changed) listener(event);
    },
  });
  const digests = createCredentialDigests(config);
  const { credentialOf } = digests;
  const shadow = createBackgroundShadow(config, decisions, {
    renewal: hooks.renewal,
    queues: hooks.queues,
    ownerOf: ({ head }) => credentialOf(head.headers),
    report: (comparison, { headers }) => {
      rollout.compared(comparison, credentialOf(headers));
      for (const listener of listeners) listener.compared(comparison);
      // A comparison ends after its request.
      clearLastMatch();
    },
    learn: (exchange, { headers }) => ledger.learn({ ...exchange, client: identity.nameOf(headers) }),
  });
  const lastRules = config.cutover.rulesFile === undefined ? undefined : createLastRules();
  const rulesFile = watchedRulesFile(config, catalogue, { rollout, identity, lastRules }, hooks, (successful) => {
    for (const listener of listeners) listener.reloaded(successful, wall());
    if (successful) warnOfMissedNames(missed(), log);
  });
  const missed = (): readonly MissedName[] =>
    missedNames(
      rollout.rules()?.rules ?? [],
      identity,
      Array.from(ledger.seen(), ({ name }) => name),
    );
  const after = config.clients.forgetAfter * DAY_MS;
  const retention = createRetention({ after, wall, now: hooks.now });
  const savedParts = { rollout, ledger, shadow, identity, digests, requests, history, lastRules, retention };
  const saved = createSavedState(config, savedParts, hooks);
  const sharedParts = { rollout, record: history.record, log, instance, wall, later: hooks.later };
  const sharedState = createSharedState(config.state, sharedParts);
  const forgetting = createForgetting({
    ledger,
    shadow,
    retention,
    later: hooks.later,
    log,
    save: saved.saveCounts,
    forgotten: (client) => {
      for (const listener of listeners) listener.forgotten(identity.labelOf(client));
    },
  });
  changed.push((event) => {
    const id = history.record(event);
    saved.afterSaving(() => logRolloutEvent(log, event, id));
  }, sharedState.changed);
  const since = wall();
  return {
    cutover: { nameOf: identity.nameOf, credentialOf, rollout, shadow, native: nativeReads(hooks) },
    sources: {
      clientLabel: (name) => (identity.isExcluded(name) ? undefined : identity.labelOf(name)),
      clientNames: identity.names,
      metricSeries: config.clients.metricSeries,
      clients: ledger.callers,
      rules: rollout.states,
      force: () => rollout.force().effective,
      guardCalls: rollout.guardCalls,
      digest: () => rollout.rules()?.digest,
      stateSaved: () => !saved.failing(),
      storeUp: sharedState.isUp,
      wall,
      shadow: () => ({ running: 0, waiting: 0, heldBytes: 0, passed: {}, ...shadow?.state() }),
      comparisons: shadow?.tally,
    },
    explain: { rollout, bucketOf, nameOf: identity.nameOf, wall },
    rollout,
    ledger,
    identity,
    shadow,
    rulesFile,
    life: createLifeEvents({ history, log, rollout, mode, before: saved.before }),
    progress: (times) =>
      progressOf({
        instance,
        since,
        wall,
        mode,
        rollout,
        shadow,
        rulesFault: () => rulesFaultOf(rulesFile),
        shared: sharedState.progress,
        saved: () => !saved.failing(),
        countsLostAt: saved.countsLostAt,
        totals: requests.snapshot,
        window: () => times && requests.window(times),
        ledger: ledger.snapshot,
      }),
    force: async (command, note) => {
      if (command === "native" && config.upstream.v1 === undefined) {
        throw new Problem("INVALID_REQUEST", "there is no native v1 to go back to: upstream.v1.url is not set");
      }
      rollout.forceByHand(command, wall(), note);
      const isShared = sharedState.force(command, note);
      const isSaved = await new Promise<boolean>((resolve) => saved.afterSaving(resolve));
      return { ...rollout.force(), survives: (await isShared) || isSaved };
    },
    confirm: async (name) => {
      const wasUnknown = rollout.confirm(name, wall());
      const status = rollout.states().find((one) => one.name === name);
      if (wasUnknown === undefined || status === undefined) {
        throw new Problem("INVALID_REQUEST", `there is no rule ${JSON.stringify(name)}: see /rules`);
      }
      const survives = await new Promise<boolean>((resolve) => saved.afterSaving(resolve));
      return { rule: name, wasUnknown, doing: status.doing, survives };
    },
    forget: forgetting.forget,
    missedNames: missed,
    clientsRollout: (query) => {
      const native = config.upstream.v1 !== undefined;
      const operations = requestedOperations(resourceNames(catalogue.resources), native);
      return { bucketOf, rule: askedRule(query, { rollout, bucketOf, wall, operations }) };
    },
    observe: (exchange) => {
      rollout.observe(exchange);
      ledger.observe(exchange);
      requests.observe(exchange);
    },
    subscribe: (listener) => listeners.push(listener),
    holdsState: saved.isHeld,
    endWait: saved.endWait,
    start: async () => {
      await saved.start();
      forgetting.start();
      await rulesFile?.start().catch(asConfigError);
      await sharedState.start();
    },
    reload: async () => rulesFile?.check(),
    rename: (names) => {
      const before = identity.meanings();
      identity.rename(names);
      ledger.rename(identity.nameSince(before));
      warnOfLostNames(before, identity.names, rollout.rules()?.rules ?? [], log);
      warnOfMissedNames(missed(), log);
    },
    close: async () => {
      forgetting.close();
      rulesFile?.close();
      await shadow?.close();
      await sharedState.close();
      await saved.close();
    },
  };
}

/** Reads of native v1 for clients that v2 failed. Requests' deadlines are on the monotonic clock. */
function nativeReads({ native: stream }: MigrationHooks): Cutover["native"] {
  const { now, later } = TIME;
  return stream && { reads: createNativeReads({ stream, now, later }), now, later };
}

/** An invalid rules file is a fault of the configuration: carryover refuses to start. */
function asConfigError(error: unknown): never {
  if (error instanceof ConfigError || !(error instanceof Error)) throw error;
  const faults = faultsOf(error);
  throw faults.length === 0 ? error : new ConfigError(faults);
}

/** A rule that names a client by a name that is gone lets it pass to the rules after it. */
function warnOfLostNames(before: NameMeanings, names: ReadonlySet<string>, rules: readonly Rule[], log: Log): void {
  const gone = [...new Set(before.names.map(([name]) => name))].filter((name) => !names.has(name));
  for (const { name, match } of rules) {
    const clients = gone.filter((client) => match.clients?.has(client));
    if (clients.length === 0) continue;
    log.warn("clients.names no longer has clients that a rule names", undefined, {
      rule: name,
      clients: clients.join(),
    });
  }
}

const RULES_BEFORE = "the rules before it stay in force";
/** Such a rule takes no request of the client, in silence. */
function warnOfMissedNames(missed: readonly MissedName[], log: Log): void {
  for (const one of missed)
    log.warn("a rule names a client otherwise than the ledger", undefined, { warning: missedText(one) });
}

function watchedRulesFile(
  config: Config,
  catalogue: Catalogue,
  {
    rollout,
    identity,
    lastRules,
  }: Pick<Migration, "rollout" | "identity"> & { readonly lastRules: LastRules | undefined },
  { log, wall, later, reloadMs, history }: MigrationHooks,
  reloaded: (successful: boolean) => void,
): RulesFile | undefined {
  const { rulesFile: path } = config.cutover;
  if (path === undefined) return undefined;
  const native = config.upstream.v1 !== undefined;
  /** Those before, where the file cannot be used. */
  let inForce = RULES_BEFORE;
  let isRefused = false;
  const recovered = (reason: string): string => {
    isRefused = false;
    inForce = RULES_BEFORE;
    return history.record({ kind: "rules-recovered", reason });
  };
  return createRulesFile({
    path,
    last: lastRules,
    read: readBounded,
    parse: (bytes, first) =>
      readRules(
        bytes,
        rulesContext(catalogue, {
          name: path,
          native,
          fallback: config.fallback,
          clients: identity.names,
          now: wall(),
          expired: first ? "warn" : "refuse",
          inForce: new Set(rollout.rules()?.rules.map(({ identity }) => identity)),
        }),
      ),
    everyMs: reloadMs,
    later,
    wall,
    apply: (rules, warnings, isSpare) => {
      rollout.replace(rules);
      if (isSpare) inForce = "the rules that were saved before the restart are in force";
      else reloaded(true);
      if (isRefused) {
        const event = recovered("the rules file can be used again: its rules are in force");
        log.info("the rules file can be used again", { digest: rules.digest, event });
      }
      for (const warning of warnings) log.warn("the rules file", undefined, { warning });
    },
    failed: (error, faults) => {
      reloaded(false);
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      isRefused = true;
      const event = history.record({ kind: "rules-refused", reason: `${inForce}: ${what}` });
      log.error(`the rules file cannot be used; ${inForce}`, undefined, { faults: what, event });
    },
    recovered: () => {
      reloaded(true);
      const event = recovered("the rules file holds the rules in force again");
      log.info("the rules file holds the rules in force again", { digest: rollout.rules()?.digest ?? "none", event });
    },
  });
}

interface BackgroundShadowHooks
  extends Pick<ShadowOptions, "ownerOf" | "report">,
    Pick<MigrationHooks, "renewal" | "queues"> {
  /** Takes what a translation in the background noted about the request with this head. */
  learn(exchange: Exchange, head: RequestHead): void;
}

/** A response is compared up to this part of `limits.memoryBytes`, so that several fit. */
const LONGEST_COMPARED = 8;

/** Pages of one list that are read at a time: fewer than for a client, who waits. */
const BACKGROUND_READERS = 2;

/** Compares with connections and memory of its own. Undefined without a native v1 to compare with. */
function createBackgroundShadow(
  config: Config,
  decisions: Decisions,
  { renewal, queues, learn, ...hooks }: BackgroundShadowHooks,
): Shadow | undefined {
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) return undefined;
  const { concurrent, seconds } = config.shadow;
  const { memoryBytes } = config.limits;
  const answerBytes = memoryBytes / LONGEST_COMPARED;
  const upstreams = createBackgroundUpstreams({ v1, v2 }, concurrent * BACKGROUND_READERS, answerBytes, {
    renewal,
    queues,
    headerBytes: config.limits.responseHeaderBytes,
    now: () => performance.now(),
    random: Math.random,
  });
  const toolbox = createToolbox({ ...config, lists: backgroundLists(config) }, upstreams.v2, TIME, true);
  const translate: TranslateInShadow = async ({ head, body }, layer, signal) => {
    const { method, target } = head;
    const exchange = createExchange(header(head.headers, "x-request-id") ?? "", performance.now(), method, target);
    const { decide } = decisions.proxy((asked, stop) => toolbox.tools(asked, stop, layer));
    const plan = decide({ ...head, exchange });
    if (plan.kind !== "answer") throw new Error("what is compared is translated");
    try {
      const answer = await plan.respond(body, signal);
      if (cannotStream(head.httpVersion, answer.body)) {
        discard(answer.body);
        throw new ComparisonError("old-http");
      }
      return { answer, exchange };
    } finally {
      learn(exchange, head);
    }
  };
  const shadow = createShadow({
    ...hooks,
    limits: { concurrent, answerBytes, memoryBytes, seconds },
    native: upstreams.v1,
    translate,
    samples: { perOperation: config.shadow.samples, values: config.shadow.values },
    ignore: config.shadow.ignore,
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

/** Reads fewer pages at a time. The limits on a list's length stay: a list that a client would not get is not compared. */
function backgroundLists({ lists, shadow }: Config): Config["lists"] {
  return {
    ...lists,
    readers: Math.min(lists.readers, BACKGROUND_READERS),
    maxConcurrent: shadow.concurrent,
  };
}

/** Longest text about a rules file in `GET /progress`. */
const LONGEST_FAULT = 500;

function rulesFaultOf(file: RulesFile | undefined): Progress["rulesFault"] {
  const { failing } = file?.state() ?? {};
  if (failing === undefined) return undefined;
  const [first] = failing.faults;
  return { at: failing.at, says: (first === undefined ? failing.message : faultText(first)).slice(0, LONGEST_FAULT) };
}

interface ProgressSources {
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly wall: () => number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly rollout: Pick<Rollout, "rules" | "states" | "force">;
  readonly shadow: Pick<Shadow, "tally" | "causes"> | undefined;
  readonly rulesFault: () => Progress["rulesFault"];
  readonly shared: () => Progress["shared"];
  readonly saved: () => boolean;
  readonly countsLostAt: () => number | undefined;
  readonly totals: () => RequestTotals;
  readonly window: () => RequestWindow | undefined;
  readonly ledger: () => LedgerSnapshot;
}

/** What this instance tells a report. */
export function progressOf(sources: ProgressSources): Progress {
  const { rollout, shadow } = sources;
  return {
    version: PROGRESS_VERSION,
    instance: sources.instance,
    since: sources.since,
    at: sources.wall(),
    mode: sources.mode,
    force: rollout.force().effective,
    forcedBy: rollout.force(),
    digest: rollout.rules()?.digest,
    shared: sources.shared(),
    saved: sources.saved(),
    countsLostAt: sources.countsLostAt(),
    lastReloadSuccessful: sources.rulesFault() === undefined,
    rulesFault: sources.rulesFault(),
    totals: sources.totals(),
    window: sources.window(),
    ledger: sources.ledger(),
    bounds: (shadow?.tally.rows() ?? []).map(({ resource, operation, client, comparisons, differences }) => {
      return { resource, operation, client, comparisons, differences, upper: upperBound(differences, comparisons) };
    }),
    rules: rollout.states().map((rule) => ({ ...rule, causes: shadow?.causes(rule.name) })),
  };
}
