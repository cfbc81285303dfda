/** The composition root: every part of a running carryover is built once, here. */
import { randomBytes, randomUUID } from "node:crypto";
import { lookup } from "node:dns";
import { setTimeout } from "node:timers/promises";
import { createChangeToken } from "../admin/change-token.ts";
import { type AdminServer, createAdminServer } from "../admin/server.ts";
import { createAdminToken } from "../admin/token.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { type ConfigSource, createConfigWatch } from "../config/reloaded-config.ts";
import { readBounded } from "../config/watched-file.ts";
import { createAdmission } from "../edge/admission.ts";
import { requireReusePort } from "../edge/client-port.ts";
import { createCrowd } from "../edge/crowd.ts";
import type { EdgeOptions } from "../edge/edge.ts";
import { createProcessorShare } from "../edge/processor-share.ts";
import type { GrpcServer } from "../grpc/server.ts";
import { createEventHistory } from "../history/events.ts";
import type { AskedTimes } from "../history/requests.ts";
import { TIME, type Time } from "../model/clock.ts";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import { createMemoryBudget } from "../model/memory-budget.ts";
import { clearLastMatch } from "../model/text.ts";
import type { MadeUpPast } from "../page/data.ts";
import { createRecorder, NOTHING_RECORDED, type Recorder } from "../recording/recorder.ts";
import { createDeprecationNotice } from "../rollout/deprecation.ts";
import { createHttpServer, type HttpServer } from "../server/server.ts";
import type { SharedStore } from "../state/shared/protocol.ts";
import type { MetricsRegistry } from "../telemetry/foreign-registry.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import type { Progress } from "../telemetry/progress.ts";
import { createUnknownFields } from "../telemetry/unknown-fields.ts";
import type { Translate } from "../translate/translations.ts";
import { createConnectionRenewal } from "../upstream/certificate-renewal.ts";
import { createAcceptedCallers, createDigest } from "../upstream/credentials.ts";
import { createResponseMemory } from "../upstream/response-memory.ts";
import { VERSION } from "../version.ts";
import { createToolbox } from "./calls.ts";
import { createGrpcListener, type GrpcTimeouts } from "./grpc-listener.ts";
import { createMigration, type InstanceStanding, type Migration } from "./migration.ts";
import { createPage } from "./page.ts";
import { createDecisions } from "./proxy.ts";
import { createUpstreams } from "./upstreams.ts";
import { createViews } from "./views.ts";

export interface App {
  /**
   * Reads the rules, then opens all ports. Rejects when one cannot be opened, and with ConfigError for rules that are wrong;
   * then none is open.
   */
  listen(): Promise<Addresses>;
  /** Looks at the rules file, the configuration file and the certificates now; resolves when what they hold is in force, or refused. */
  reload(): Promise<void>;
  /** What `GET /progress` of the admin port shows. */
  status(): Progress;
  /** Loses no log line, and does not wait: for the last moment of a process that has no time to close. */
  settle(): void;
  /**
   * Is unready and serves on for `listen.shutdownDelaySeconds`, each answer the last of its connection; then takes no more, finishes what
   * is in flight, closes everything. At most `graceMs` in all: what is not done by then is cut off. Gives how many requests that
   * were. By default no request is cut off that keeps to its own time.
   */
  close(graceMs?: number): Promise<number>;
  /** Ends a `listen` that waits for `state.dir`: it rejects. */
  endWait(): void;
  /** Logs an uncaught error. */
  failed(error: unknown): void;
  /** What `close` takes by default, milliseconds. */
  readonly graceMs: number;
}

export interface Addresses {
  /** Without `listen.port`, `unix:` and the path of the socket. */
  readonly url: string;
  /** Undefined without `admin.port`. */
  readonly adminUrl: string | undefined;
  /** Undefined without `listen.grpc.port`. */
  readonly grpcUrl: string | undefined;
}

/** What is not configuration: where the log goes, and who else wants to see each request. */
export interface AppOptions {
  readonly log?: Log;
  /** Called once per request when it is over (the tour shows v2 calls with it). */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Called once per comparison when it is over. */
  readonly onComparison?: (comparison: Comparison) => void;
  /** The clock of rules and files; default: the machine's. Tests hand in their own. */
  readonly clock?: Pick<Time, "wall" | "later">;
  /** The configuration file, to be watched. */
  readonly configSource?: ConfigSource | undefined;
  /** Milliseconds between two looks at the rules file; default: 2,000. Tests hand in their own. */
  readonly reloadMs?: number;
  /** Shows the metrics as well. */
  readonly registry?: MetricsRegistry | undefined;
  /** How long clients of the gRPC port may take. Tests hand in shorter times. */
  readonly grpcTimeouts?: GrpcTimeouts;
  /** The store of `state.url`. Tests hand in their own. */
  readonly store?: SharedStore;
  /** A past for the page of the demo; it is shown there, and counted nowhere. */
  readonly past?: MadeUpPast;
  /** Makes the translations. Tests share those of one catalogue. */
  readonly translate?: Translate;
}

