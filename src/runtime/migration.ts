/** Everything about the migration that outlives one request: rules and their evidence, the ledger, comparisons, progress. */
import { type Catalogue, untranslatedOf } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { requestedOperations } from "../config/rules.ts";
import { PAGE_SIZE } from "../drain/limits.ts";
import type { EventHistory } from "../history/events.ts";
import { type AskedTimes, createRequestHistory } from "../history/requests.ts";
import type { ClientsRollout } from "../ledger/clients-view.ts";
import { DAY_MS } from "../ledger/days.ts";
import type { ForgottenClient } from "../ledger/forgotten.ts";
import { type ClientIdentity, createIdentity } from "../ledger/identity.ts";
import { createLedger, createOperationTraits, type Ledger } from "../ledger/ledger.ts";
import { createRetention } from "../ledger/retention.ts";
import { type MissedName, missedNames } from "../ledger/rule-names.ts";
import { TIME, type Timer } from "../model/clock.ts";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import type { StreamSend } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { clearLastMatch } from "../model/text.ts";
import { createBucket } from "../rollout/callers.ts";
import { createRollout, type Rollout } from "../rollout/rollout.ts";
import type { RolloutEvent } from "../rollout/rule-state.ts";
import { createLastRules, type RulesFile, resourceNames } from "../rollout/rules-file.ts";
import type { ConfirmedRule, ForceCommand, ForceNote, ForceState } from "../rules/status.ts";
import type { Shadow } from "../shadow/shadow.ts";
import type { SharedStore } from "../state/shared/protocol.ts";
import type { Log } from "../telemetry/log.ts";
import type { Progress } from "../telemetry/progress.ts";
import type { RolloutMetricSources } from "../telemetry/rollout-metrics.ts";
import { createBackgroundShadow } from "./background-shadow.ts";
import type { RowSources } from "./document-rows.ts";
import { createLifeEvents, logRolloutEvent } from "./events.ts";
import { createExams } from "./exams.ts";
import type { ExplainCutover } from "./explain/rule.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { createForgetting } from "./forgetting.ts";
import { createKnownContributors } from "./known-contributors.ts";
import { createNativeReads } from "./native-reads.ts";
import { basisOf, createCredentialDigests, createSavedState } from "./persistence.ts";
import { comparisonsOf, headOf, progressOf, rulesOf } from "./progress.ts";
import type { Cutover, Decisions } from "./proxy.ts";
import { askedRule } from "./rule-clients.ts";
import { createSharedState, type SharedState } from "./shared-state.ts";
import type { UpstreamParts, Upstreams } from "./upstreams.ts";
import { asConfigError, rulesFaultOf, warnOfLostNames, warnOfMissedNames, watchedRulesFile } from "./watched-rules.ts";

/** Milliseconds between two looks at brownouts, besides those of requests. */
const BROWNOUTS_MS = 1_000;

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
  /** What others are told of this process besides the migration. */
  readonly standing: () => InstanceStanding;
  /** Default: the store that the configuration names. */
  readonly store?: SharedStore | undefined;
}

export type InstanceStanding = Pick<
  Progress,
  "ready" | "native" | "catalogue" | "changeable" | "openBreakers" | "refusedCertificates"
