/** The gRPC port: which upstream a call goes to, and whether it passes or is translated. */
import type { ConnectionRenewal } from "../config/certificate-renewal.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import { later } from "../model/clock.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderList, OurHeader } from "../model/http.ts";
import type { MemoryBudget } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { Decide } from "../model/request.ts";
import type { Router } from "../router/router.ts";
import type { Admit } from "../server/admission.ts";
import { recordCredential } from "../server/incoming-request.ts";
import { createBreaker } from "../upstream/breaker.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import type { GrpcCall } from "./call.ts";
import { type Descriptors, type Rpc, readDescriptors } from "./descriptors.ts";
import { type RelayTarget, relayCall } from "./relay.ts";
import { versionOfService } from "./rpcs.ts";
import { createGrpcServer, type GrpcServer, type SessionTimeouts } from "./server.ts";
import { createGrpcSessions, type GrpcSessions } from "./sessions.ts";
import { createStatusCodec } from "./status.ts";
import { contextOf, serveUnary } from "./unary.ts";

export interface GrpcPortParts {
  /** The API's domains, as packages name them. */
  readonly domains: ReadonlySet<string>;
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
  const descriptors = descriptorsOf(config, parts);
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
    limits: { maxBytes: config.grpc.maxMessageBytes, memory: parts.memory, shareOf: parts.callers.shareOf },
    unknownRequest: config.unknownFields.request,
    native: upstreams.v1,
    log: parts.log.error,
  };
  const serveV1 = (call: GrpcCall, rpc: Rpc | undefined): void => {
    if (unary === undefined || rpc?.route === undefined || rpc.method.methodKind !== "unary") {
      native(call, [[OurHeader.MODE, "native"]]);
      return;
    }
    const plan = parts.preview(contextOf(call, rpc.bindings[0]?.method ?? "", rpc.example));
    if (call.exchange.mode === "native") native(call, withoutSuccessor(plan.headers ?? []));
    else void serveUnary(call, rpc, unary);
  };
  const serve = (call: GrpcCall): void => {
    const { exchange } = call;
    const rpc = descriptors?.rpcs.get(call.target);
    const version = versionOfService(exchange.rpc?.service ?? "", parts.domains);
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
function descriptorsOf({ grpc }: Config, parts: GrpcPortParts): Descriptors | undefined {
  if (grpc.descriptors === undefined) return undefined;
  try {
    return readDescriptors(grpc.descriptors, parts);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where: "grpc.descriptors", what, remedy: "name a FileDescriptorSet of the API" }]);
  }
}

/** Why a v1 call can be neither translated nor passed to native v1. */
function untranslated({ exchange }: GrpcCall, isUndescribed: boolean): Problem {
  const { service, method } = exchange.rpc ?? {};
  const why = isUndescribed ? "grpc.descriptors is not set" : "no operation of v2 stands for it";
  return new Problem("NOT_TRANSLATABLE", `${service}/${method} is not translated (${why}), and there is no native v1`, {
    options: ["upstream.v1.url"],
  });
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
    headerBytes: limits.headerBytes,
    ...(breaker ? { breaker: (probe) => createBreaker({ now, random, later, probe, turned }) } : {}),
  });
  renewal.attach(name, sessions);
  return { name, sessions, queue: queues.get(name), headersMs: timeouts.headersSeconds * 1_000, now };
}
