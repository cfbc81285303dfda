/** Replays requests, some at a time, until all are done or the replay has to stop. */
import type { Signal } from "../model/signal.ts";
import { compareUntilCertain, type ReplayVerdict } from "./attempts.ts";
import type { ReplayPace } from "./pace.ts";
import type { ReplaySides } from "./sides.ts";
import type { ReplayEntry } from "./source.ts";

/** The credentials that requests are replayed with. */
export interface ReplayTokens {
  of(client: string): string | undefined;
  /** Reads the token of this client again; true if it is another one now. */
  renew(client: string): boolean;
  /** Where it comes from, for people. */
  nameOf(client: string): string;
  /** For the platform that takes the writes: never that of another one. */
  readonly ofWrites?: string | undefined;
}

export interface ReplayRunOptions {
  readonly entries: AsyncIterator<ReplayEntry, unknown>;
  readonly sides: Pick<ReplaySides, "compare" | "native">;
  readonly pace: Pick<ReplayPace, "turn">;
  readonly concurrency: number;
  readonly tokens: ReplayTokens;
  sleep(ms: number, signal: Signal): Promise<void>;
  /** Once for each request that is done. */
  done(entry: ReplayEntry, verdict: ReplayVerdict): void;
  /** No request begins any more; those in progress are finished. */
  readonly stop: Signal;
  /** Those in progress end as well, and are not done. */
  readonly abort: Signal;
}

/** Why a replay stopped before its end. */
export class ReplayStopped extends Error {}

/** When one version fails this many requests in a row, the platform is probably down, and the requests are not at fault. */
const MAX_IN_A_ROW = 20;
const OUTAGES: ReadonlySet<string> = new Set(["native", "platform", "unreachable", "timeout"]);

/** Resolves when all are done, or `stop` came. Rejects with ReplayStopped; then a request that is not done can be replayed later. */
export async function runReplay(options: ReplayRunOptions): Promise<void> {
  const { entries, pace, stop, abort } = options;
  const outages = createOutageWatch(options);
  const ask = createAsking(options);
  let failure: unknown;
  const ended = (): boolean => failure !== undefined || stop.aborted || abort.aborted;
  // Workers take requests one after another: a generator has a single position.
  let taking: Promise<unknown> = Promise.resolve();
  const take = (): Promise<IteratorResult<ReplayEntry, unknown>> => {
    const next = taking.then(() => entries.next());
    taking = next.catch(() => {});
    return next;
  };
  const work = async (): Promise<void> => {
    while (!ended()) {
      const next = await take();
      if (next.done === true || ended()) return;
      await pace.turn(stop);
      const verdict = await ask(next.value);
      if (failure !== undefined) return;
      await outages.add(next.value, verdict);
    }
  };
  const guarded = (): Promise<void> =>
    work().catch((error: unknown) => {
      if (!stop.aborted && !abort.aborted) failure ??= error;
    });
  await Promise.all(Array.from({ length: options.concurrency }, guarded));
  if (failure !== undefined) throw failure;
  if (!abort.aborted) outages.settle();
}

/** Holds back requests that were not served, until another one is: in an outage they are not done. */
function createOutageWatch({ done, sides, abort, tokens }: ReplayRunOptions) {
  let held: (readonly [ReplayEntry, ReplayVerdict])[] = [];
  let lastServed: ReplayEntry | undefined;
  const settle = (): void => {
    for (const [entry, verdict] of held) done(entry, verdict);
    held = [];
  };
  /** Whether a request that was served is still. */
  const isUp = async (): Promise<boolean> => {
    if (lastServed === undefined) return false;
    const { kind, method, target, client } = lastServed;
    return sides.compare({ kind, method, target, token: tokens.of(client) }, abort).then(
      () => true,
      () => false,
    );
  };
  return {
    async add(entry: ReplayEntry, verdict: ReplayVerdict): Promise<void> {
      if (verdict.kind === "compared" || !OUTAGES.has(verdict.why)) {
        if (verdict.kind === "compared" && verdict.status < 400 && entry.kind.kind === "read") lastServed = entry;
        settle();
        done(entry, verdict);
        return;
      }
      held.push([entry, verdict]);
      if (held.length < MAX_IN_A_ROW) return;
      const waiting = held;
      if (await isUp()) {
        if (held === waiting) settle();
        return;
      }
      const which = verdict.translated === undefined ? "native v1" : `v2 (${verdict.translated})`;
      throw new ReplayStopped(
        `${which} has not served the last ${MAX_IN_A_ROW} requests, several tries each; look at the platform, then run the same command again`,
      );
    },
    settle,
  };
}

/** Compares a request, and tells a credential that ran out from a request that is refused. */
function createAsking({ sides, tokens, sleep, abort }: ReplayRunOptions) {
  /** By token: a target that native accepted with it. */
  const accepted = new Map<string, string>();
  const compare = ({ kind, method, target, body }: ReplayEntry, token: string | undefined): Promise<ReplayVerdict> =>
    compareUntilCertain({
      attempt: (signal) => sides.compare({ kind, method, target, token, body }, signal),
      sleep,
      signal: abort,
    });
  const write = async (entry: ReplayEntry): Promise<ReplayVerdict> => {
    const verdict = await compare(entry, tokens.ofWrites);
    if (verdict.kind !== "compared" || verdict.status !== 401) return verdict;
    throw new ReplayStopped(
      "the platform for writes refuses the token (401): give another one with --writes-token-file",
    );
  };
  return async (entry: ReplayEntry): Promise<ReplayVerdict> => {
    if (entry.kind.kind === "write") return write(entry);
    for (;;) {
      const token = tokens.of(entry.client);
      const verdict = await compare(entry, token);
      const refused = verdict.kind === "compared" ? verdict.status === 401 : verdict.why === "refused";
      if (verdict.kind === "compared" && verdict.status < 400) accepted.set(token ?? "", entry.target);
      if (!refused || (entry.status === 401 && verdict.kind === "compared")) return verdict;
      // Another request may have found the new one meanwhile.
      if (tokens.of(entry.client) !== token || tokens.renew(entry.client)) continue;
      const known = accepted.get(token ?? "");
      const still = known === undefined ? 401 : await sides.native(known, token, abort).catch(() => 401);
      if (still !== 401) return verdict;
      throw new ReplayStopped(refusedToken(tokens.nameOf(entry.client), token, known !== undefined));
    }
  };
}

function refusedToken(name: string, token: string | undefined, wasAccepted: boolean): string {
  if (token === undefined) return `native v1 wants a credential (401): give a token with --token-file`;
  const expiry = expiryOf(token);
  const when = expiry === undefined ? "" : `, it says itself that it expires at ${expiry}`;
  return wasAccepted
    ? `the token of ${name} has expired: native v1 accepted it before, and refuses it now (401)${when}; put a new one there, and run the same command again`
    : `native v1 refuses the token of ${name} (401)${when}; put another one there`;
}

/** Of a JSON Web Token, which is not verified. */
function expiryOf(token: string): string | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as {
      exp?: unknown;
    };
    return typeof exp === "number" ? new Date(exp * 1000).toISOString() : undefined;
  } catch {
    return undefined;
  }
}
