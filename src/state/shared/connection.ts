/**
 * One connection to Valkey or Redis, made again whenever it breaks. The library's own reconnecting and queueing are off: each attempt is a new client, so
 * that it reads the password and the certificates again, and no command outlives its deadline.
 */
import type { RedisClientType } from "@redis/client";
import type { Timer } from "../../model/clock.ts";
import { StoreError } from "./protocol.ts";

/** PEM texts. */
export interface StoreTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectionOptions {
  /** `redis://` or `rediss://`, host and port; without credentials. */
  readonly url: string;
  readonly username: string | undefined;
  /** Read before each attempt, since an operator may replace them while carryover runs. Rejects if a file cannot be read. */
  readonly secrets: () => Promise<{ readonly password?: string | undefined; readonly tls?: StoreTls | undefined }>;
  readonly later: Timer;
  /** 0 to 1. */
  readonly random: () => number;
}

/** How long a command may take. A server that responds after a second still works. */
const COMMAND_MS = 2_000;
const CONNECT_MS = 3_000;
/** Closes a socket on which nothing moves. Longer than any command: it only matters if a deadline fails to fire. */
const SOCKET_MS = 5_000;
/** Between two attempts. Half of a wait is random, so that replicas do not come back all at once. */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [250, 4_000];
/** A cluster that sends a command around in a circle is broken. */
const MOST_REDIRECTS = 5;

interface Address {
  readonly host: string;
  readonly port: number;
}

export type StoreConnection = ReturnType<typeof createStoreConnection>;

/** Connects with the first command. */
export function createStoreConnection(options: ConnectionOptions) {
  const { url, username, secrets, later, random } = options;
  const target = new URL(url);
  const home: Address = { host: target.hostname.replace(/^\[|\]$/g, ""), port: Number(target.port || 6379) };
  /** The node of a cluster that has the keys. Undefined if that is the configured address. */
  let moved: Address | undefined;
  let client: RedisClientType | undefined;
  let failures = 0;
  let isResting = false;
  let isBusy = false;
  let isClosed = false;
  let lastFault = "it was not asked yet";
  /** The library's class of error replies, once it is loaded. */
  let replyClass: (new (...words: never[]) => Error) | undefined;
  let cancelRest = (): void => {};

  const drop = (): void => {
    const old = client;
    client = undefined;
    old?.destroy();
  };
  const rest = (fault: string): void => {
    lastFault = fault;
    failures += 1;
    // The place that a cluster named may be gone.
    moved = undefined;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    isResting = true;
    cancelRest = later(wait * (0.5 + random() / 2), () => {
      isResting = false;
    });
  };
  const connect = async (): Promise<RedisClientType> => {
    const { password, tls } = await secrets();
    // Loaded when it is needed: it is most of the time that a start with a store takes longer.
    const { createClient, ErrorReply } = await import("@redis/client");
    replyClass = ErrorReply;
    const { host, port } = moved ?? home;
    const common = {
      host,
      port,
      connectTimeout: CONNECT_MS,
      socketTimeout: SOCKET_MS,
      reconnectStrategy: false,
    } as const;
    const servername = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
    const fresh: RedisClientType = createClient({
      socket:
        target.protocol === "rediss:"
          ? { ...common, ...servername, tls: true, ca: tls?.ca, cert: tls?.cert, key: tls?.key }
          : common,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      disableOfflineQueue: true,
      commandsQueueMaxLength: 16,
      // Both would ask for commands that an account with few rights may not use.
      disableClientInfo: true,
      maintNotifications: "disabled",
    });
    // Without a listener the process would end. The error also comes with the command.
    fresh.on("error", () => {});
    try {
      // It never settles for some faults, such as a password that is refused.
      await inTime(fresh.connect(), CONNECT_MS, `no connection within ${CONNECT_MS / 1_000} s`, later);
      if (isClosed) throw new StoreError("away", "carryover stops");
      return fresh;
    } catch (error) {
      fresh.destroy();
      throw error;
    }
  };
  const send = async (words: readonly string[]): Promise<unknown> => {
    try {
      client ??= await connect();
      const sent = client.sendCommand([...words]);
      return await inTime(sent, COMMAND_MS, `no response within ${COMMAND_MS / 1_000} s`, later);
    } catch (error) {
      if (replyClass !== undefined && error instanceof replyClass) throw new StoreRefusal(printable(error.message));
      throw error;
    }
  };
  const follow = async (words: readonly string[]): Promise<unknown> => {
    for (let redirects = 0; ; redirects++) {
      try {
        return await send(words);
      } catch (error) {
        const place = movedTo(error, moved ?? home);
        if (place === undefined) throw error;
        if (redirects === MOST_REDIRECTS) throw new Error("the cluster sends the command around in a circle");
        drop();
        moved = place;
      }
    }
  };
  return {
    /**
     * Sends one command; callers wait for one before they send the next. Rejects with `StoreRefusal` if the server refuses it, and with `StoreError` if there is
     * no response.
     */
    call: async (words: readonly string[]): Promise<unknown> => {
      if (isBusy) throw new Error("one command at a time");
      if (isClosed || isResting) throw new StoreError("away", lastFault);
      isBusy = true;
      try {
        const reply = await follow(words);
        failures = 0;
        return reply;
      } catch (error) {
        if (error instanceof StoreRefusal && client !== undefined && !needsOtherServer(error)) {
          failures = 0;
          throw error;
        }
        drop();
        const fault = faultOf(error);
        rest(fault.message);
        throw fault;
      } finally {
        isBusy = false;
      }
    },
    close: (): void => {
      isClosed = true;
      cancelRest();
      drop();
    },
  };
}

/** An error reply of the server: the connection is sound. */
export class StoreRefusal extends Error {}

/** Another connection may reach a server that takes the command: after a failover, this one is a copy that cannot be written. */
function needsOtherServer({ message }: Error): boolean {
  return /^(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|TRYAGAIN|ASK|NOAUTH|UNBLOCKED)\b/.test(message);
}

function movedTo(error: unknown, from: Address): Address | undefined {
  const [, host, port] = (error instanceof StoreRefusal && /^MOVED \d+ (.*):(\d+)$/.exec(error.message)) || [];
  return port === undefined ? undefined : { host: host || from.host, port: Number(port) };
}

/** Faults that an operator has to fix: the account, or its password. */
const UNUSABLE = /^(?:WRONGPASS|NOPERM|NOAUTH|ERR (?:AUTH|invalid|Client sent AUTH))/;

function faultOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message || String(Reflect.get(error, "code") ?? error.name) : "";
  const isUnusable = error instanceof StoreRefusal && UNUSABLE.test(message);
  return new StoreError(isUnusable ? "unusable" : "away", printable(message));
}

/** Texts of the server come from outside, and go to logs. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}

/** Rejects after `ms`; the outcome of `promise` is ignored then. */
async function inTime<T>(promise: Promise<T>, ms: number, fault: string, later: Timer): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = later(ms, () => reject(new StoreError("away", fault)));
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