const LOG_FLUSH_MS = 1_000;
/** A change takes two equal reads, so about twice this. */
const RELOAD_MS = 2_000;
/** For the last bytes of a request that came at the end of the drain and took all its time. */
const SPARE_SECONDS = 5;

/**
 * Builds everything; nothing listens yet. Throws for a catalogue that contradicts itself, an invalid address, a registry that has
 * carryover's metrics, and a Node that lacks what an option needs.
 */
export function createApp(config: Config, catalogue: Catalogue, options: AppOptions = {}): App {
  if (config.listen.reusePort) requireReusePort(process.versions.node);
  const log = options.log ?? createLog({ level: config.log.level });
  const { wall, later } = options.clock ?? TIME;
  const instance = randomUUID();
  const history = createEventHistory({ wall, process: instance.slice(0, 8) });
  const { record } = history;
  const files = { read: readBounded, later, wall, log, record };
  const renewal = createConnectionRenewal(config.upstream, { ...files, lookup });
  const adminToken = createAdminToken(config.admin, files);
  const { now } = TIME;
  const logError = (message: string, cause: unknown): void => log.error(message, cause);
  const memory = createMemoryBudget(config.limits.memoryBytes);
  const callers = createAcceptedCallers();
  const upstreams = createUpstreams(config, {
    headerBytes: config.limits.responseHeaderBytes,
    now,
    random: Math.random,
    renewal,
    log,
    record,
    accepted: callers.accepted,
  });
  const toolbox = createToolbox(config, { ...upstreams.v2, room: createResponseMemory(memory, callers.shareOf) });
  const state = { ready: false };
  const crowd = createCrowd();
  const standing = (): InstanceStanding => ({
    ready: state.ready,
    native: upstreams.streams.has("v1"),
    catalogue: { version: catalogue.version, recordTimes: config.v1.recordTimes },
    changeable: changeToken?.isWritten(),
    openBreakers: [...upstreams.breakers()].flatMap(([name, open]) => (open ? [name] : [])),
    refusedCertificates: [...renewal.certificates()].flatMap(([name, isInForce]) => (isInForce ? [] : [name])),
  });
  const decisions = createDecisions(config, catalogue, options.translate);
  const migration = createMigration(config, catalogue, decisions, {
    log,
    history,
    instance,
    renewal,
    queues: upstreams.queues,
    native: upstreams.streams.get("v1"),
    wall,
    // A clock of a test says both.
    now: options.clock === undefined ? now : wall,
    later,
    reloadMs: options.reloadMs ?? RELOAD_MS,
    standing,
    store: options.store,
  });
  const changeToken = createChangeToken(
    { tokenFile: config.admin.tokenFile, dir: config.state.dir },
    { isHeld: migration.holdsState, later, failed: logError },
  );
  const { configSource } = options;
  const configWatch = configSource && createConfigWatch(config, configSource, { ...files, rename: migration.rename });
  const watches: readonly FileWatch[] = [renewal, adminToken, changeToken, configWatch].filter(
    (watch) => watch !== undefined,
  );
  const recorder = createRecorder(config, { resources: catalogue.resources, log, wall, later });
  const metrics = createMetrics({
    version: VERSION,
    resources: knownLabels(catalogue),
    inFlight: () => crowd.here,
    inFlightLimit: config.limits.inFlight,
    heldBytes: memory.held,
    ready: () => state.ready,
    droppedLogLines: () => log.dropped(),
    recording: () => recorder?.counts() ?? NOTHING_RECORDED,
    queues: upstreams.queues,
    lists: toolbox.lists.state,
    upstreams: { breakers: upstreams.breakers, certificates: renewal.certificates },
    cutover: migration.sources,
    events: history.counts,
    registry: options.registry,
  });
  migration.subscribe({
    compared: options.onComparison ?? (() => {}),
    reloaded: metrics.reloaded,
    forgotten: metrics.forget,
  });
  const unknownFields = createUnknownFields();
  const observe = (exchange: Exchange): void => {
    metrics.observe(exchange);
    migration.observe(exchange);
    unknownFields.observe(exchange);
    log.request(exchange);
    recorder?.observe(exchange);
    options.onExchange?.(exchange);
    clearLastMatch();
  };
  const notice = createDeprecationNotice({
    ...config.listen,
    version: catalogue.version,
    rule: migration.rollout.rule,
  });
  const calls = [upstreams.queues.get("v1"), upstreams.queues.get("v2")].filter((queue) => queue !== undefined);
  const edge: Omit<EdgeOptions, "limits"> = {
    trustedProxies: config.listen.trustedProxies,
    crowd,
    admit: createAdmission({
      ...config.limits,
      calls,
      lists: toolbox.lists,
      crowd,
      streamsOf: upstreams.streamsOf,
      accepted: callers.accepted,
      now,
    }),
    credentialOf: createDigest(randomBytes(32).toString("hex")),
    observe,
    newRequestId: () => randomUUID(),
    now,
    log: logError,
  };
  const proxy = decisions.proxy(toolbox.tools, { cutover: migration.cutover, notice });
  const processorShare = createProcessorShare(now);
  const grpc = createGrpcListener(config, {
    catalogue,
    renewal,
    queues: upstreams.queues,
    callers,
    edge,
    nameOf: migration.cutover.nameOf,
    join: upstreams.join,
    route: decisions.route,
    proxy,
    memory,
    processorShare,
    now,
    random: Math.random,
    log,
    record,
    timeouts: options.grpcTimeouts,
  });
  const listener = createHttpServer({
    ...config.listen,
    ...edge,
    limits: config.limits,
    timeouts: { keepAliveMs: config.listen.keepAliveSeconds * 1_000 },
    decide: recorder?.keepBodies(proxy.decide) ?? proxy.decide,
    upstreams: Object.fromEntries(upstreams.streams),
    connections: upstreams.connections,
    memory,
    callers,
    processorShare,
  });
  const status = (times?: AskedTimes): Progress => ({ ...migration.progress(times), ...standing() });
  const { host, port } = config.admin;
  const adminOptions = {
    host,
    token: adminToken?.now,
    changeToken: changeToken?.now,
    metrics,
    ready: () => state.ready,
    ...createViews(config, catalogue, {
      migration,
      history: { select: history.select, since: history.since, instance, wall },
      unknownFields,
      status,
    }),
    force: migration.force,
    confirm: migration.confirm,
    forget: migration.forget,
    page: createPage({
      ...{ config, catalogue, migration, instance, wall, now, later, metrics },
      past: options.past,
      load: () => ({
        inFlight: crowd.here,
        inFlightLimit: config.limits.inFlight,
        heldBytes: memory.held(),
        heldLimit: config.limits.memoryBytes,
        lists: toolbox.lists.state(),
        upstreams: [...upstreams.queues].map(([name, queue]) => {
          const { waiting, reading, limit, longestMs } = queue.state();
          const all = Object.values(waiting).reduce((sum, one) => sum + one, 0);
          return {
            name,
            isOpen: upstreams.breakers().get(name) === true,
            reading,
            limit,
            waiting: all,
            longestMs,
          };
        }),
      }),
    }),
    log: logError,
  };
  const admin = port === undefined ? undefined : createAdminServer({ ...adminOptions, port });
  return lifeOf({ listener, grpc, admin, migration, watches, recorder, log, config, status }, state, async () => {
    metrics.close();
    await recorder?.close();
    await upstreams.close();
    await log.flush(LOG_FLUSH_MS);
  });
}

