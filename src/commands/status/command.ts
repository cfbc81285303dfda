/** The commands `carryover status`, `gate`, `force`, `confirm` and `forget`. */
import { type Command, InvalidArgumentError } from "commander";
import { changeTokenPath } from "../../admin/change-token.ts";
import { STATE_DIR_VARIABLE } from "../../config/command-variables.ts";
import { ArgumentError } from "../../config/faults.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { AskedTimes } from "../../history/requests.ts";
import type { ForgottenClient } from "../../ledger/forgotten.ts";
import { TIME } from "../../model/clock.ts";
import { isPrintable } from "../../model/text.ts";
import {
  type ConfirmedRule,
  type ForceCommand,
  ForceCommands,
  type ForceNote,
  LONGEST_BY,
  LONGEST_REASON,
} from "../../rules/status.ts";
import { counted } from "../../rules/words.ts";
import type { CommandIo, Outcome } from "../command.ts";
import {
  ADDRESSES_HELP,
  FROM_HELP,
  HOW_TO_GIVE_ADMIN_TOKEN,
  readAddresses,
  readAdminToken,
  readTimeout,
  readWindow,
  readWindowFlags,
  TO_HELP,
  TOKEN_HELP,
  WINDOW_HELP,
  type WindowFlags,
} from "../report/arguments.ts";
import type { AnsweredForce, AskOptions } from "../report/ask.ts";
import { oneLine, printable } from "../terminal.ts";

/** Of every command that asks instances. */
export interface SharedFlags {
  readonly tokenFile?: string;
  readonly timeout: string;
  readonly json?: true;
}

interface ForceFlags extends SharedFlags, ForceNote {}

interface GateFlags extends SharedFlags {
  readonly differencesBelow?: number;
  readonly failuresBelow?: number;
  readonly minAge?: string;
}

/** Exit code: 0; 2 if an address did not respond. */
export function addStatus(program: Command, io: CommandIo, outcome: Outcome): void {
  shared(program.command("status"))
    .description("tell on one screen where the migration stands, what each rule does, and what needs attention")
    .option("--window <time>", WINDOW_HELP)
    .option("--from <time>", FROM_HELP)
    .option("--to <time>", TO_HELP)
    .option("--open", "print the address of the page for a browser instead (docs/page.md)")
    .action(async (addresses: readonly string[], flags: SharedFlags & WindowFlags & { readonly open?: true }) => {
      if (flags.open === true) {
        for (const address of readAddresses(addresses, io.env)) io.print(`${address}/`);
        outcome.code = 0;
        return;
      }
      const times = readWindowFlags(flags, TIME.wall());
      const asked = await askAll(addresses, flags, io, times);
      const [{ createStatus, statusExitCode }, { statusText }] = await Promise.all([
        import("../../fleet/status.ts"),
        import("./screen.ts"),
      ]);
      const status = createStatus(asked.fleet, times);
      show(status, statusText, asked, flags, io);
      outcome.code = statusExitCode(status);
    });
}

/** Exit code: 0, the rule may go further; 1, it may not; 2, that is not known. */
export function addGate(program: Command, io: CommandIo, outcome: Outcome): void {
  shared(program.command("gate").argument("<rule>", "name of a rule"))
    .description("tell whether a rule may go further: exit code 0 or 1, 2 when it is not known, with the reasons")
    .option(
      "--differences-below <share>",
      "what the share of differences must surely be below (default: as the rule says, else 0.02)",
      readShare,
    )
    .option("--failures-below <share>", "the same for requests that fail because of translation", readShare)
    .option("--min-age <time>", "how long the rule must have been as it is: 30m, 2h, 1d")
    .action(async (rule: string, addresses: readonly string[], flags: GateFlags) => {
      const { differencesBelow, failuresBelow, minAge } = flags;
      const terms = {
        differencesBelow,
        failuresBelow,
        minAge: minAge === undefined ? 0 : readWindow(minAge, "--min-age"),
      };
      const asked = await askAll(addresses, flags, io);
      const { gateExitCode, gateText, judgeGate } = await import("../../fleet/gate.ts");
      const verdict = judgeGate(asked.fleet, rule, terms);
      show(verdict, gateText, asked, flags, io);
      outcome.code = gateExitCode(verdict);
    });
}

/** Exit code: 0; 2 if an instance did not do it. */
export function addConfirm(program: Command, io: CommandIo, outcome: Outcome): void {
  shared(program.command("confirm").argument("<rule>", "name of a rule"))
    .description("let a rule go on whose saved state cannot be read; needs the admin token")
    .action(async (rule: string, addresses: readonly string[], flags: SharedFlags) => {
      const options = withToken("confirm", addresses, flags, io);
      const { askConfirm } = await import("../report/ask.ts");
      const results = await Promise.all(
        readAddresses(addresses, io.env).map((address) => askConfirm(address, rule, options)),
      );
      const text = (one: ChangeReport<ConfirmedRule>) => changeText(`confirm ${rule}`, one, confirmedText);
      const report = { version: 1, rule, results } as const;
      show(report, text, options, flags, io);
      outcome.code = changeExitCode(results);
    });
}

