/** Who calls, by which rules, and what is known of all that so far? (Everything of the migration that outlives one request.) */
import { randomBytes, randomUUID } from "node:crypto";
import type { Catalogue } from "./catalogue.ts";
import { ConfigError, textOf } from "./config/fault.ts";
import { readRules } from "./config/rules.ts";
import type { Config } from "./config.ts";
import { createBucket } from "./control/bucket.ts";
import { type Control, createControl } from "./control/control.ts";
import { readBounded } from "./control/read-bounded.ts";
import type { ControlEvent } from "./control/record.ts";
import { createRulesFile, type RulesFile } from "./control/rules-file.ts";
import { faultsOf } from "./control/watched-file.ts";
import type { Decisions } from "./decide.ts";
import type { ExplainCutover } from "./explain/rule.ts";
import { disk } from "./ledger/disk.ts";
import { createLedgerFile, type LedgerFile } from "./ledger/file.ts";
import { createIdentity, type Identity } from "./ledger/identity.ts";
import { createLedger, type Ledger } from "./ledger/ledger.ts";
import { createQuestions } from "./ledger/questions.ts";
import { createComparing } from "./migration/comparing.ts";
import { createCredentials } from "./migration/credentials.ts";
import { type ProgressSources, progressOf } from "./migration/progress.ts";
import { rulesContext } from "./migration/rules-context.ts";
import type { Comparison } from "./model/comparison.ts";
import type { Exchange } from "./model/exchange.ts";
import { forgetMatched } from "./model/remains.ts";
import type { CutoverSources } from "./observe/cutover-metrics.ts";
import type { Log } from "./observe/log.ts";
import { createTotals } from "./observe/totals.ts";
import type { Cutover } from "./proxy.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { PAGE_SIZE } from "./tools.ts";
import type { Later } from "./upstream/later.ts";
import type { UpstreamParts, Upstreams } from "./upstreams.ts";

/** Who else hears of it. */
export interface MigrationHooks {
  readonly log: Log;
  readonly renewal: UpstreamParts["renewal"];
  /** Where calls to the upstreams wait. */
  readonly queues: Upstreams["queues"];
  /** Milliseconds since 1970, by which rules begin, step back and expire. */
  readonly wall: () => number;
  /** When files are looked at and saved. */
  readonly later: Later;
  compared(comparison: Comparison): void;
  /** `at`: milliseconds since 1970. */
  reloaded(successful: boolean, at: number): void;
}

export interface Migration {
  readonly cutover: Cutover;
  readonly sources: CutoverSources;
  readonly explain: ExplainCutover;
  readonly control: Control;
  readonly ledger: Ledger;
  readonly identity: Identity;
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

const LEDGER_SAVE_MS = 30_000;

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
    ...createQuestions(catalogue.resources),
    max: config.clients.max,
    wall,
    instance,
    pageSize: PAGE_SIZE,
    labelOf: identity.labelOf,
    isExcluded: identity.isExcluded,
    nameNow: identity.nameNow,
  });
  const totals = createTotals(wall);
  const bucketOf = createBucket(salt);
  const control = createControl({ rules: undefined, mode, bucketOf, wall, told: (event) => logEvent(log, event) });
  const credentialOf = createCredentials(config.clients.identify, randomBytes(32));
  const shadow = createComparing(config, decisions, {
    credentialOf,
    report: (comparison, { headers }) => {
      control.compared(comparison, credentialOf(headers));
      hooks.compared(comparison);
      // A comparison ends behind its request.
      forgetMatched();
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
function logEvent(log: Log, { kind, rule, from, to, reason }: ControlEvent): void {
  const facts = { ...(rule === undefined ? {} : { rule }), from, to, reason };
  if (kind === "stepped-back" || kind === "forced" || kind === "expired")
    log.warn(`cutover: ${kind}`, undefined, facts);
  else log.info(`cutover: ${kind}`, facts);
}

function rulesFileOf(
  config: Config,
  catalogue: Catalogue,
  control: Control,
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
      const what = faults.length > 0 ? faults.map(textOf).join(" | ") : error.message;
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
  return createLedgerFile({ path: file, disk, everyMs: LEDGER_SAVE_MS, later, ledger, warn });
}

interface Known {
  readonly config: Config;
  readonly identity: Identity;
  readonly ledger: Ledger;
  readonly ledgerFile: LedgerFile | undefined;
  readonly control: Control;
  readonly shadow: Shadow | undefined;
  readonly wall: () => number;
}

/** What metrics read. */
function sourcesOf({ config, identity, ledger, ledgerFile, control, shadow, wall }: Known): CutoverSources {
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
