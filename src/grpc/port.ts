/** The gRPC port: which upstream a call goes to, and whether it passes or is translated. */

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import { type BodyLimitOptions, type BodyLimits, createBodyLimits } from "../edge/body-limits.ts";
import type { EdgeOptions } from "../edge/edge.ts";
import type { ProcessorShare } from "../edge/processor-share.ts";
import { recordCredential } from "../edge/record.ts";
import { later } from "../model/clock.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import { withoutSuccessor } from "../model/deprecation.ts";
import type { RecordEvent } from "../model/event.ts";
import type { Upstream } from "../model/exchange.ts";
import { type HeaderList, OurHeader } from "../model/http.ts";
import type { MemoryBudget } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { RequestProxy } from "../model/request.ts";
import type { NativeDomain, Resource } from "../model/resource.ts";
import { createSignalController } from "../model/signal.ts";
import type { Router } from "../router/router.ts";
import { type Audience, isSameAudience } from "../router/token-exchange.ts";
import { MOST_VALUES } from "../translate/body.ts";
import { MOST_NAMES } from "../translate/operation.ts";
import { breakerEvent, createBreaker, type UpstreamSessions } from "../upstream/breaker.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import type { ConnectionRenewal } from "../upstream/certificate-renewal.ts";
import { createPageTurns } from "../upstream/list-queue.ts";
import { failCall, type GrpcCall } from "./call.ts";
import {
  type DescriptorGaps,
  type DescriptorParts,
  type Descriptors,
  gapsOf,
  type Rpc,
  readDescriptors,
} from "./descriptors.ts";
import { createEnumNumbers } from "./enums.ts";
import { type MessageLimits, readMessage, withPrefix } from "./messages.ts";
import { awaitHeads, awaitRequests, type RelayTarget, relayCall } from "./relay.ts";
import { createKnownRpcs, createOwners, versionOfService } from "./rpcs.ts";
import { createGrpcServer, type GrpcServer, type SessionTimeouts } from "./server.ts";
import { createGrpcSessions, type GrpcSessions } from "./sessions.ts";
import { createStatusCodec } from "./status.ts";
import { contextOf, serveUnary } from "./unary.ts";
import { createWireCounter } from "./wire.ts";

/** Of HTTP. */
const [OK, UNAUTHENTICATED] = [200, 401];
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
  readonly edge: Omit<EdgeOptions, "limits">;
  /** Which operation an HTTP target asks for. */
  readonly route: Router;
  /** Decides on a v1 request as if it had come over HTTP. */
  readonly proxy: Pick<RequestProxy, "choose" | "plan" | "servesNative" | "checkNative">;
  readonly memory: MemoryBudget;
  /** The turns of callers that the platform has not accepted, those over HTTP included. */
  readonly processorShare: ProcessorShare;
  /** Who calls, as the ledger names it. */
  readonly nameOf: (headers: HeaderList) => string;
  /** Hears of the sessions to upstreams. */
  readonly join: (sessions: UpstreamSessions) => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: GrpcLog;
  readonly record: RecordEvent;
  readonly timeouts?: GrpcTimeouts | undefined;
}

/** Milliseconds. */
export type GrpcTimeouts = Partial<SessionTimeouts> & BodyLimitOptions["timeouts"];

interface GrpcLog {
  warn(message: string, cause?: unknown, facts?: Readonly<Record<string, string | number>>): void;
  info(message: string, facts?: Readonly<Record<string, string | number>>): void;
  error(message: string, cause?: unknown, facts?: Readonly<Record<string, string | number>>): void;
}