/** Exit code: 0; 1 if no instance knows the client; 2 if one did not respond or did not do it, or if others still have the client. */
export function addForget(program: Command, io: CommandIo, outcome: Outcome): void {
  shared(program.command("forget").argument("<client>", "name of a client, as /clients shows it"))
    .description("drop a client with all that is counted of it, from every instance; needs the admin token")
    .action(async (client: string, addresses: readonly string[], flags: SharedFlags) => {
      const options = withToken("forget", addresses, flags, io);
      const { askForget } = await import("../report/ask.ts");
      const results = withoutAsked(
        await Promise.all(readAddresses(addresses, io.env).map((address) => askForget(address, client, options))),
      );
      const text = (one: ChangeReport<ForgottenClient>) => changeText(`forget ${client}`, one, forgottenText);
      const report = { version: 1, client, results } as const;
      show(report, text, options, flags, io);
      const isUnknown = results.every((one) => "state" in one && !one.state.known);
      const isHeld = results.some((one) => "state" in one && holdersText(one.state) !== "");
      outcome.code = isHeld ? 2 : isUnknown ? 1 : changeExitCode(results);
    });
}

/** Exit code: 0; 2 if an instance did not do it. */
export function addForce(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("force")
    .argument("<mode>", "native: back to native v1 with the next request; none: lift that", readForce);
  shared(command)
    .description("send every v1 request to native v1, whatever the rules say, or lift that; needs the admin token")
    .option("--reason <text>", "why, for status and events", readNote(LONGEST_REASON))
    .option("--by <name>", "who does it, for status and events", readNote(LONGEST_BY))
    .action(async (mode: ForceCommand, addresses: readonly string[], { reason, by, ...flags }: ForceFlags) => {
      const options = withToken("force", addresses, flags, io);
      const note = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
      const { askForce } = await import("../report/ask.ts");
      const results = await Promise.all(
        readAddresses(addresses, io.env).map((address) => askForce(address, { force: mode, ...note }, options)),
      );
      const textOf = (state: AnsweredForce) => `${stateText(state)}${lostNoteText(note, state)}`;
      const text = (one: ChangeReport<AnsweredForce>) => changeText(`force ${mode}`, one, textOf);
      const report = { version: 1, mode, ...note, results } as const;
      show(report, text, options, flags, io);
      outcome.code = changeExitCode(results);
    });
}

type ChangeResult<State> =
  | { readonly address: string; readonly state: State }
  | { readonly address: string; readonly fault: string };

/** The output of `--json`, which also has the argument. */
interface ChangeReport<State> {
  readonly version: 1;
  readonly results: readonly ChangeResult<State>[];
}

function changeText<State>(what: string, { results }: ChangeReport<State>, textOf: (state: State) => string): string {
  const failed = results.filter((one) => "fault" in one).length;
  const lines = results.map((one) => `${one.address} ${"fault" in one ? one.fault : textOf(one.state)}`);
  return failed === 0
    ? lines.join("\n")
    : [`NOT DONE on ${failed} of ${results.length}: carryover ${what}`, ...lines].join("\n");
}

function confirmedText({ rule, wasUnknown, doing, survives }: ConfirmedRule): string {
  if (!wasUnknown) return `knows the state of ${rule}, so that nothing was to be confirmed: it does ${doing}`;
  const until = survives ? "" : ", until a restart: its state.dir cannot be written";
  return `lets ${rule} go on: it does ${doing}, and its evidence begins at zero${until}`;
}

function forgottenText(told: ForgottenClient): string {
  return `${ownForgottenText(told)}${holdersText(told)}`;
}

/** Without those among the holders that were told to forget at the same time. */
function withoutAsked(results: readonly ChangeResult<ForgottenClient>[]): readonly ChangeResult<ForgottenClient>[] {
  const asked = new Set(results.flatMap((one) => ("state" in one ? (one.state.instance ?? []) : [])));
  return results.map((one) => {
    if (!("state" in one)) return one;
    const others = one.state.others?.filter(({ instance }) => !asked.has(instance));
    return { ...one, state: { ...one.state, others } };
  });
}

/** Those that share its store. */
function holdersText({ others = [], unread = [] }: ForgottenClient): string {
  const [there, gone] = [others.filter((one) => !one.gone), others.filter((one) => one.gone)];
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).join(", ");
  return [
    ...(there.length === 0 ? [] : [`; still known to ${names(there)}: forget it there, too`]),
    ...(gone.length === 0 ? [] : [`; still in the store, counted by ${names(gone)}, gone since`]),
    ...(unread.length === 0 ? [] : [`; NOT KNOWN whether ${names(unread)} has it: it cannot be read`]),
  ].join("");
}