>;

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
  /** By name of a rule: what the guards of several replicas see together, where there is trouble. */
  readonly guardsTogether: SharedState["guards"];
  readonly ledger: Ledger;
  readonly identity: ClientIdentity;
  readonly shadow: Shadow | undefined;
  readonly rulesFile: RulesFile | undefined;
  /** All that share the store. */
  readonly fleet: Fleet;
  /** What the document of this process is made of. */
  readonly rows: RowSources;
  /** Undefined without state.url. */
  readonly shared: () => Progress["shared"];
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
    traits: createOperationTraits(catalogue.resources, untranslatedOf(catalogue)),
  });
  const requests = createRequestHistory(wall);
  const operations = requestedOperations(resourceNames(catalogue.resources), config.upstream.v1 !== undefined);
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
    isShared: config.state.url !== undefined,
    guardSeconds: (rule, seconds) => sharedState.guardSeconds(rule, seconds),
    isStoreUp: () => sharedState.isUp(),
    spared: (client) => exams.failed(client),
  });
  const exams = createExams({
    ledger,
    comparisons: () => shadow?.tally.rows() ?? [],
    rollout,
    readPeers: () => fleet.readPeers(),
    isUntranslated: untranslatedOf(catalogue),
    wall,
    now: hooks.now,
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
    if (!successful) return;
    warnOfMissedNames(missed(), log);
    exams.announce(rollout.rules(), log);
  });
  const missed = (): readonly MissedName[] =>
    missedNames(
      rollout.rules()?.rules ?? [],
      identity,
      Array.from(ledger.seen(), ({ name }) => name),
    );
  const after = config.clients.forgetAfter * DAY_MS;
  const retention = createRetention({ after, wall, now: hooks.now });
  const known = createKnownContributors(wall);
  const savedParts = {
    ...{ rollout, ledger, shadow, identity, digests, requests, history, lastRules, retention, instance },
    known: config.state.url === undefined && hooks.store === undefined ? undefined : known,
  };
  const saved = createSavedState(config, savedParts, hooks);
  const sharedParts = {
    rollout,
    basis: basisOf(config),
    record: history.record,
    log,
    instance,
    secret: digests.key(),
    wall,
    now: hooks.now,
    later: hooks.later,
    store: hooks.store,
  };
  const sharedState = createSharedState(config.state, sharedParts);
  const since = wall();
  const told = {
    instance,
    contributor: () => fleet.contributor(),
    since,
    wall,
    mode,
    rollout,
    shadow,
    rulesFault: () => rulesFaultOf(rulesFile),
    lost: known.lost,
    saved: () => !saved.failing(),
    countsLostAt: saved.countsLostAt,
    comparedSince: saved.comparedSince,
    events: history,
  };
  const rows: RowSources = {
    ...{ ledger, requests, wall },
    events: history,
    head: () => ({ ...headOf(told), ...hooks.standing() }),
    rules: () => rulesOf(told),
    bounds: () => comparisonsOf(told),
    samples: () => shadow?.samples(new URLSearchParams()),
    mostClients: config.clients.max,
  };
  const fleet = createFleet({
    ...rows,
    ...{ instance, bucketOf, known },
    shared: sharedState,
    saved: () => ({
      basis: sharedParts.basis,
      lostAt: saved.countsLostAt(),
      names: identity.meanings(),
      overdue: retention.memory(),
    }),
    now: hooks.now,
    later: hooks.later,
    holdsState: saved.isHeld,
    ownerOf: identity.ownerOf,
    snapshot: ledger.snapshot,
  });
  const forgetting = createForgetting({
    ledger,
    shadow,
    retention,
    later: hooks.later,
    log,
    save: saved.saveCounts,
    forgotten: (client) => {
      fleet.forgotten(client);
      for (const listener of listeners) listener.forgotten(identity.labelOf(client));
    },
  });
  changed.push((event) => {
    const id = history.record(event);
    saved.afterSaving(() => logRolloutEvent(log, event, id));
  }, sharedState.changed);
  let endWatch = (): void => {};
  const watchBrownouts = (): void => {
    rollout.lookAtBrownouts();
    void exams.follow();
    endWatch = hooks.later(BROWNOUTS_MS, watchBrownouts);
  };
  return {
    cutover: { nameOf: identity.nameOf, credentialOf, rollout, shadow, native: nativeReads(hooks) },
    sources: {
      clientLabel: (name) => (identity.isExcluded(name) ? undefined : identity.labelOf(name)),
      clientNames: identity.names,
      metricSeries: config.clients.metricSeries,
      clients: ledger.callers,
      rules: rollout.ownStates,
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
    guardsTogether: sharedState.guards,
    ledger,
    identity,
    shadow,
    rulesFile,
    fleet,
    rows,
    shared: sharedState.progress,
    life: createLifeEvents({ history, log, rollout, mode, before: saved.before }),
    progress: (times) =>
      progressOf({
        ...told,
        shared: sharedState.progress,
        totals: requests.snapshot,
        window: () => times && requests.window(times),
        ledger: ledger.snapshot,
        bucketOf,
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
    forget: async (client) => ({
      ...(await forgetting.forget(client)),
      instance,
      ...(await fleet.holdersOf(client)),
    }),
    missedNames: missed,
    clientsRollout: (query) => {
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
      await saved.start(fleet.open);
      forgetting.start();
      await rulesFile?.start().catch(asConfigError);
      await sharedState.start();
      await fleet.start();
      watchBrownouts();
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
      endWatch();
      forgetting.close();
      rulesFile?.close();
      await shadow?.close();
      fleet.close();
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
