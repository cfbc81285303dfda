/** Do options that are right each by itself also fit together? */
import type { Settings } from "./schema.ts";
import { isLoopback } from "./values.ts";

/** One fault or warning about the option at `path`. */
export interface Remark {
  readonly path: string;
  readonly what: string;
  readonly remedy: string;
}

type Upstream = Pick<Settings["upstream"]["v2"], "url" | "tls">;

/** The upstreams that are configured, by name. */
export function upstreamsOf(settings: Settings): readonly (readonly [name: "v2" | "v1" | "sts", upstream: Upstream])[] {
  const { v1, v2, sts } = settings.upstream;
  const all: (readonly ["v2" | "v1" | "sts", Upstream])[] = [["v2", v2]];
  if (v1 !== undefined) all.push(["v1", v1]);
  if (sts !== undefined) all.push(["sts", sts]);
  return all;
}

/** What makes the configuration as a whole unusable. */
export function contradictions(settings: Settings): readonly Remark[] {
  const { listen, admin, lists, limits } = settings;
  const found: Remark[] = upstreamsOf(settings).flatMap(([name, upstream]) => tlsContradictions(name, upstream));
  if (settings.fallback === "native" && settings.upstream.v1 === undefined) {
    found.push({
      path: "fallback",
      what: "native needs the platform's own v1, and upstream.v1.url is not set",
      remedy: "set upstream.v1.url, or refuse",
    });
  }
  if (listen.port === admin.port && listen.port !== 0) {
    found.push({
      path: "admin.port",
      what: `${admin.port} is listen.port too`,
      remedy: "give the admin port another number",
    });
  }
  if (lists.maxSeconds >= limits.requestSeconds) {
    found.push({
      path: "lists.maxSeconds",
      what: `${lists.maxSeconds} s is not below limits.requestSeconds (${limits.requestSeconds} s)`,
      remedy: "lower it, or raise limits.requestSeconds",
    });
  }
  if (lists.maxConcurrentPerCredential > lists.maxConcurrent) {
    found.push({
      path: "lists.maxConcurrentPerCredential",
      what: `${lists.maxConcurrentPerCredential} is above lists.maxConcurrent (${lists.maxConcurrent})`,
      remedy: "lower it, or raise lists.maxConcurrent",
    });
  }
  if (limits.uriBytes >= limits.headerBytes) {
    found.push({
      path: "limits.uriBytes",
      what: `${limits.uriBytes} bytes is not below limits.headerBytes (${limits.headerBytes}), which counts the target too`,
      remedy: "lower it, or raise limits.headerBytes",
    });
  }
  return found;
}

function tlsContradictions(name: string, { url, tls }: Upstream): readonly Remark[] {
  const found: Remark[] = [];
  const set = (["caFile", "certFile", "keyFile"] as const).filter((key) => tls[key] !== undefined);
  for (const key of url.startsWith("http:") ? set : []) {
    found.push({
      path: `upstream.${name}.tls.${key}`,
      what: `has no effect: upstream.${name}.url is http`,
      remedy: "remove it, or use https",
    });
  }
  if (set.includes("certFile") !== set.includes("keyFile")) {
    const [given, lacking] = set.includes("certFile") ? ["certFile", "keyFile"] : ["keyFile", "certFile"];
    found.push({
      path: `upstream.${name}.tls.${given}`,
      what: `has no effect without ${lacking}`,
      remedy: `set upstream.${name}.tls.${lacking} too`,
    });
  }
  return found;
}

/** What works and is probably not meant: shown at start, never refused. */
export function doubts(settings: Settings): readonly Remark[] {
  const found: Remark[] = [];
  for (const [name, upstream] of upstreamsOf(settings)) {
    const { protocol, hostname } = new URL(upstream.url);
    if (protocol !== "http:" || isLoopback(hostname)) continue;
    found.push({
      path: `upstream.${name}.url`,
      what: "tokens go to another machine over http, readable on the way",
      remedy: "use https unless the network encrypts by itself",
    });
  }
  if (settings.admin.tokenFile === undefined && !isLoopback(settings.admin.host)) {
    found.push({
      path: "admin.host",
      what: "without admin.tokenFile the views answer to this machine only, whatever the address",
      remedy: "set admin.tokenFile to reach them from elsewhere",
    });
  }
  return found;
}
