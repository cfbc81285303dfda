/** Checks across options, and of the files that they name. */

import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { createSecureContext } from "node:tls";
import { type NamedClient, namedClient } from "../model/client-names.ts";
import { RESERVED_NAMES } from "../model/text.ts";
import type { Settings } from "./schema.ts";
import { isLoopback } from "./values.ts";

/** One fault or warning about the option at `path`. */
export interface OptionRemark {
  readonly path: string;
  readonly what: string;
  readonly remedy: string;
}

type ConfiguredUpstream = Pick<Settings["upstream"]["v2"], "url" | "tls">;

/** The upstreams that are configured, by name. */
export function upstreamsOf(
  settings: Settings,
): readonly (readonly [name: "v2" | "v1" | "sts", upstream: ConfiguredUpstream])[] {
  const { v1, v2, sts } = settings.upstream;
  const all: (readonly ["v2" | "v1" | "sts", ConfiguredUpstream])[] = [["v2", v2]];
  if (v1 !== undefined) all.push(["v1", v1]);
  if (sts !== undefined) all.push(["sts", sts]);
  return all;
}

/** Combinations that carryover refuses to start with. `native`: whether there is a native v1. */
export function contradictions(
  settings: Settings,
  native = settings.upstream.v1 !== undefined,
): readonly OptionRemark[] {
  const { listen, admin, limits } = settings;
  const found: OptionRemark[] = upstreamsOf(settings).flatMap(([name, upstream]) =>
    tlsContradictions(`upstream.${name}`, upstream),
  );
  if (settings.fallback === "native" && !native) {
    found.push({
      path: "fallback",
      what: "native needs the platform's own v1, and upstream.v1.url is not set",
      remedy: "set upstream.v1.url, or refuse",
    });
  }
  const ofV1 = listen.extraPrefixes.find((prefix) => prefix.startsWith("v1:"));
  if (ofV1 !== undefined && !native) {
    found.push({
      path: "listen.extraPrefixes",
      what: `${ofV1} needs the platform's own v1, and upstream.v1.url is not set`,
      remedy: "set upstream.v1.url, or leave it out",
    });
  }
  const service = listen.grpc.extraServices.find((name) => name.startsWith("v1:"));
  if (service !== undefined && !native) {
    found.push({
      path: "listen.grpc.extraServices",
      what: `${service} needs the platform's own v1, and upstream.v1.url is not set`,
      remedy: "set upstream.v1.url, or leave it out",
    });
  }
  const { mode } = settings.cutover;
  if (mode === undefined) found.push(...unsaidMode(settings));
  else if (mode !== "translate" && !native) {
    found.push({
      path: "cutover.mode",
      what: `${mode} needs the platform's own v1, and upstream.v1.url is not set`,
      remedy: "set upstream.v1.url, or translate",
    });
  }
  if (settings.cutover.saltFile !== undefined && settings.cutover.salt !== "") {
    found.push({
      path: "cutover.saltFile",
      what: "cutover.salt is set as well",
      remedy: "leave one of them out",
    });
  }
  found.push(...storeContradictions(settings.state));
  found.push(...socketContradictions(listen), ...sharedPortContradictions(listen));
  if (listen.port === admin.port && listen.port !== undefined && listen.port !== 0) {
    found.push({
      path: "admin.port",
      what: `${admin.port} is listen.port too`,
      remedy: "give the admin port another number",
    });
  }
  const { port: grpcPort } = listen.grpc;
  if (grpcPort !== undefined && grpcPort !== 0 && (grpcPort === listen.port || grpcPort === admin.port)) {
    found.push({
      path: "listen.grpc.port",
      what: `${grpcPort} is ${grpcPort === listen.port ? "listen.port" : "admin.port"} too`,
      remedy: "give the gRPC port another number",
    });
  }
  found.push(...ownAddresses(settings), ...nameContradictions(settings), ...listContradictions(settings));
  if (limits.uriBytes >= limits.headerBytes) {
    found.push({
      path: "limits.uriBytes",
      what: `${limits.uriBytes} bytes is not below limits.headerBytes (${limits.headerBytes}), which counts the target too`,
      remedy: "lower it, or raise limits.headerBytes",
    });
  }
  return found;
}

/** The system's structure for such a path holds 104 bytes on some systems, 108 on others; the last one is zero. */
export const MOST_SOCKET_BYTES = 103;

function socketContradictions({ port, socket }: Settings["listen"]): readonly OptionRemark[] {
  const bytes = Buffer.byteLength(socket ?? "");
  if (bytes > MOST_SOCKET_BYTES) {
    const what = `the path has ${bytes} bytes, and a Unix socket's has ${MOST_SOCKET_BYTES} at most`;
    return [{ path: "listen.socket", what, remedy: "choose a shorter path" }];
  }
  if (port !== undefined || socket !== undefined) return [];
  return [{ path: "listen.port", what: "none needs listen.socket, which is not set", remedy: "set either of them" }];
}

