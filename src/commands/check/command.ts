/** How is `carryover check` called, and what does it print? */

import { writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { styleText } from "node:util";
import { type Catalogue, catalogueVersions, loadCatalogue } from "../../catalogue.ts";
import {
  assumedConfig,
  type Config,
  type ConfigInput,
  configOptions,
  loadConfig,
  optionFlags,
} from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { FILE_VARIABLE } from "../../config/sources.ts";
import { writtenConfig } from "../../config/write.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { isUid } from "../../model/uid.ts";
import { printable } from "../terminal.ts";
import { readStdin } from "../token-input.ts";
import {
  type CheckVerdict,
  exitCodeOf,
  type Finding,
  type FindingLevel,
  HOW_TO_GIVE,
  readToken,
  TOKEN_VARIABLE,
  verdictOf,
} from "./finding.ts";
import { type CheckRulesReport, rulesLines } from "./rules.ts";

/** The part of a command-line parser that is used here. */
interface Program {
  command(name: string): Program;
  description(text: string): Program;
  option(flags: string, text: string): Program;
  action(run: (flags: Record<string, unknown>) => Promise<void>): Program;
}

/** The process, as far as a check needs it; what is left out is taken from the real one. */
export interface CheckIo {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  print(text: string): void;
  warn(text: string): void;
  onStop(stop: (graceMs?: number) => Promise<void>): void;
  /** All of standard input. */
  readStdin?(): Uint8Array;
  /** Throws when the file is there, unless `replace`. */
  writeFile?(path: string, text: string, replace: boolean): void;
  /** Whether a person at a terminal reads what is printed. */
  readonly terminal?: boolean;
}

/** Beside the options of `serve`. */
interface CheckFlags {
  readonly tokenFile?: string;
  readonly writeUnder?: string;
  readonly writeConfig?: string;
  readonly force?: true;
  readonly rules?: string;
  readonly rulesOnly?: true;
  readonly strict?: true;
  readonly json?: true;
}

/** Adds the command. Its exit code: 0 nothing wrong, 1 a failure, or no list was read (with --strict also a warning). */
export function addCheck(program: Program, io: CheckIo, outcome: { code: number | undefined }): void {
  const check = program
    .command("check")
    .description(
      "tell whether this configuration is right for that upstream, and what to set; it only reads, unless --write-under is given",
    )
    .option(
      "--token-file <file>",
      `file with a token of the platform, - for standard input [${TOKEN_VARIABLE}: the token]`,
    )
    .option("--write-under <uid>", "also try what takes writing, in a fresh group below this group, removed afterwards")
    .option("--write-config <file>", "write this configuration, with what was found, as a YAML file")
    .option("--force", "replace that file when it is there")
    .option("--rules <file>", "also check this file of rules, in place of cutover.rulesFile")
    .option("--rules-only", "check nothing but the rules: needs no platform and no token")
    .option("--strict", "warnings end with exit code 1 too")
    .option("--json", "print one JSON document");
  for (const { flags, description, default: byDefault, env } of optionFlags()) {
    check.option(flags, `${byDefault === undefined ? description : `${description} (default: ${byDefault})`} [${env}]`);
  }
  check.action(async (flags) => {
    outcome.code = await checkOnce(flags, io);
  });
}

async function checkOnce(given: Record<string, unknown>, io: CheckIo): Promise<number> {
  const flags: CheckFlags = given;
  const { [TOKEN_VARIABLE]: variable, ...env } = io.env;
  const input: ConfigInput = { flags: given, env, readFile: io.readFile };
  if (flags.rulesOnly === true) return rulesOnly(flags, input, io);
  const { config, warnings, requireKnown } = loadConfig(input);
  // Wrong names in `lists.require` are told as `serve` tells them.
  const catalogue = await catalogueFor(config.upstream.v2.version);
  if (catalogue !== undefined) requireKnown(catalogue.resources.map(({ name }) => name));
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const token = readToken(flags.tokenFile, variable, { readFile: io.readFile, readStdin: io.readStdin ?? readStdin });
  refuseWrongUses(flags, io);
  const code = await stoppable(flags, io, (signal) => runAndPrint({ config, token, flags, input, signal }, io));
  if (code === undefined) io.warn("stopped before anything was written");
  return code ?? 1;
}

interface CheckRun {
  readonly config: Config;
  readonly token: string | undefined;
  readonly flags: CheckFlags;
  readonly input: ConfigInput;
  readonly signal: Signal;
}

/** Asks, prints what was found, writes the file that was asked for. Gives the exit code. */
async function runAndPrint({ config, token, flags, input, signal }: CheckRun, io: CheckIo): Promise<number> {
  // Loaded only for this command: `serve` is to start soon and to be small.
  const { runCheck } = await import("./check.ts");
  const { writeUnder } = flags;
  const report = await runCheck({ config, token, writeUnder, now: Date.now, random: Math.random, signal });
  const rules = await rulesReport({ config, known: true }, flags, io);
  const findings = [...report.findings, ...(rules?.findings ?? [])];
  const platform = { url: config.upstream.v2.url, version: report.version };
  const text = printedFindings(findings, { platform, rules }, flags, io);
  // The platform could put anything into a name that is shown, this included.
  io.print(token === undefined ? text : text.replaceAll(token, "[token]"));
  // Behind the report: what was found is not lost with a file that cannot be written.
  if (flags.writeConfig !== undefined) writeConfig(flags.writeConfig, flags.force === true, input, findings, io);
  return exitCodeOf(verdictOf(findings), flags.strict === true);
}

/** For pipelines in which rules are changed: nobody is asked anything. */
async function rulesOnly(flags: CheckFlags, input: ConfigInput, io: CheckIo): Promise<number> {
  for (const [option, value] of [
    ["--write-under", flags.writeUnder],
    ["--write-config", flags.writeConfig],
  ] as const) {
    const what = "with --rules-only no platform is asked";
    if (value !== undefined) throw new ConfigError([{ where: option, what, remedy: "leave one of them out" }]);
  }
  const rules = await rulesReport(assumedConfig(input), flags, io);
  if (rules === undefined) {
    const remedy = "name it with --rules, or in cutover.rulesFile";
    throw new ConfigError([{ where: "--rules-only", what: "there is no rules file", remedy }]);
  }
  io.print(printedFindings(rules.findings, { platform: undefined, rules }, flags, io));
  return exitCodeOf(verdictOf(rules.findings), flags.strict === true);
}

/** Undefined when no file of rules is named. */
async function rulesReport(
  { config, known }: { readonly config: Config; readonly known: boolean },
  flags: CheckFlags,
  io: CheckIo,
): Promise<CheckRulesReport | undefined> {
  if (flags.rules === undefined && config.cutover.rulesFile === undefined) return undefined;
  const { checkRules } = await import("./rules.ts");
  const catalogue = await catalogueFor(config.upstream.v2.version);
  // Without an address of v2 there is no configuration that could lack one of v1.
  const native = known ? undefined : true;
  return checkRules({ file: flags.rules, config, catalogue, readFile: io.readFile, now: Date.now(), native });
}

async function catalogueFor(version: string): Promise<Catalogue | undefined> {
  return (await catalogueVersions()).includes(version) ? loadCatalogue(version) : undefined;
}

function printedFindings(
  findings: readonly Finding[],
  heading: ReportHeading,
  { json }: CheckFlags,
  io: CheckIo,
): string {
  const colour = (io.terminal ?? isatty(1)) && (io.env["NO_COLOR"] ?? "") === "";
  // What stands in a rules file is nobody's word on how a terminal behaves.
  const safe = findings.map((finding) => ({ ...finding, what: printable(finding.what) }));
  return json === true ? findingsJson(findings, heading) : findingsText(safe, heading, colour);
}

/**
 * A check that writes must not simply be killed: what it made is removed and what it found is printed first. Undefined:
 * stopped before it wrote.
 */
async function stoppable<T>(
  { writeUnder }: CheckFlags,
  io: CheckIo,
  work: (signal: Signal) => Promise<T>,
): Promise<T | undefined> {
  const stopper = createSignalController();
  const running = work(stopper.signal).catch((error: unknown) => {
    if (stopper.signal.aborted) return undefined;
    throw error;
  });
  if (writeUnder !== undefined) {
    io.onStop(async () => {
      stopper.abort(new Error("the check was stopped"));
      await running;
      // Nobody is to take this for a check that went well.
      throw new Error("the check was stopped");
    });
  }
  return running;
}

function refuseWrongUses({ writeUnder, writeConfig, force }: CheckFlags, io: CheckIo): void {
  if (writeUnder !== undefined && !isUid(writeUnder)) {
    throw new ConfigError([{ where: "--write-under", what: "this is no uid", remedy: "give the uid of a group" }]);
  }
  if (writeConfig !== undefined && force !== true) refuseReplacing(writeConfig, io.readFile);
}

/** How do findings read, for a person and for a program? */

/** What the report is about. */
export interface ReportHeading {
  /** Undefined when only rules were looked at. */
  readonly platform: { readonly url: string; readonly version: string } | undefined;
  /** Undefined without a rules file. */
  readonly rules: CheckRulesReport | undefined;
}

const LEVEL_COLOURS = { ok: "green", note: "cyan", warn: "yellow", fail: "red", skipped: "dim" } as const;
/** In words for a person. */
export const VERDICT_WORDS: Readonly<Record<CheckVerdict, string>> = {
  ok: "right",
  incomplete: "nothing wrong found",
  warn: "usable",
  unjudged: "NOT JUDGED",
  fail: "NOT RIGHT",
};
const VERDICT_LEVELS = { ok: "ok", incomplete: "skipped", warn: "warn", unjudged: "fail", fail: "fail" } as const;

/** One line a finding, what to do below it, the verdict last. */
export function findingsText(
  findings: readonly Finding[],
  { platform, rules }: ReportHeading,
  colour: boolean,
): string {
  // Whether a terminal reads it was decided by the caller.
  const paint = (level: FindingLevel, text: string) =>
    colour ? styleText(LEVEL_COLOURS[level], text, { validateStream: false }) : text;
  const width = Math.max(...findings.map(({ probe }) => probe.length), 0);
  const lines = findings.flatMap(({ probe, level, what, remedy, set }) => {
    const indent = " ".repeat(11 + width);
    return [
      `${paint(level, level.padEnd(7))}  ${probe.padEnd(width)}  ${what}`,
      ...(remedy === "" ? [] : [`${indent}${remedy}`]),
      ...(set === undefined ? [] : [`${indent}set ${set.path}: ${set.value}`]),
    ];
  });
  const table = rulesLines(rules?.rules ?? []);
  const subject = platform === undefined ? rules?.file : `${platform.url}, ${platform.version}`;
  return [
    `carryover check of ${subject}`,
    "",
    ...lines,
    "",
    ...(table.length === 0 ? [] : ["The first that matches decides:", ...table, ""]),
    paint(VERDICT_LEVELS[verdictOf(findings)], verdictLine(findings)),
  ].join("\n");
}

/** The same as one JSON document. */
export function findingsJson(findings: readonly Finding[], { platform, rules }: ReportHeading): string {
  const about = {
    ...(platform === undefined ? {} : { upstream: platform.url, version: platform.version }),
    ...(rules === undefined ? {} : { rules: { file: rules.file, digest: rules.digest, rules: rules.rules } }),
  };
  return JSON.stringify({ ...about, verdict: verdictOf(findings), findings }, null, 2);
}

/** `usable: 2 warnings, 1 not judged`. */
function verdictLine(findings: readonly Finding[]): string {
  const count = (level: FindingLevel) => findings.filter((finding) => finding.level === level).length;
  const counts = [
    [count("fail"), "failure"],
    [count("warn"), "warning"],
    [count("skipped"), "not judged"],
    [findings.filter(({ set }) => set !== undefined).length, "option"],
  ] as const;
  const words = counts
    .filter(([number]) => number > 0)
    .map(([number, word]) => {
      const many = number === 1 || word === "not judged" ? word : `${word}s`;
      return `${number} ${many}${word === "option" ? " to set" : ""}`;
    });
  const verdict = verdictOf(findings);
  const word = VERDICT_WORDS[verdict];
  const line = words.length === 0 ? word : `${word}: ${words.join(", ")}`;
  return verdict === "unjudged" ? `${line}; no list was read: give a token that may read them, ${HOW_TO_GIVE}` : line;
}

/** How does a check write down the configuration that it found right? */

/** The process, as far as this needs it. */
interface WriteIo {
  readonly readFile: ConfigInput["readFile"];
  warn(text: string): void;
  writeFile?(path: string, text: string, replace: boolean): void;
}

/** Throws ConfigError for a file that is there, unless it may be replaced: asked before anything is sent. */
export function refuseReplacing(file: string, readFile: ConfigInput["readFile"]): void {
  try {
    readFile(file);
  } catch {
    return;
  }
  throw new ConfigError([alreadyThere(file)]);
}

function alreadyThere(file: string) {
  return { where: "--write-config", what: `${file} is there already`, remedy: "name another file, or add --force" };
}

/** The configuration that was given, with what findings set. Throws ConfigError for a file that cannot be written. */
export function writeConfig(
  file: string,
  replace: boolean,
  input: ConfigInput,
  findings: readonly Finding[],
  io: WriteIo,
): void {
  const named = input.flags["config"] ?? input.env[FILE_VARIABLE];
  const name = typeof named === "string" && named !== "" ? named : undefined;
  const sources = {
    flags: input.flags,
    env: input.env,
    file: name === undefined ? undefined : { name, text: new TextDecoder().decode(io.readFile(name)) },
  };
  const text = writtenConfig(
    sources,
    configOptions(),
    findings.flatMap(({ set }) => set ?? []),
  );
  const write = io.writeFile ?? ((path, content, over) => writeFileSync(path, content, { flag: over ? "w" : "wx" }));
  try {
    write(file, text, replace);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const what = `${file} cannot be written (${String(error.code)})`;
    throw new ConfigError([
      error.code === "EEXIST"
        ? alreadyThere(file)
        : { where: "--write-config", what, remedy: "name a file that can be written" },
    ]);
  }
  io.warn(`written: ${file}`);
}