/** Nothing listens yet. `port`: `listen.grpc.port`. */
export function createGrpcPort(config: Config, port: number, parts: GrpcPortParts): GrpcServer {
  const { v1, v2, sts } = config.upstream;
  const { streamIdleSeconds } = config.grpc;
  const streamIdleMs = streamIdleSeconds === 0 ? Number.POSITIVE_INFINITY : streamIdleSeconds * 1_000;
  const domains = domainsOf(parts.catalogue);
  const descriptors = descriptorsOf(config, { domains, route: parts.route });
  if (descriptors !== undefined) logGaps(gapsOf(descriptors, parts.catalogue.resources), parts.log);
  const bodies = createBodyLimits({ ...parts, limits: config.limits });
  const codec = createStatusCodec(descriptors?.registry);
  const upstreams = {
    v2: targetOf("v2", v2, config, { ...parts, bodies }),
    v1: v1 === undefined ? undefined : targetOf("v1", v1, config, { ...parts, bodies }),
    sts: sts === undefined ? undefined : targetOf("sts", sts, config, { ...parts, bodies }),
  };
  const ownerOf = createOwners({ domains, extraServices: config.listen.grpc.extraServices });
  const limits = {
    requestBytes: config.grpc.maxRequestBytes,
    responseBytes: config.grpc.maxResponseBytes,
    bodyBytes: config.limits.bodyBytes,
    headerBytes: config.limits.headerBytes,
    ...bodies,
    shareOf: parts.callers.shareOf,
  };
  const exchangeParts = { audience: { from: config.listen.publicUrl, to: v2.audience }, limits };
  const pass = (call: GrpcCall, target: RelayTarget, headers: HeaderList): void => {
    const answered = (status: number): void => {
      recordCredential(call, parts.callers);
      if (call.exchange.resource === "unknown") recordUndescribed(call, status, domains, parts.callers);
    };
    relayCall(call, target, { headers, answered });
  };
  const native = (call: GrpcCall, headers: HeaderList): void => {
    if (upstreams.v1 === undefined) throw untranslated(call, descriptors === undefined);
    call.exchange.mode = "native";
    pass(call, upstreams.v1, headers);
  };
  const unary = descriptors && {
    ...parts,
    descriptors,
    limits,
    count: createWireCounter({ values: MOST_VALUES, depth: MOST_DEPTH, unknown: MOST_NAMES }),
    numberEnums: createEnumNumbers(descriptors.registry),
    turn: createPageTurns(parts.now, parts.queues.get("v2")?.shortAt),
    unknownRequest: config.unknownFields.request,
    native: upstreams.v1,
    log: parts.log.error,
  };
  const serveV1 = (call: GrpcCall, rpc: Rpc | undefined): void => {
    if (unary === undefined || rpc?.route === undefined || rpc.method.methodKind !== "unary") {
      parts.proxy.checkNative(call);
      if (!parts.proxy.servesNative()) throw untranslated(call, descriptors === undefined);
      native(call, [[OurHeader.MODE, "native"]]);
      return;
    }
    // Its record is not known before its message is read, and no rule depends on that.
    const example = contextOf(call, rpc.bindings[0]?.method ?? "", rpc.example);
    const choice = parts.proxy.choose(example);
    if (choice.mode === "native") {
      native(call, withoutSuccessor(parts.proxy.plan(choice, example).headers ?? []));
      return;
    }
    call.exchange.mode = choice.mode;
    const planned = choice.mode === "shadow" ? parts.proxy.plan(choice, example, false) : undefined;
    const unread = planned?.kind === "pass" ? planned : undefined;
    void serveUnary(call, rpc, unary, { choice, headers: example.headers, unread });
  };
  const serve = (call: GrpcCall): void => {
    const { exchange } = call;
    const rpc = descriptors?.rpcs.get(call.target);
    call.isUnary = rpc?.method.methodKind === "unary";
    if (!call.isUnary) call.arrival.stream(streamIdleMs, "grpc.streamIdleSeconds");
    const owner = rpc?.version ?? ownerOf(exchange.rpc?.service ?? "", exchange.rpc?.method ?? "");
    if (owner === undefined || (owner === "native" && !parts.proxy.servesNative())) throw unknownService();
    if (owner === "sts") {
      // A token that is to be exchanged is not read here.
      void exchangeToken(call, upstreams.sts ?? upstreams.v2, exchangeParts);
      return;
    }
    // Health checks and reflection are no use of the API: who makes them is nobody to migrate.
    if (owner !== "platform") {
      exchange.apiVersion = owner === "v2" ? "v2" : "v1";
      exchange.client = parts.nameOf(call.headers);
    }
    if (owner === "v1") serveV1(call, rpc);
    else if (owner === "native" || owner === "named") native(call, [[OurHeader.MODE, "native"]]);
    else {
      if (rpc?.route?.kind === "v2") exchange.resource = rpc.route.resource;
      exchange.mode = "pass";
      pass(call, upstreams.v2, []);
    }
  };
  const isKnown = createKnownRpcs((path) => descriptors?.rpcs.has(path) === true);
  const server = createGrpcServer({
    ...parts.edge,
    observe: (exchange) => {
      if (exchange.rpc !== undefined) exchange.rpc.known = isKnown(exchange.rpc);
      parts.edge.observe(exchange);
    },
    host: config.listen.host,
    port,
    reusePort: config.listen.reusePort,
    limits: config.limits,
    codec,
    accepted: parts.callers.accepted,
    timeouts: { idleMs: config.listen.grpc.keepAliveSeconds * 1_000, ...parts.timeouts },
    serve,
    log: parts.log.error,
  });
  const targets = [upstreams.v1, upstreams.v2, upstreams.sts].filter((target) => target !== undefined);
  parts.join({
    breakers: function* () {
      for (const { name, sessions } of targets) yield [name, sessions.breaker.isOpen()];
    },
    streamsOf: (credential) => targets.reduce((sum, { sessions }) => sum + sessions.usedBy(credential), 0),
  });
  return {
    ...server,
    close: async (graceMs) => {
      const cut = await server.close(graceMs);
      for (const { sessions } of targets) sessions.close();
      return cut;
    },
  };
}