/** Several processes can share a TCP port whose number they all know, and nothing else. */
function sharedPortContradictions({ reusePort, port, socket, grpc }: Settings["listen"]): readonly OptionRemark[] {
  const path = "listen.reusePort";
  if (!reusePort) return [];
  if (port === undefined) {
    return [
      { path, what: "listen.port is none, so there is no port to share", remedy: "set listen.port, or leave it out" },
    ];
  }
  if (socket !== undefined) {
    const what = "listen.socket is set, and a Unix socket belongs to one process";
    return [{ path, what, remedy: "leave one of them out" }];
  }
  const free = [...(port === 0 ? ["listen.port"] : []), ...(grpc.port === 0 ? ["listen.grpc.port"] : [])];
  return free.map((option) => ({
    path,
    what: `${option} is 0, so each process would take another free port`,
    remedy: `set ${option} to the port that all processes share`,
  }));
}

/** With native v1 or rules, a default would move every client that no rule takes without anybody's having said so. */
function unsaidMode({ upstream, cutover }: Settings): readonly OptionRemark[] {
  const [because] = [
    ...(cutover.rulesFile === undefined ? [] : ["cutover.rulesFile"]),
    ...(upstream.v1 === undefined ? [] : ["upstream.v1.url"]),
  ];
  if (because === undefined) return [];
  const needed = upstream.v1 === undefined ? " (both need upstream.v1.url)" : "";
  return [
    {
      path: "cutover.mode",
      what: `required with ${because}, and not set: it decides for everybody whom no rule takes`,
      remedy: `native leaves them all on native v1, shadow does so too and compares in the background${needed}, translate moves them all to v2`,
    },
  ];
}

/** Upstreams that are ports of this carryover: every call would come back. */
function ownAddresses(settings: Settings): readonly OptionRemark[] {
  return upstreamsOf(settings).flatMap(([name, { url }]) =>
    (["listen", "admin"] as const)
      .filter((side) => isOwnPort(new URL(url), settings[side]))
      .map((side) => ({
        path: `upstream.${name}.url`,
        what: `this is carryover's own address (${side}.port ${settings[side].port}), so that its calls would come back to it`,
        remedy: `set the platform's address, or give ${side}.port another number`,
      })),
  );
}

const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** Whether calls to `url` arrive at a port of this machine that is bound to `host`. carryover itself never speaks TLS. */
function isOwnPort(url: URL, { host, port }: Pick<Settings["admin"], "host" | "port">): boolean {
  if (url.protocol !== "http:" || Number(url.port || 80) !== port || port === 0) return false;
  const called = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const bound = host.replace(/^\[|\]$/g, "").toLowerCase();
  if (called === bound) return true;
  if (!ANY_ADDRESS.includes(bound) && !isLoopback(bound)) return called === hostname().toLowerCase();
  if (ANY_ADDRESS.includes(called)) return true;
  // Of the addresses of loopback, only the names stand for more than themselves.
  if (isLoopback(bound)) return isLoopback(called) && (isIP(called) === 0 || isIP(bound) === 0);
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  return isLoopback(called) || called === hostname().toLowerCase() || own.includes(called);
}

/** Addresses whose path already holds what every call adds to it: the domain and version of the API. */
export function pathsOfTheApi(settings: Settings, domains: ReadonlySet<string>): readonly OptionRemark[] {
  return upstreamsOf(settings).flatMap(([name, { url }]) => {
    const { pathname } = new URL(url);
    const [, base = "", added = "", domain = ""] = /^(.*?)(\/([^/]+)\/v\d[a-z0-9]*)(?:\/|$)/.exec(pathname) ?? [];
    const path = `upstream.${name}.url`;
    if (!domains.has(domain)) return [];
    const remedy = `leave it out: ${new URL(url).origin}${base}`;
    return [{ path, what: `its path holds ${added}, which carryover adds to every call`, remedy }];
  });
}

/** Of two names of one identity only one could be seen, and rules for the other would match nobody. */
function nameContradictions({ clients }: Settings): readonly OptionRemark[] {
  const found: OptionRemark[] = [];
  const nameOf = new Map<string, string>();
  const entries = clients.names.map(namedClient);
  for (const { name, identities } of entries) {
    // They may be credentials, so they are shown nowhere.
    const before = identities.map((identity) => nameOf.get(identity) ?? name).find((other) => other !== name);
    for (const identity of identities) nameOf.set(identity, name);
    if (RESERVED_NAMES.includes(name)) {
      const what = `${name} stands for clients without a name`;
      found.push({ path: "clients.names", what, remedy: "choose another name" });
    } else if (before !== undefined) {
      const what = `${before} and ${name} are names of the same identity`;
      found.push({ path: "clients.names", what, remedy: "remove one of them" });
    }
  }
  return [...found, ...ownerContradictions(entries)];
}

