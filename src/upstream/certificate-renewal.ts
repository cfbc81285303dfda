/** Renews upstream connections when certificate files change or names resolve to other addresses. */

import { isIP, type LookupFunction } from "node:net";
import { certificateFaults, MAX_PEM_BYTES } from "../config/checks.ts";
import type { Config, Tls, TlsFiles } from "../config/config.ts";
import { faultText } from "../config/faults.ts";
import { createWatchedFile, type FileFault, type WatchedFile } from "../config/watched-file.ts";
import type { Timer } from "../model/clock.ts";
import type { RecordEvent } from "../model/event.ts";
import type { Upstream } from "../model/exchange.ts";
import type { Pool } from "./pool.ts";

/** Where renewals are logged. */
export interface EventLog {
  info(message: string, facts: EventFacts): void;
  warn(message: string, cause: undefined, facts: EventFacts): void;
  error(message: string, cause: undefined, facts: EventFacts): void;
}
type EventFacts = Readonly<Record<string, string | number | boolean>>;

export interface ConnectionRenewalParts {
  /** Rejects when the file cannot be read, or has more than `maxBytes`. */
  readonly read: (path: string, maxBytes: number) => Promise<Uint8Array>;
  readonly lookup: LookupFunction;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly log: EventLog;
  readonly record: RecordEvent;
}

/** Between two reads. Issuers renew certificates days before they expire. */
const FILES_MS = 10_000;
/** Between two lookups of a name. */
const NAMES_MS = 15_000;

/** Renews connections while carryover runs; no call fails because of it. */
export type ConnectionRenewal = ReturnType<typeof createConnectionRenewal>;

export function createConnectionRenewal(upstreams: Config["upstream"], parts: ConnectionRenewalParts) {
  const pools: (readonly [Upstream, RenewedPool])[] = [];
  const names = createAddressWatch({
    lookup: parts.lookup,
    later: parts.later,
    everyMs: NAMES_MS,
    moved: (hostname) => parts.log.info("an upstream's name leads elsewhere: connections are renewed", { hostname }),
  });
  const watches = new Map<Upstream, WatchedFile<Tls>>();
  const read = oneAtATime(parts.read);
  for (const name of ["v1", "v2", "sts"] as const) {
    const settings = upstreams[name];
    if (settings === undefined || Object.keys(settings.tlsFiles).length === 0) continue;
    const renew = (tls: Tls): void => {
      for (const [of, pool] of pools) if (of === name) pool.renew(tls);
    };
    watches.set(name, watchCertificates(name, settings, { ...parts, read }, renew));
  }
  return {
    /** From now on `pool` renews its connections whenever its upstream does. */
    attach: (name: Upstream, pool: RenewedPool): void => {
      pools.push([name, pool]);
      names.add(pool);
    },
    start: (): void => {
      // Not awaited: the files that the process starts with were checked with the configuration.
      for (const watch of watches.values()) void watch.start();
      names.start();
    },
    /** Looks at the files now; resolves when what they hold is in force or refused. */
    check: async (): Promise<void> => {
      await Promise.all([...watches.values()].map((watch) => watch.check()));
    },
    /** Each upstream with files, and whether what they hold is in force. */
    certificates: function* (): Iterable<readonly [Upstream, boolean]> {
      for (const [name, watch] of watches) yield [name, watch.state().failing === undefined];
    },
    close: (): void => {
      names.close();
      for (const watch of watches.values()) watch.close();
    },
  };
}

/** Watches the files of one upstream as one, so that certificate and key change together. */
function watchCertificates(
  name: Upstream,
  { tls, tlsFiles }: { readonly tls: Tls; readonly tlsFiles: TlsFiles },
  { read, later, wall, log, record }: ConnectionRenewalParts,
  renew: (tls: Tls) => void,
): WatchedFile<Tls> {
  const option = `upstream.${name}`;
  return createWatchedFile<Tls>({
    path: Object.values(tlsFiles).join(", "),
    read: () => readAll(tlsFiles, read),
    parse: (bytes) => {
      const found = splitFiles(bytes);
      const faults = certificateFaults(option, tlsFiles, found).map(({ path, ...fault }) => ({
        where: path,
        ...fault,
      }));
      if (faults.length > 0) throw refusal(faults);
      return found;
    },
    begin: joinFiles(tls),
    everyMs: FILES_MS,
    later,
    wall,
    apply: (found) => {
      renew(found);
      const reason = `upstream ${name}: new connections use the new certificates`;
      const event = record({ kind: "certificate-renewed", reason });
      log.info("certificates were renewed: new connections use them", { upstream: name, event });
    },
    failed: (error, faults) => {
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      const event = record({ kind: "certificate-refused", reason: `upstream ${name}: ${what}` });
      log.error("certificates cannot be used; those before them stay in force", undefined, {
        upstream: name,
        faults: what,
        event,
      });
    },
    recovered: () => log.info("the certificates' files hold what is in force again", { upstream: name }),
    unreadable: (_, cause) =>
      refusal([{ where: `${option}.tls`, what: cause.message, remedy: "put a file there that this process may read" }]),
  });
}

function refusal(faults: readonly FileFault[]): Error {
  return Object.assign(new Error(faults.map(faultText).join(" | ")), { faults });
}

