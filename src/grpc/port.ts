/** The gRPC port: which upstream a call goes to, and whether it passes or is translated. */
import type { ConnectionRenewal } from "../config/certificate-renewal.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import type { Admit } from "../edge/admission.ts";
import type { ProcessorShare } from "../edge/processor-share.ts";
import { recordCredential } from "../edge/record.ts";
import { later } from "../model/clock.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderList, OurHeader } from "../model/http.ts";
import type { MemoryBudget } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { Decide } from "../model/request.ts";
import type { NativeDomain, Resource } from "../model/resource.ts";
import type { Router } from "../router/router.ts";
import { MOST_VALUES } from "../translate/body.ts";
import { MOST_NAMES } from "../translate/operation.ts";
import { createBreaker } from "../upstream/breaker.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import { createPageTurns } from "../upstream/list-queue.ts";
import type { GrpcCall } from "./call.ts";
import { type DescriptorParts, type Descriptors, type Rpc, readDescriptors } from "./descriptors.ts";
import { createEnumNumbers } from "./enums.ts";
import { type DescriptorGaps, gapsOf } from "./gaps.ts";
import { awaitHeads, type RelayTarget, relayCall } from "./relay.ts";
import { versionOfService } from "./rpcs.ts";
import { createGrpcServer, type GrpcServer, type SessionTimeouts } from "./server.ts";
import { createGrpcSessions, type GrpcSessions } from "./sessions.ts";
import { createStatusCodec } from "./status.ts";
import { contextOf, serveUnary } from "./unary.ts";
import { createWireCounter } from "./wire.ts";

/** Messages inside of each other, as values of JSON over HTTP. */
const MOST_DEPTH = 100;

/** What the catalogue knows of the API. */
export interface ApiNames {
  readonly resources: readonly Resource[];
  readonly natives: readonly Pick<NativeDomain, "domain">[];
}

/** The API's domains, as packages name them. */
export function domainsOf({ resources, natives }: ApiNames): ReadonlySet<string> {
  return new Set([...resources, ...natives].map(({ domain }) => domain));
}

export interface GrpcPortParts {
  readonly catalogue: ApiNames;
  readonly renewal: Pick<ConnectionRenewal, "attach">;
  readonly queues: ReadonlyMap<string, CallQueue>;
  readonly callers: CredentialShares;
  readonly admit: Admit;
  readonly credentialOf: (authorization: string) => string;
  /** Which operation an HTTP target asks for. */
  readonly route: Router;
  /** The proxy: decides on a v1 request as if it had come over HTTP. */
  readonly decide: Decide;
  /** Only says what serves a request: compares nothing, shares nothing. */
  readonly preview: Decide;
  readonly memory: MemoryBudget;
  /** The turns of callers that the platform has not accepted, those over HTTP included. */
  readonly processorShare: ProcessorShare;
  /** Who calls, as the ledger names it. */
  readonly nameOf: (headers: HeaderList) => string;
  readonly observe: (exchange: Exchange) => void;
  readonly newRequestId: () => string;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: GrpcLog;
  readonly timeouts?: Partial<SessionTimeouts> | undefined;
}

interface GrpcLog {
  warn(message: string, cause?: unknown, facts?: Readonly<Record<string, string | number>>): void;
  info(message: string, facts?: Readonly<Record<string, string | number>>): void;
  error(message: string, cause?: unknown, facts?: Readonly<Record<string, string | number>>): void;
}

export interface GrpcPort extends GrpcServer {
  /** Of each upstream: whether calls to it fail at once at present. */
  breakers(): Iterable<readonly ["v1" | "v2", boolean]>;
}