/** A report shows one owner and one contact for each client. */
function ownerContradictions(entries: readonly NamedClient[]): readonly OptionRemark[] {
  return (["owner", "contact"] as const).flatMap((member) => {
    const known = new Map<string, string>();
    return entries.flatMap(({ name, [member]: said }) => {
      const before = known.get(name) ?? said;
      if (said === undefined || before === undefined || before === said) {
        if (said !== undefined) known.set(name, said);
        return [];
      }
      const what = `${name} has two different values of ${member}: ${JSON.stringify(before)} and ${JSON.stringify(said)}`;
      return [{ path: "clients.names", what, remedy: `give it one ${member}, in one of its entries or in all` }];
    });
  });
}

/** The option on the left must not exceed the option on the right. */
const AT_MOST = [
  ["readers", "readersPerUpstream"],
  ["bufferBytes", "maxBytes"],
] as const;

function listContradictions({ lists, limits }: Settings): readonly OptionRemark[] {
  const found: OptionRemark[] = [];
  if (lists.maxSeconds >= limits.requestSeconds) {
    found.push({
      path: "lists.maxSeconds",
      what: `${lists.maxSeconds} s is not below limits.requestSeconds (${limits.requestSeconds} s)`,
      remedy: "lower it, or raise limits.requestSeconds",
    });
  }
  for (const [lower, upper] of AT_MOST) {
    if ((lists[lower] ?? 0) <= lists[upper]) continue;
    found.push({
      path: `lists.${lower}`,
      what: `${lists[lower]} is above lists.${upper} (${lists[upper]})`,
      remedy: `lower it, or raise lists.${upper}`,
    });
  }
  return found;
}

function tlsContradictions(name: string, { url, tls }: ConfiguredUpstream): readonly OptionRemark[] {
  const found: OptionRemark[] = [];
  const set = (["caFile", "certFile", "keyFile"] as const).filter((key) => tls[key] !== undefined);
  const { protocol } = new URL(url);
  const isPlain = protocol === "http:" || protocol === "redis:";
  for (const key of isPlain ? set : []) {
    found.push({
      path: `${name}.tls.${key}`,
      what: `has no effect: ${name}.url is ${protocol.slice(0, -1)}`,
      remedy: `remove it, or use ${protocol.slice(0, -1)}s`,
    });
  }
  if (set.includes("certFile") !== set.includes("keyFile")) {
    const [given, lacking] = set.includes("certFile") ? ["certFile", "keyFile"] : ["keyFile", "certFile"];
    found.push({
      path: `${name}.tls.${given}`,
      what: `has no effect without ${lacking}`,
      remedy: `set ${name}.tls.${lacking} too`,
    });
  }
  return found;
}

function storeContradictions({ url, username, passwordFile, tls }: Settings["state"]): readonly OptionRemark[] {
  if (url !== undefined) {
    const nameless = { path: "state.username", what: "has no effect without state.passwordFile", remedy: "set both" };
    return [
      ...tlsContradictions("state", { url, tls }),
      ...(username !== undefined && passwordFile === undefined ? [nameless] : []),
    ];
  }
  const { caFile, certFile, keyFile } = tls;
  const given = { username, passwordFile, "tls.caFile": caFile, "tls.certFile": certFile, "tls.keyFile": keyFile };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ path: `state.${name}`, what: "has no effect without state.url", remedy: "set state.url, or remove it" }],
  );
}

