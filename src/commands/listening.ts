import type { Catalogue } from "../catalogue.ts";
import type { Config } from "../config/config.ts";
import { VERSION } from "../version.ts";

/** Which of our own ports could not be had, and which option moves it? */

/** One port that a command opens. */
export interface ListenPort {
  /** `the client side`. */
  readonly what: string;
  readonly port: number;
  /** `--listen-port`. */
  readonly option: string;
  /** Its address and the option that moves it; undefined when there is none. */
  readonly host?: { readonly address: string; readonly option: string };
}

const REMEDIES: ReadonlyMap<unknown, (option: string, hostOption: string) => string> = new Map([
  [
    "EADDRINUSE",
    (option) =>
      `Another process listens there: stop it, or choose other ports: ${option} moves this one (0 takes any free one).`,
  ],
  [
    "EACCES",
    (option) => `This process may not listen there (ports below 1024 take a privilege): ${option} moves it elsewhere.`,
  ],
  ["EADDRNOTAVAIL", (_option, hostOption) => `This machine has no such address: correct ${hostOption}.`],
]);

/** For a person; undefined when `error` is not about listening at one of `places`. */
function listenErrorText(error: unknown, places: readonly ListenPort[]): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const remedy = REMEDIES.get(error.code);
  const here = places.filter((place) => isAbout(error, place));
  if (remedy === undefined || here.length === 0) return undefined;
  const option = either(here.map((place) => place.option));
  const hostOption = either(here.flatMap(({ host }) => host?.option ?? []));
  return `${either(here.map(({ what }) => what))} cannot listen: ${error.message}\n${remedy(option, hostOption)}`;
}

/** Two ports of a process differ; for a port of 0 there is no number in the error. */
function isAbout(error: Error, { port, host }: ListenPort): boolean {
  return "port" in error ? error.port === port : "address" in error && error.address === host?.address;
}

function either(words: readonly string[]): string {
  return [...new Set(words)].join(" or ");
}

/** Does what opens `places`. One that cannot be had is told, and ends the command with 1. */
export async function openPorts(
  places: readonly ListenPort[],
  io: { warn(text: string): void },
  outcome: { code: number | undefined },
  open: () => Promise<void>,
): Promise<void> {
  try {
    await open();
  } catch (error) {
    const fault = listenErrorText(error, places);
    if (fault === undefined) throw error;
    io.warn(fault);
    outcome.code = 1;
  }
}

/** What does `serve` say once it listens? (Addresses only: the configuration takes none that holds a credential.) */

/** Where both sides listen. */
export interface ListenAddresses {
  readonly url: string;
  readonly adminUrl: string;
}

/** Who is served from where; one line each for what v2 does not serve, since silence there is found out by clients. */
export function announcement(config: Config, catalogue: Catalogue, { url, adminUrl }: ListenAddresses): string {
  return [
    `carryover ${VERSION}: v1 clients at ${url}, v2 ${catalogue.version} at ${config.upstream.v2.url}, admin at ${adminUrl}, ${catalogue.resources.length} resources`,
    `  v1 requests: ${served(config)}`,
    `  operations that only v1 has: ${onlyV1(config)}`,
    `  token exchange: ${exchange(config)}`,
  ].join("\n");
}

function served({ cutover: { rulesFile, mode } }: Config): string {
  return rulesFile === undefined
    ? `${mode} (cutover.mode)`
    : `by the rules of ${rulesFile}, else ${mode} (cutover.mode)`;
}

function onlyV1({ upstream: { v1 }, fallback }: Config): string {
  if (v1 === undefined) return "refused with 501 (upstream.v1.url is not set)";
  return fallback === "native" ? `native v1 at ${v1.url}` : "refused with 501 (fallback: refuse)";
}

function exchange({ upstream: { sts } }: Config): string {
  return sts === undefined
    ? "none, /sts/exchange is answered with 404 (upstream.sts.url is not set)"
    : `/sts/exchange goes to ${sts.url}`;
}
