/** What the admin port asks of the page. */
import type { ForceCommand } from "../rules/status.ts";
import type { Asset } from "./assets.ts";

/** Returns documents of HTML. */
export interface AdminPage {
  /** `formToken`: of the reader's login. Undefined if the reader is not logged in. */
  home(query: URLSearchParams, formToken: string | undefined): Promise<Uint8Array>;
  /** What viewers are to be sent. `turn`: a number that is greater each time. `restMs`: how long to wait before the next time, at least. */
  news(
    turn: number,
    asked: readonly AskedNews[],
  ): Promise<{ readonly found: readonly News[]; readonly restMs: number }>;
  /** Undefined for a client that is not known. */
  client(name: string): Promise<Uint8Array | undefined>;
  login(view: LoginView): Promise<string>;
  force(view: ForceView): Promise<string>;
  /** A fault, for people. */
  fault(title: string, text: string): Promise<string>;
  asset(path: string, accepted: string | undefined): Promise<Asset | undefined>;
  close(): void;
}

/** The viewers of one query. */
export interface AskedNews {
  readonly query: string;
  /** The turns that they were sent last. */
  readonly have: readonly number[];
}

/** Server-sent events for them. */
export interface News {
  readonly query: string;
  /** `changes` applies to viewers that were sent this turn last. Undefined if it applies to none. */
  readonly before: number | undefined;
  /** Empty if nothing changed. */
  readonly changes: Uint8Array;
  /** All that changes on the page, for viewers that were not sent the turn before. Undefined where there is none. */
  readonly whole: Uint8Array | undefined;
}

export interface LoginView {
  /** Where to go afterwards. */
  readonly to: string;
  /** The token that was sent is wrong. */
  readonly isWrong: boolean;
  /** Which token is asked for. */
  readonly which: string;
}

export interface ForceView {
  /** Undefined: the person has not chosen yet. */
  readonly command: ForceCommand | undefined;
  readonly reason: string;
  readonly by: string;
  readonly formToken: string;
  /** Why the last attempt did nothing. */
  readonly fault: string | undefined;
}