async function readAll(files: TlsFiles, read: ConnectionRenewalParts["read"]): Promise<Uint8Array> {
  const found: Partial<Record<keyof Tls, Uint8Array>> = {};
  for (const kind of KINDS) {
    const path = files[kind];
    if (path === undefined) continue;
    try {
      found[kind] = await read(path, MAX_PEM_BYTES);
    } catch (error) {
      throw new Error(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  return joinFiles(found);
}

const KINDS = ["caFile", "certFile", "keyFile"] as const;

/** Several files as the bytes of one. */
function joinFiles(tls: Tls): Uint8Array {
  return Buffer.from(
    JSON.stringify(KINDS.map((kind) => (tls[kind] ? Buffer.from(tls[kind]).toString("base64") : null))),
  );
}

function splitFiles(bytes: Uint8Array): Tls {
  const parts = JSON.parse(new TextDecoder().decode(bytes)) as (string | null)[];
  return Object.fromEntries(
    KINDS.flatMap((kind, i) => (typeof parts[i] === "string" ? [[kind, Buffer.from(parts[i], "base64")]] : [])),
  );
}

/** One read at a time: a read that hangs blocks one of Node's few file threads, and not all of them. */
function oneAtATime(read: ConnectionRenewalParts["read"]): ConnectionRenewalParts["read"] {
  let last: Promise<unknown> = Promise.resolve();
  return (path, maxBytes) => {
    const mine = last.then(() => read(path, maxBytes));
    last = mine.catch(() => {});
    return mine;
  };
}

/** Connections to one upstream. */
type RenewedPool = Pick<Pool, "hostname" | "addresses" | "renew">;

interface AddressWatchOptions {
  readonly lookup: LookupFunction;
  readonly later: Timer;
  /** Between two lookups. */
  readonly everyMs: number;
  /** Called when connections are replaced because a name resolves elsewhere. */
  readonly moved: (hostname: string) => void;
}

/** Lookups for which an address is remembered that was not returned again, and the fewest between two renewals. */
const LOOKS = 40;
/** More than a rotating name returns in `LOOKS` lookups. */
const MOST_ADDRESSES = 1_000;

/**
 * A busy connection never ends by itself, so that a platform that has moved would be called at its old address for as long
 * as there is traffic. Connections stay while their address is among those of the name, and while the lookup fails: what
 * still works is better than nothing.
 */
export function createAddressWatch({ lookup, later, everyMs, moved }: AddressWatchOptions) {
  const pools: (readonly [RenewedPool, ReturnType<typeof createAddressHistory>])[] = [];
  let callOff: () => void = () => {};
  let closed = false;
  const look = async (): Promise<void> => {
    // One after another: each takes one of the few threads for lookups, for as long as its server is silent.
    for (const [pool, history] of pools) {
      const { hostname } = pool;
      if (isIP(hostname) !== 0 || pool.addresses().size === 0) continue;
      const known = await addressesOf(lookup, hostname);
      if (closed) return;
      if (known.size === 0 || !history.hasMoved(known, pool.addresses())) continue;
      pool.renew();
      moved(hostname);
    }
  };
  const plan = (): void => {
    if (closed) return;
    callOff = later(everyMs, () => void look().then(plan));
  };
  return {
    add: (pool: RenewedPool): void => void pools.push([pool, createAddressHistory()]),
    start: plan,
    close: (): void => {
      closed = true;
      callOff();
    },
  };
}

/**
 * The addresses that one name has resolved to. Many name servers return a few of many addresses, and others each time, which is no move.
 * A name is taken for such a one when an address comes back that was missing. Then only a response of unknown addresses, or
 * an address in use that was missing for `LOOKS` lookups, is a move; for any other name every missing address in use is
 * one. (A name that rotates among more addresses than are remembered seems to move all the time, hence the least distance
 * between renewals.)
 */
function createAddressHistory() {
  /** Number of the lookup that last returned an address; oldest first. */
  const lastGiven = new Map<string, number>();
  let look = LOOKS;
  let cameBackIn = 0;
  let renewedIn = 0;
  return {
    /** After each lookup: what it returned, and where connections are. True: connections must be replaced. */
    hasMoved(given: ReadonlySet<string>, used: ReadonlySet<string>): boolean {
      look++;
      for (const [address, last] of lastGiven) {
        if (look - last <= LOOKS && lastGiven.size <= MOST_ADDRESSES) break;
        lastGiven.delete(address);
      }
      const allNew = ![...given].some((address) => lastGiven.has(address));
      for (const address of given) {
        if ((lastGiven.get(address) ?? look) < look - 1) cameBackIn = look;
        lastGiven.delete(address);
        lastGiven.set(address, look);
      }
      const missing = [...used].filter((address) => !given.has(address));
      if (missing.length === 0 || look - renewedIn < LOOKS) return false;
      const rotates = look - cameBackIn < LOOKS;
      if (rotates && !allNew && missing.every((address) => lastGiven.has(address))) return false;
      renewedIn = look;
      return true;
    },
  };
}

/** Empty when the lookup fails. */
function addressesOf(lookup: LookupFunction, hostname: string): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) resolve(new Set());
      else resolve(new Set(Array.isArray(found) ? found.map(({ address }) => address) : [found]));
    });
  });
}