/** Of a call whose resource is not known, only success proves its credential, since a proxy may refuse any name. Other domains may be open to anybody. */
function recordUndescribed(
  { credential, exchange }: GrpcCall,
  status: number,
  domains: ReadonlySet<string>,
  callers: CredentialShares,
): void {
  if (status !== OK && status !== UNAUTHENTICATED) return;
  const version = versionOfService(exchange.rpc?.service ?? "", domains);
  if (version === "v1" || version === "v2") callers.answered(credential, status);
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

function unknownService(): Problem {
  return new Problem("METHOD_NOT_ALLOWED", "unknown service", {
    options: ["upstream.v1.url", "fallback", "listen.grpc.extraServices"],
  });
}

type GrpcTarget = RelayTarget & { readonly sessions: GrpcSessions };

function targetOf(
  name: Upstream,
  { url, grpcUrl, grpcPingSeconds, tls, timeouts, connections, breaker }: NonNullable<Config["upstream"]["v1"]>,
  { limits }: Config,
  { now, random, log, record, renewal, queues, callers, bodies }: GrpcPortParts & { readonly bodies: BodyLimits },
): GrpcTarget {
  const turned = (open: boolean, { failures, ms }: { readonly failures: number; readonly ms: number }): void => {
    const seconds = Math.round(ms / 1_000);
    const event = record(breakerEvent(name, open, { failures, seconds }, " over gRPC"));
    const facts = { upstream: name, failures, seconds, event };
    if (open) log.error("circuit breaker open: an upstream does not respond over gRPC", undefined, facts);
    else log.info("circuit breaker closed: the upstream responds over gRPC again", facts);
  };
  const sessions = createGrpcSessions({
    url: grpcUrl ?? url,
    tls,
    connections,
    connectMs: timeouts.connectSeconds * 1_000,
    pingMs: grpcPingSeconds === undefined ? undefined : grpcPingSeconds * 1_000,
    headerBytes: limits.responseHeaderBytes,
    accepted: callers.accepted,
    now,
    ...(breaker ? { breaker: (probe) => createBreaker({ now, random, later, probe, turned }) } : {}),
  });
  renewal.attach(name, sessions);
  const heads = awaitHeads(timeouts.headersSeconds * 1_000, now);
  return { name, sessions, queue: queues.get(name), heads, unended: awaitRequests(now), bodies, now };
}

/** `repeated string aud = 1`, of the requests of both methods. */
const AUD = 1;

interface ExchangeParts {
  readonly audience: Audience;
  readonly limits: MessageLimits;
}

/** Ends `call` in every case. The message is read only where an audience may have to be replaced. */
async function exchangeToken(call: GrpcCall, target: RelayTarget, { audience, limits }: ExchangeParts): Promise<void> {
  const { exchange } = call;
  exchange.apiVersion = "sts";
  exchange.operation = "exchange";
  exchange.mode = "pass";
  const answered = (): void => {};
  if (audience.from === undefined) {
    relayCall(call, target, { answered });
    return;
  }
  const controller = createSignalController();
  call.stop = controller.abort;
  try {
    const message = await readMessage(call, Math.min(limits.bodyBytes, limits.requestBytes), limits, controller.signal);
    call.stream.on("close", message.release);
    const replaced = withAudience(message.bytes, audience);
    relayCall(call, target, { answered, whole: replaced === undefined ? message.whole : withPrefix(replaced) });
  } catch (error) {
    failCall(call, Problem.from(error));
  }
}

/** Returns `message` with the platform's audience in place of carryover's own, or undefined if nothing changes. */
function withAudience(message: Uint8Array, audience: Audience): Uint8Array | undefined {
  const { from, to } = audience;
  if (from === undefined) return undefined;
  const parts: Uint8Array[] = [];
  let kept = 0;
  try {
    const reader = new BinaryReader(message);
    while (reader.pos < message.length) {
      const [number, wireType] = reader.tag();
      const at = reader.pos;
      if (number !== AUD || wireType !== WireType.LengthDelimited) {
        reader.skip(wireType, number);
        continue;
      }
      const value = Buffer.from(reader.bytes());
      if (!isSameAudience(value.toString(), from)) continue;
      parts.push(message.subarray(kept, at), lengthPrefixed(to));
      kept = reader.pos;
    }
  } catch {
    // The token service says what is wrong with it.
    return undefined;
  }
  return parts.length === 0 ? undefined : Buffer.concat([...parts, message.subarray(kept)]);
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(varint(bytes.length)), bytes]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
