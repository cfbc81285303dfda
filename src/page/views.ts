/** What the admin port asks of the page. */
import type { ForceCommand } from "../rules/status.ts";
import type { Asset } from "./assets.ts";

/** Returns documents of HTML. */
export interface AdminPage {
  /** `formToken`: of the login of whoever looks; undefined without one. */
  home(query: URLSearchParams, formToken: string | undefined): Promise<string>;
  /** The parts of the same that change, by id. */
  parts(query: URLSearchParams): Promise<ReadonlyMap<string, string>>;
  /** Undefined for a client that is not known. */
  client(name: string): Promise<string | undefined>;
  login(view: LoginView): Promise<string>;
  force(view: ForceView): Promise<string>;
  /** A fault, for people. */
  fault(title: string, text: string): Promise<string>;
  asset(path: string, accepted: string | undefined): Promise<Asset | undefined>;
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