/** Combinations that work but are probably not intended: warnings at start. */
export function doubts(settings: Settings): readonly OptionRemark[] {
  const found: OptionRemark[] = [];
  for (const [name, upstream] of upstreamsOf(settings)) {
    const { protocol, hostname } = new URL(upstream.url);
    if (protocol !== "http:" || isLoopback(hostname)) continue;
    found.push({
      path: `upstream.${name}.url`,
      what: "tokens go to another machine over http, readable on the way",
      remedy: "use https unless the network encrypts by itself",
    });
  }
  const { url: store, passwordFile } = settings.state;
  if (store?.startsWith("redis:") && passwordFile !== undefined && !isLoopback(new URL(store).hostname)) {
    found.push({
      path: "state.url",
      what: "the password of state.passwordFile goes to another machine without TLS, readable on the way",
      remedy: "use rediss unless the network encrypts by itself",
    });
  }
  const { publicUrl } = settings.listen;
  for (const [name, { url }] of upstreamsOf(settings)) {
    if (publicUrl === undefined || new URL(url).origin !== new URL(publicUrl).origin) continue;
    found.push({
      path: `upstream.${name}.url`,
      what: "clients call carryover by this name (listen.publicUrl): its own calls come back to it, unless the name leads elsewhere from here",
      remedy: "set the platform's own address",
    });
  }
  const { lists } = settings;
  const { connections } = settings.upstream.v2;
  if (lists.readersPerUpstream > connections) {
    found.push({
      path: "lists.readersPerUpstream",
      what: `${lists.readersPerUpstream} is above upstream.v2.connections (${connections}): an eighth of the connections is left to other calls, and pages use the rest at most`,
      remedy: "lower it, or raise upstream.v2.connections",
    });
  }
  if (lists.orderBy !== undefined && !/^uid( asc)?$/.test(lists.orderBy)) {
    found.push({
      path: "lists.orderBy",
      what: "lists in another order than by uid are read one page after another and never proved complete",
      remedy: "use uid, or leave it out where the platform lists by uid unasked",
    });
  }
  if (settings.clients.hash && settings.cutover.salt === "" && settings.cutover.saltFile === undefined) {
    found.push({
      path: "clients.hash",
      what: "without cutover.salt anybody can work out whom a hash stands for",
      remedy: "set cutover.saltFile to a file with a text that others do not know, the same on every replica",
    });
  }
  if (settings.admin.tokenFile === undefined && !isLoopback(settings.admin.host)) {
    found.push({
      path: "admin.host",
      what: "without admin.tokenFile the views answer only requests from this machine, whatever admin.host says",
      remedy: "set admin.tokenFile to reach them from elsewhere",
    });
  }
  return found;
}

/** Several times the size of a browser's set of authorities. Longer files are refused. */
export const MAX_PEM_BYTES = 1024 ** 2;

const TLS_FILE_KINDS = ["caFile", "certFile", "keyFile"] as const;
type TlsFileKind = (typeof TLS_FILE_KINDS)[number];
const REMEDIES: Readonly<Record<TlsFileKind, string>> = {
  caFile: "name a PEM file with the certificates of the authorities to trust",
  certFile: "name a PEM file with the client certificate, and those that lead to its authority",
  keyFile: "name a PEM file with the certificate's private key, without a passphrase",
};
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/gs;

/** Faults in the TLS files of an upstream (`upstream.v2`), as OpenSSL finds them. `names`: the paths of `bytes`. */
export function certificateFaults(
  upstream: string,
  names: Readonly<Partial<Record<TlsFileKind, string | undefined>>>,
  bytes: Readonly<Partial<Record<TlsFileKind, Uint8Array>>>,
): readonly OptionRemark[] {
  const fault = (kind: TlsFileKind, what: string, remedy = REMEDIES[kind]): OptionRemark => {
    return { path: `${upstream}.tls.${kind}`, what: `${names[kind]} ${what}`, remedy };
  };
  const tooLong = TLS_FILE_KINDS.filter((kind) => (bytes[kind]?.length ?? 0) > MAX_PEM_BYTES);
  if (tooLong.length > 0) return tooLong.map((kind) => fault(kind, `has more than ${MAX_PEM_BYTES} bytes`));
  const found: OptionRemark[] = [];
  const noAuthority = bytes.caFile && unreadAuthority(bytes.caFile);
  if (noAuthority !== undefined) found.push(fault("caFile", noAuthority));
  const cert = bytes.certFile && Buffer.from(bytes.certFile);
  const key = bytes.keyFile && Buffer.from(bytes.keyFile);
  const [noCertificate, noKey] = [cert && refusal({ cert }), key && refusal({ key })];
  if (noCertificate !== undefined) {
    found.push(fault("certFile", `holds no certificate that can be used (${noCertificate})`));
  }
  if (noKey !== undefined) {
    found.push(fault("keyFile", `holds no private key that can be used (${noKey})`));
  }
  if (cert === undefined || key === undefined || found.length > 0) return found;
  const noPair = refusal({ cert, key });
  if (noPair === undefined) return found;
  const remedy = `set ${upstream}.tls.certFile and keyFile to files that were made for each other`;
  return [fault("keyFile", `is not the key of the certificate in ${names.certFile} (${noPair})`, remedy)];
}

/** OpenSSL's reason; undefined when it accepts them. */
function refusal(given: { readonly cert?: Buffer; readonly key?: Buffer }): string | undefined {
  try {
    createSecureContext(given);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** OpenSSL skips certificates it cannot read; calls would fail later with a misleading error. */
function unreadAuthority(bytes: Uint8Array): string | undefined {
  const certificates = new TextDecoder().decode(bytes).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) return "holds no certificate in PEM form";
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      return `holds a certificate that cannot be read, the ${index + 1}. of ${certificates.length} (${reasonOf(error)})`;
    }
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
}