function ownForgottenText({ client, known, near, entry, comparisons, samples, survives }: ForgottenClient): string {
  if (!known) return `knows no client ${client}${near === undefined ? "" : `: did you mean ${near}?`}`;
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const parts = [
    ...(entry === undefined
      ? []
      : [
          `${counted(entry.v1, "v1 request")} of ${counted(entry.operations, "operation")} and ${counted(entry.v2, "v2 request")}, from ${day(entry.firstSeen)} to ${day(entry.lastSeen)}`,
        ]),
    ...(comparisons === 0 ? [] : [counted(comparisons, "comparison")]),
    ...(samples === 0 ? [] : [counted(samples, "sample")]),
  ];
  const until = survives ? "" : "; a restart brings it back: its state.dir cannot be written";
  return `has forgotten ${client}: ${parts.join("; ")}${until}`;
}

function stateText({ effective, command, survives }: AnsweredForce): string {
  if (command === "native") {
    const until = survives === true ? "" : ", until it restarts: it has no state.dir that can be written";
    return `is forced to native v1 from the next request on${until}`;
  }
  if (effective === "none") return "is no longer forced: its rules decide";
  return `is still forced to ${effective}, by the rules file: lift it there, too`;
}

/** An older instance keeps no note. */
function lostNoteText({ reason, by }: ForceNote, state: AnsweredForce): string {
  const isKept = (reason ?? state.reason) === state.reason && (by ?? state.by) === state.by;
  return isKept ? "" : "; it is an older version, which keeps no --reason and --by";
}

/** 0; 2: an instance did not do it. */
function changeExitCode(results: readonly ChangeResult<unknown>[]): number {
  return results.some((one) => "fault" in one) ? 2 : 0;
}

export function shared(command: Command): Command {
  return command
    .argument("[addresses...]", ADDRESSES_HELP)
    .option("--token-file <file>", TOKEN_HELP)
    .option("--timeout <seconds>", "longest wait for an instance", "10")
    .option("--json", "print one JSON document (docs/status.md)");
}

export function optionsOf({ tokenFile, timeout }: SharedFlags, io: CommandIo): AskOptions {
  const timeoutMs = readTimeout(timeout);
  return { token: readAdminToken(tokenFile, io.env, io), timeoutMs, fetch: io.fetch };
}

/** Throws ArgumentError without an admin token. */
function withToken(command: string, addresses: readonly string[], flags: SharedFlags, io: CommandIo): AskOptions {
  const options = optionsOf(flags, io);
  const token = options.token ?? changeTokenHere(addresses, io);
  if (token !== undefined) return { ...options, token };
  const remedy = `pass ${HOW_TO_GIVE_ADMIN_TOKEN}, or run this without addresses where carryover runs with ${STATE_DIR_VARIABLE}`;
  throw new ArgumentError({ where: `carryover ${command}`, what: "this needs the admin token", remedy });
}

/** The token that the instance on this machine made for itself. It is for no other instance. */
function changeTokenHere(addresses: readonly string[], { env, readFile }: CommandIo): string | undefined {
  const dir = env[STATE_DIR_VARIABLE] ?? "";
  if (addresses.length > 0 || dir === "") return undefined;
  try {
    return Buffer.from(readFile(changeTokenPath(dir))).toString("utf8");
  } catch {
    return undefined;
  }
}

interface Asked {
  readonly fleet: Fleet;
  readonly token: string | undefined;
}

async function askAll(args: readonly string[], flags: SharedFlags, io: CommandIo, times?: AskedTimes): Promise<Asked> {
  const addresses = readAddresses(args, io.env);
  const options = optionsOf(flags, io);
  const [{ askFleet }, { fleetOf }] = await Promise.all([import("../report/ask.ts"), import("../../fleet/fleet.ts")]);
  return {
    fleet: fleetOf(await askFleet(addresses, options, times)),
    token: options.token,
  };
}

/** Instances could return any text, even the token. */
export function show<T>(
  view: T,
  text: (view: T) => string,
  { token }: Pick<Asked, "token">,
  { json }: SharedFlags,
  io: CommandIo,
): void {
  const clean = (change: (text: string) => string): T =>
    JSON.parse(JSON.stringify(view), (_, value: unknown) => {
      if (typeof value !== "string") return value;
      return change(token === undefined ? value : value.replaceAll(token, "[token]"));
    });
  io.print(
    json === true
      ? printable(
          JSON.stringify(
            clean((one) => one),
            null,
            2,
          ),
        )
      : text(clean(oneLine)),
  );
}

function readShare(text: string): number {
  const share = /^\d?\.?\d+$/.test(text) ? Number(text) : 0;
  if (share > 0 && share <= 1) return share;
  throw new InvalidArgumentError("expected a share above 0, at most 1: 0.02");
}

/** One line of text, white space joined. */
function readNote(most: number): (text: string) => string {
  return (text) => {
    const note = text.replaceAll(/\s+/g, " ").trim();
    if (note !== "" && note.length <= most && isPrintable(note)) return note;
    throw new InvalidArgumentError(`expected 1 to ${most} printable characters`);
  };
}

function readForce(text: string): ForceCommand {
  const command = ForceCommands.options.find((one) => one === text);
  if (command !== undefined) return command;
  throw new InvalidArgumentError(`expected ${ForceCommands.options.join(" or ")}`);
}
