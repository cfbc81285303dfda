/** The gRPC port: which upstream a call goes to, and whether it passes or is translated. */
import type { ConnectionRenewal } from "../config/certificate-renewal.ts";
import type { Config } from "../config/config.ts";
import { later } from "../model/clock.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderList, OurHeader } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { Admit } from "../server/admission.ts";
import { recordCredential } from "../server/incoming-request.ts";
import { createBreaker } from "../upstream/breaker.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import type { GrpcCall } from "./call.ts";
import { type RelayTarget, relayCall } from "./relay.ts";
import { versionOfService } from "./rpcs.ts";
import { createGrpcServer, type GrpcServer, type SessionTimeouts } from "./server.ts";
import { createGrpcSessions, type GrpcSessions } from "./sessions.ts";
import { createStatusCodec } from "./status.ts";

export interface GrpcPortParts {
  /** The API's domains, as packages name them. */
  readonly domains: ReadonlySet<string>;
  readonly renewal: Pick<ConnectionRenewal, "attach">;
  readonly queues: ReadonlyMap<string, CallQueue>;
  readonly callers: CredentialShares;
  readonly admit: Admit;
  readonly credentialOf: (authorization: string) => string;
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
  const codec = createStatusCodec(undefined);
  const upstreams = {
    v2: targetOf("v2", v2, config, parts),
    v1: v1 === undefined ? undefined : targetOf("v1", v1, config, parts),
  };
  const pass = (call: GrpcCall, target: RelayTarget, headers: HeaderList): void => {
    relayCall(call, target, { headers, answered: () => recordCredential(call, parts.callers) });
  };
  const native = (call: GrpcCall): void => {
    const { exchange } = call;
    if (upstreams.v1 === undefined) throw untranslated(call, "native v1 is not served here", "upstream.v1.url");
    exchange.mode = "native";
    pass(call, upstreams.v1, [[OurHeader.MODE, "native"]]);
  };
  const serve = (call: GrpcCall): void => {
    const { exchange } = call;
    const version = versionOfService(exchange.rpc?.service ?? "", parts.domains);
    if (version === undefined) throw new Problem("METHOD_NOT_ALLOWED", "unknown service");
    // Health checks and reflection are no use of the API: who makes them is nobody to migrate.
    if (version !== "platform") {
      exchange.apiVersion = version;
      exchange.client = parts.nameOf(call.headers);
    }
    if (version === "v1") native(call);
    else {
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

function untranslated({ exchange }: GrpcCall, why: string, option: "upstream.v1.url"): Problem {
  const { service, method } = exchange.rpc ?? {};
  return new Problem("NOT_TRANSLATABLE", `${service}/${method} is not translated, and ${why}`, { options: [option] });
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