/** Nothing listens yet. `port`: `listen.grpc.port`. */
export function createGrpcPort(config: Config, port: number, parts: GrpcPortParts): GrpcPort {
  const { v1, v2 } = config.upstream;
  const domains = domainsOf(parts.catalogue);
  const descriptors = descriptorsOf(config, { domains, route: parts.route });
  if (descriptors !== undefined) logGaps(gapsOf(descriptors, parts.catalogue.resources), parts.log);
  const codec = createStatusCodec(descriptors?.registry);
  const upstreams = {
    v2: targetOf("v2", v2, config, parts),
    v1: v1 === undefined ? undefined : targetOf("v1", v1, config, parts),
  };
  const pass = (call: GrpcCall, target: RelayTarget, headers: HeaderList): void => {
    relayCall(call, target, { headers, answered: () => recordCredential(call, parts.callers) });
  };
  const native = (call: GrpcCall, headers: HeaderList): void => {
    if (upstreams.v1 === undefined) throw untranslated(call, descriptors === undefined);
    call.exchange.mode = "native";
    pass(call, upstreams.v1, headers);
  };
  const unary = descriptors && {
    ...parts,
    descriptors,
    limits: {
      maxBytes: config.grpc.maxMessageBytes,
      bodyBytes: config.limits.bodyBytes,
      headerBytes: config.limits.headerBytes,
      memory: parts.memory,
      processorShare: parts.processorShare,
      shareOf: parts.callers.shareOf,
    },
    count: createWireCounter({ values: MOST_VALUES, depth: MOST_DEPTH, unknown: MOST_NAMES }),
    numberEnums: createEnumNumbers(descriptors.registry),
    turn: createPageTurns(parts.now, parts.queues.get("v2")?.shortAt),
    unknownRequest: config.unknownFields.request,
    native: upstreams.v1,
    log: parts.log.error,
  };
  const serveV1 = (call: GrpcCall, rpc: Rpc | undefined): void => {
    if (unary === undefined || rpc?.route === undefined || rpc.method.methodKind !== "unary") {
      if (config.fallback !== "native") throw untranslated(call, descriptors === undefined);
      native(call, [[OurHeader.MODE, "native"]]);
      return;
    }
    const plan = parts.preview(contextOf(call, rpc.bindings[0]?.method ?? "", rpc.example));
    if (call.exchange.mode === "native") native(call, withoutSuccessor(plan.headers ?? []));
    else void serveUnary(call, rpc, unary, plan.kind === "pass" ? plan : undefined);
  };
  const serve = (call: GrpcCall): void => {
    const { exchange } = call;
    const rpc = descriptors?.rpcs.get(call.target);
    const version = rpc?.version ?? versionOfService(exchange.rpc?.service ?? "", domains);
    if (version === undefined) throw new Problem("METHOD_NOT_ALLOWED", "unknown service");
    // Health checks and reflection are no use of the API: who makes them is nobody to migrate.
    if (version !== "platform") {
      exchange.apiVersion = version;
      exchange.client = parts.nameOf(call.headers);
    }
    if (version === "v1") serveV1(call, rpc);
    else {
      if (rpc?.route?.kind === "v2") exchange.resource = rpc.route.resource;
      exchange.mode = "pass";
      pass(call, upstreams.v2, []);
    }
  };
  const server = createGrpcServer({
    ...parts,
    host: config.listen.host,
    port,
    limits: config.limits,
    trustedProxies: config.listen.trustedProxies,
    codec,
    timeouts: { idleMs: config.listen.grpc.keepAliveSeconds * 1_000, ...parts.timeouts },
    serve,
    log: parts.log.error,
  });
  const targets = [upstreams.v1, upstreams.v2].filter((target) => target !== undefined);
  return {
    ...server,
    close: async (graceMs) => {
      const cut = await server.close(graceMs);
      for (const { sessions } of targets) sessions.close();
      return cut;
    },
    breakers: function* () {
      for (const { name, sessions } of targets) yield [name, sessions.breaker.isOpen()];
    },
  };
}

/** Throws ConfigError for a file that holds none of the API. */
export function descriptorsOf({ grpc }: Pick<Config, "grpc">, parts: DescriptorParts): Descriptors | undefined {
  if (grpc.descriptors === undefined) return undefined;
  try {
    return readDescriptors(grpc.descriptors, parts);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where: "grpc.descriptors", what, remedy: "name a FileDescriptorSet of the API" }]);
  }
}

/** At most so many names in a line. */
const NAMES = 60;

function logGaps({ translated, operations, fields }: DescriptorGaps, log: GrpcLog): void {
  log.info("unary v1 calls over gRPC are translated", { rpcs: translated });
  const listed = (names: readonly string[]): string => names.slice(0, NAMES).join(", ");
  if (operations.length > 0) {
    log.warn("grpc.descriptors lacks operations: over gRPC they are not translated", undefined, {
      operations: listed(operations),
    });
  }
  if (fields.length > 0) {
    log.info("grpc.descriptors lacks fields of v1 records: over gRPC responses do not show them", {
      fields: listed(fields),
    });
  }
}

/** Why a v1 call can be neither translated nor passed to native v1. */
function untranslated({ exchange }: GrpcCall, isUndescribed: boolean): Problem {
  const { service, method } = exchange.rpc ?? {};
  const why = isUndescribed ? "grpc.descriptors is not set" : "no operation of v2 stands for it";
  return new Problem(
    "NOT_TRANSLATABLE",
    `${service}/${method} is not translated (${why}), and native v1 is not served here`,
    {
      options: ["upstream.v1.url", "fallback"],
    },
  );
}

/** What replaces a request in v2 is named by an HTTP path, which is not known before its message is read. */
function withoutSuccessor(headers: HeaderList): HeaderList {
  return headers.filter(([name, value]) => name !== "link" || !value.includes("successor-version"));
}

type GrpcTarget = RelayTarget & { readonly name: "v1" | "v2"; readonly sessions: GrpcSessions };

function targetOf(
  name: "v1" | "v2",
  { url, grpcUrl, tls, timeouts, breaker }: NonNullable<Config["upstream"]["v1"]>,
  { limits }: Config,
  { now, random, log, renewal, queues }: GrpcPortParts,
): GrpcTarget {
  const turned = (open: boolean, { failures, ms }: { readonly failures: number; readonly ms: number }): void => {
    const facts = { upstream: name, failures, seconds: Math.round(ms / 1_000) };
    if (open) log.error("circuit breaker open: an upstream does not respond over gRPC", undefined, facts);
    else log.info("circuit breaker closed: the upstream responds over gRPC again", facts);
  };
  const sessions = createGrpcSessions({
    url: grpcUrl ?? url,
    tls,
    connectMs: timeouts.connectSeconds * 1_000,
    headerBytes: limits.responseHeaderBytes,
    ...(breaker ? { breaker: (probe) => createBreaker({ now, random, later, probe, turned }) } : {}),
  });
  renewal.attach(name, sessions);
  return { name, sessions, queue: queues.get(name), heads: awaitHeads(timeouts.headersSeconds * 1_000, now), now };
}
