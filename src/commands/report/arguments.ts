/** Reads the arguments of `carryover report`. Each function throws `ArgumentError`. */
import {
  ADMIN_PORT_VARIABLE,
  ADMIN_TOKEN_FILE_VARIABLE,
  ADMIN_TOKEN_VARIABLE,
} from "../../config/command-variables.ts";
import { ArgumentError } from "../../config/faults.ts";
import type { AskedTimes } from "../../history/requests.ts";
import { DAY_MS } from "../../ledger/days.ts";
import { readInstant } from "../../rules/leaves.ts";
import type { CommandIo } from "../command.ts";
import { tokenFrom } from "../token-input.ts";

export const HOW_TO_GIVE_ADMIN_TOKEN = `--token-file FILE (- is standard input) or set ${ADMIN_TOKEN_VARIABLE}`;
export const DEFAULT_ADDRESS = "http://127.0.0.1:8081";
export const ADDRESSES_HELP = `admin ports, http://HOST:PORT or HOST:PORT (default: ${DEFAULT_ADDRESS}, or the port in ${ADMIN_PORT_VARIABLE})`;
export const TOKEN_HELP = `file with the admin token, - for standard input [${ADMIN_TOKEN_FILE_VARIABLE}; ${ADMIN_TOKEN_VARIABLE}: the token]`;

const UNITS: ReadonlyMap<string, number> = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 7 * 86_400_000],
]);
const LONGEST_TIMEOUT = 600;

/** A URL without a slash at its end, of `http://host:port` or `host:port`, either with a path. */
export function readAddress(text: string): string {
  const invalid = (what: string) =>
    argumentError("address", `${JSON.stringify(text)} ${what}`, "use http://HOST:PORT or HOST:PORT");
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(full)) throw invalid("is not an address");
  const url = new URL(full);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw invalid("is neither http nor https");
  if (url.username !== "" || url.password !== "") throw invalid("contains a credential");
  if (url.search !== "" || url.hash !== "") throw invalid("has a query or a fragment");
  return url.href.replace(/\/+$/, "");
}

/** Milliseconds of `7d`, `12h`, `30m`, `90s`, `2w`. */
export function readWindow(text: string, option = "--since"): number {
  const [, count = "", unit = ""] = /^(\d{1,5})([smhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS.get(unit) ?? 0);
  if (ms > 0) return ms;
  throw argumentError(option, `${JSON.stringify(text)} is not a duration`, "use a number and s, m, h, d or w: 7d");
}

export interface WindowFlags {
  readonly window?: string;
  readonly from?: string;
  readonly to?: string;
  /** An older name of `window`. */
  readonly since?: string;
}

const DEFAULT_WINDOW = "24h";
export const WINDOW_HELP = `how far back: 1h, 24h, 7d, all (default: ${DEFAULT_WINDOW})`;
export const FROM_HELP = "beginning instead: 2026-11-27T02:00Z, 02:00 (UTC, the last one), or a time ago: 6h";
export const TO_HELP = "end, in the same way (default: now)";

/** The times to ask instances for. `now`: milliseconds since 1970. */
export function readWindowFlags({ window, from, to, since }: WindowFlags, now: number): AskedTimes {
  const given = [
    ...(window === undefined ? [] : ["--window"]),
    ...(since === undefined ? [] : ["--since"]),
    ...(from === undefined && to === undefined ? [] : [from === undefined ? "--to" : "--from"]),
  ];
  if (given.length > 1) throw argumentError(given.join(" "), "these are two windows", "choose one");
  if (from === undefined && to === undefined) {
    if (window === "all") return { from: undefined, to: undefined };
    const ago = since === undefined ? readWindow(window ?? DEFAULT_WINDOW, "--window") : readWindow(since);
    return { from: -ago, to: undefined };
  }
  const times = { from: readTime(from, "--from", now), to: readTime(to, "--to", now) };
  const at = (time: number): number => (time < 0 ? now + time : time);
  if (at(times.from ?? 0) >= at(times.to ?? now)) {
    const remedy = "give a time in the past that is before --to";
    throw argumentError(from === undefined ? "--to" : "--from", "the window ends before it begins", remedy);
  }
  return times;
}

/** Milliseconds since 1970; below 0: so long ago, by the clock of the instance that is asked. */
function readTime(text: string | undefined, option: string, now: number): number | undefined {
  if (text === undefined) return undefined;
  return AGO.test(text) ? -readWindow(text, option) : readMoment(text, option, now);
}

const AGO = /^\d+[a-z]$/;
const CLOCK = /^(\d\d:\d\d(?::\d\d)?)Z?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** `02:00`: its day is left open. */
export function isTimeOfDay(text: string): boolean {
  return CLOCK.test(text);
}

/**
 * Milliseconds since 1970 of `2026-11-28T02:00Z`, `2026-11-28`, `02:00` (in UTC: the last one, or that of today) or `6h` ago. Throws
 * ArgumentError.
 */
export function readMoment(text: string, option: string, now: number, day: "last" | "today" = "last"): number {
  if (AGO.test(text)) return now - readWindow(text, option);
  const [, clock] = CLOCK.exec(text) ?? [];
  const today = new Date(now).toISOString().slice(0, 10);
  const [, date = today, time = clock ?? "00:00", zone = "Z"] = DATE.exec(text) ?? [];
  const isTime = clock !== undefined || DATE.test(text);
  const at = isTime ? readInstant(`${date}T${time.length === 5 ? `${time}:00` : time}${zone}`) : undefined;
  if (at !== undefined && at >= 0) return clock !== undefined && day === "last" && at > now ? at - DAY_MS : at;
  const remedy = "use a time in UTC (2026-11-27T02:00Z, 2026-11-27, 02:00), or one ago (6h)";
  throw argumentError(option, `${JSON.stringify(text)} is not a time`, remedy);
}

/** Milliseconds of a number of seconds. */
export function readTimeout(text: string): number {
  const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= LONGEST_TIMEOUT) return seconds * 1000;
  throw argumentError(
    "--timeout",
    `${JSON.stringify(text)} is not a number of seconds`,
    `use a number up to ${LONGEST_TIMEOUT}`,
  );
}

/** Each address once. Without `args`: the admin port of an instance on this machine. */
export function readAddresses(args: readonly string[], env: CommandIo["env"]): readonly string[] {
  const port = env[ADMIN_PORT_VARIABLE] ?? "";
  const here = port === "" ? DEFAULT_ADDRESS : `127.0.0.1:${port}`;
  return [...new Set((args.length === 0 ? [here] : args).map(readAddress))];
}

/** `file` (`-`: standard input) takes precedence over the token in the environment, and that over a file named there. */
export function readAdminToken(
  file: string | undefined,
  env: CommandIo["env"],
  io: Pick<CommandIo, "readFile" | "readStdin">,
): string | undefined {
  const value = env[ADMIN_TOKEN_VARIABLE] ?? "";
  const named = env[ADMIN_TOKEN_FILE_VARIABLE] ?? "";
  const chosen = file ?? (value === "" && named !== "" ? named : undefined);
  return tokenFrom({ file: chosen, variable: { name: ADMIN_TOKEN_VARIABLE, value } }, io);
}

export function argumentError(where: string, what: string, remedy: string): ArgumentError {
  return new ArgumentError({ where, what, remedy });
}