/** What looks at files while carryover runs. */
interface FileWatch {
  start(): void | Promise<void>;
  check(): Promise<void>;
  close(): void;
}

/** What opens and closes together. */
interface AppParts {
  readonly listener: HttpServer;
  readonly grpc: GrpcServer | undefined;
  readonly admin: AdminServer | undefined;
  readonly migration: Migration;
  readonly watches: readonly FileWatch[];
  readonly recorder: Recorder | undefined;
  readonly log: Log;
  readonly config: Config;
  readonly status: () => Progress;
}

function lifeOf(
  { listener, grpc, admin, migration, watches, recorder, log, config, status }: AppParts,
  state: { ready: boolean },
  closeRest: () => Promise<void>,
): App {
  const { shutdownDelaySeconds } = config.listen;
  const usualMs = (shutdownDelaySeconds + config.limits.requestSeconds + SPARE_SECONDS) * 1_000;
  const close = async (graceMs: number): Promise<number> => {
    const drainMs = state.ready ? Math.min(shutdownDelaySeconds * 1_000, graceMs) : 0;
    state.ready = false;
    listener.beginShutdown();
    grpc?.beginShutdown();
    if (drainMs > 0) await setTimeout(drainMs);
    const cuts = await Promise.all([listener.close(graceMs - drainMs), grpc?.close(graceMs - drainMs) ?? 0]);
    const cut = cuts[0] + cuts[1];
    migration.life.stopped(cut);
    for (const watch of watches) watch.close();
    await migration.close();
    await admin?.close();
    await closeRest();
    return cut;
  };
  return {
    async listen() {
      try {
        await migration.start();
        for (const watch of watches) await watch.start();
        await recorder?.start();
        const adminUrl = (await admin?.listen())?.url;
        const grpcUrl = (await grpc?.listen())?.url;
        const { url } = await listener.listen();
        state.ready = true;
        migration.life.started();
        return { url, adminUrl, grpcUrl };
      } catch (error) {
        // With only one port open, the process would stay alive without serving anyone.
        await close(0);
        throw error;
      }
    },
    reload: async () => {
      await Promise.all([migration.reload(), ...watches.map((watch) => watch.check())]);
    },
    status,
    settle: log.settle,
    endWait: migration.endWait,
    close: (graceMs = usualMs) => close(graceMs),
    failed: (error) => {
      log.error("uncaught error: carryover stops", error);
      migration.life.failed();
    },
    graceMs: usualMs,
  };
}

function knownLabels(catalogue: Catalogue): { resource: string; operations: string[] }[] {
  const own = catalogue.resources.map(({ name, operations }) => ({
    resource: name,
    operations: operations.map((operation) => operation.name),
  }));
  const others = catalogue.natives.flatMap(({ operations }) =>
    operations.map(({ resource, name }) => ({ resource, operations: [name] })),
  );
  return [...own, ...others];
}
