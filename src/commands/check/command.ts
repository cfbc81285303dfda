/** `carryover check`: its options, its report, and the configuration file that it writes. */

import type { Command } from "commander";
import { type Catalogue, catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import { CHECK_TOKEN_VARIABLE } from "../../config/command-variables.ts";
import {
  type AssumedConfig,
  assumedConfig,
  type Config,
  type ConfigInput,
  configOptions,
  loadConfig,
} from "../../config/config.ts";
import { ArgumentError } from "../../config/faults.ts";
import { FILE_VARIABLE } from "../../config/sources.ts";
import { writtenConfig } from "../../config/write.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { isUid } from "../../model/uid.ts";
import { addConfigOptions, type CommandIo, type Outcome } from "../command.ts";
import { type Paint, paintFor, printable } from "../terminal.ts";
import { tokenFrom } from "../token-input.ts";
import {
  type CheckVerdict,
  exitCodeOf,
  type Finding,
  type FindingLevel,
  findingsOf,
  HOW_TO_GIVE,
  note,
  verdictOf,
} from "./finding.ts";
import { type CheckRulesReport, checkRules, decisionLines, servingMode } from "./rules.ts";

/** Beside the options of the configuration. */
interface CheckFlags extends Readonly<Record<string, unknown>> {
  readonly tokenFile?: string;
  readonly writeUnder?: string;
  readonly writeConfig?: string;
  readonly force?: true;
  readonly rules?: string;
  readonly rulesOnly?: true;
  readonly state?: true;
  readonly strict?: true;
  readonly json?: true;
}

/** Its exit code: 0 nothing is wrong, 1 a failure, or no list was read (with --strict also a warning). */
export function addCheck(program: Command, io: CommandIo, outcome: Outcome): void {
  const check = program
    .command("check")
    .description(
      "tell whether this configuration is right for that upstream, and what to set; it only reads, unless --write-under is given",
    )
    .option(
      "--token-file <file>",
      `file with a token of the platform, - for standard input [${CHECK_TOKEN_VARIABLE}: the token]`,
    )
    .option("--write-under <uid>", "also try what takes writing, in a fresh group below this group, removed afterwards")
    .option("--write-config <file>", "write this configuration, with what was found, as a YAML file")
    .option("--force", "replace that file when it is there")
    .option("--rules <file>", "also check this file of rules, in place of cutover.rulesFile")
    .option("--rules-only", "check nothing but the rules: needs no platform and no token")
    .option("--state", "check nothing but state.dir and state.url: needs no platform and no token")
    .option("--strict", "warnings end with exit code 1 too")
    .option("--json", "print one JSON document");
  addConfigOptions(check);
  check.action(async (flags: CheckFlags) => {
    const { env, readFile } = io;
    const variable = env[CHECK_TOKEN_VARIABLE];
    const input: ConfigInput = { flags, env, readFile };
    const check = checkWithout(flags);
    outcome.code = check === undefined ? await checkAll(flags, input, variable, io) : await check(flags, input, io);
  });
}

/** A check that calls no platform; undefined unless the options ask for one. */
function checkWithout({ rulesOnly, state, writeUnder, writeConfig }: CheckFlags) {
  const [flag, other] = rulesOnly === true ? (["--rules-only", state] as const) : ["--state", undefined];
  if (rulesOnly !== true && state !== true) return undefined;
  for (const [where, value] of [
    ["--write-under", writeUnder],
    ["--write-config", writeConfig],
    ["--state", other],
  ] as const) {
    const what = `with ${flag} ${where === "--state" ? "only rules are checked" : "no platform is asked"}`;
    if (value !== undefined) throw new ArgumentError({ where, what, remedy: "leave one of them out" });
  }
  return rulesOnly === true ? checkRulesOnly : checkStateOnly;
}

/** For operators who were told that a replica cannot use its store, or before one starts. */
async function checkStateOnly(flags: CheckFlags, input: ConfigInput, io: CommandIo): Promise<number> {
  const assumed = assumedConfig(input);
  const { dir, url } = assumed.config.state;
  if (dir === undefined && url === undefined) {
    const what = "neither state.dir nor state.url is set";
    throw new ArgumentError({ where: "--state", what, remedy: "set one of them, or name the file with --config" });
  }
  const rules = await rulesReport(assumed, flags, io);
  const findings = await stateFindings(assumed.config, rules);
  const used = findings.some(({ probe }) => probe === "state");
  const unused = dir === undefined || used ? [] : findingsOf("state", note(`${dir}: nothing was saved there yet`));
  const subject = [dir, url].filter((one) => one !== undefined).join(" and ");
  io.print(reportText([...unused, ...findings], { title: subject, platform: undefined, rules: undefined }, flags, io));
  return exitCodeOf(verdictOf([...unused, ...findings]), flags.strict === true);
}

async function stateFindings(config: Config, rules: CheckRulesReport | undefined): Promise<readonly Finding[]> {
  const { checkState } = await import("./state.ts");
  const { checkStore } = await import("./store.ts");
  return [...(await checkState(config, rules?.given, Date.now())), ...(await checkStore(config.state))];
}

/** Without any call, for pipelines in which rules are changed. */
async function checkRulesOnly(flags: CheckFlags, input: ConfigInput, io: CommandIo): Promise<number> {
  const assumed = assumedConfig(input);
  const rules = await rulesReport(assumed, flags, io);
  if (rules === undefined) {
    const remedy = "name it with --rules, or in cutover.rulesFile";
    throw new ArgumentError({ where: "--rules-only", what: "there is no rules file", remedy });
  }
  const findings = [...rules.findings, ...(await clientsOfRules(assumed, rules))];
  io.print(reportText(findings, { title: rules.file, platform: undefined, rules }, flags, io));
  return exitCodeOf(verdictOf(findings), flags.strict === true);
}

/** Nothing where the options `clients.*` are not given: the rules may be for any configuration. */
async function clientsOfRules(
  { config, known }: AssumedConfig,
  { given }: CheckRulesReport,
): Promise<readonly Finding[]> {
  // The salt is not read here, and hashes cannot be told without it.
  const isHashed = config.clients.hash && config.cutover.saltFile !== undefined;
  if (!known || isHashed) return [];
  const { checkClients } = await import("./clients.ts");
  return checkClients(config, given);
}

async function checkAll(
  flags: CheckFlags,
  input: ConfigInput,
  variable: string | undefined,
  io: CommandIo,
): Promise<number> {
  const { config, warnings, requireKnown } = loadConfig(input);
  const catalogue = await catalogueFor(config.upstream.v2.version);
  if (catalogue !== undefined) requireKnown(catalogue);
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const token = tokenFrom({ file: flags.tokenFile, variable: { name: CHECK_TOKEN_VARIABLE, value: variable } }, io);
  const { writeUnder, writeConfig } = flags;
  if (writeUnder !== undefined && !isUid(writeUnder)) {
    throw new ArgumentError({ where: "--write-under", what: "this is no uid", remedy: "give the uid of a group" });
  }
  if (writeConfig !== undefined && flags.force !== true) refuseExisting(writeConfig, io);
  const rules = await rulesReport({ config, known: true, modeKnown: true }, flags, io);
  const native = config.upstream.v1 !== undefined;
  const code = await stoppable(writeUnder !== undefined, io, async (signal) => {
    const { runCheck } = await import("./check.ts");
    const report = await runCheck({
      config,
      serves: ({ resource, operation: { name, guessed } }) =>
        servingMode(rules?.given, config.cutover.mode, {
          resource: resource.name,
          operation: name,
          write: false,
          guessed: native && guessed === true,
        }),
      token,
      writeUnder,
      now: Date.now,
      random: Math.random,
      signal,
    });
    const { checkClients } = await import("./clients.ts");
    const clients = await checkClients(config, rules?.given);
    const state = await stateFindings(config, rules);
    const { checkPort } = await import("./port.ts");
    const port = await checkPort(config.listen, process.versions.node);
    const { checkRecording } = await import("./recording.ts");
    const recording = await checkRecording(config, Date.now());
    const findings = [...report.findings, ...(rules?.findings ?? []), ...clients, ...state, ...recording, ...port];
    const platform = { url: config.upstream.v2.url, version: report.version };
    const title = `${platform.url}, ${platform.version}`;
    const text = reportText(findings, { title, platform, rules }, flags, io);
    // The platform could put anything into a name that is shown, this included.
    io.print(token === undefined ? text : text.replaceAll(token, "[token]"));
    // After the report, which is not lost when the file cannot be written.
    if (writeConfig !== undefined) writeFoundConfig(writeConfig, flags, input, findings, io);
    return exitCodeOf(verdictOf(findings), flags.strict === true);
  });
  if (code === undefined) io.warn("stopped before anything was written");
  return code ?? 1;
}

/**
 * A check that writes must not simply be killed: first it removes what it created and prints what it found. Undefined:
 * stopped before it wrote.
 */
async function stoppable<T>(writes: boolean, io: CommandIo, work: (signal: Signal) => Promise<T>) {
  const stopper = createSignalController();
  const running = work(stopper.signal).catch((error: unknown) => {
    if (stopper.signal.aborted) return undefined;
    throw error;
  });
  if (writes) {
    io.onStop(async () => {
      stopper.abort(new Error("the check was stopped"));
      await running;
      // Nobody is to take this for a successful check.
      throw new Error("the check was stopped");
    });
  }
  return running;
}

/** Undefined when no rules file is named. */
async function rulesReport(
  { config, known, modeKnown }: AssumedConfig,
  { rules }: CheckFlags,
  io: CommandIo,
): Promise<CheckRulesReport | undefined> {
  if (rules === undefined && config.cutover.rulesFile === undefined) return undefined;
  const catalogue = await catalogueFor(config.upstream.v2.version);
  // Without an address of v2 no configuration was given: it cannot lack the address of v1.
  const native = known ? undefined : true;
  return checkRules({ file: rules, config, modeKnown, catalogue, readFile: io.readFile, now: Date.now(), native });
}

async function catalogueFor(version: string): Promise<Catalogue | undefined> {
  return (await catalogueVersions()).includes(version) ? loadCatalogue(version) : undefined;
}

/** What the report is about. */
interface ReportSubject {
  readonly title: string;
  /** Undefined if no platform was asked. */
  readonly platform: { readonly url: string; readonly version: string } | undefined;
  /** Undefined without a rules file, or if it was not looked at. */
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

function reportText(
  findings: readonly Finding[],
  { title, platform, rules }: ReportSubject,
  { json }: CheckFlags,
  io: CommandIo,
): string {
  if (json !== true) return findingsText(findings, { title, rules }, paintFor(io));
  const about = {
    ...(platform === undefined ? {} : { upstream: platform.url, version: platform.version }),
    ...(rules === undefined
      ? {}
      : { rules: { file: rules.file, digest: rules.digest, rules: rules.rules, default: rules.default } }),
  };
  return JSON.stringify({ ...about, verdict: verdictOf(findings), findings }, null, 2);
}

/** One line a finding, what to do below it, the verdict last. */
function findingsText(
  findings: readonly Finding[],
  { title, rules }: Pick<ReportSubject, "title" | "rules">,
  paint: Paint,
): string {
  const width = Math.max(...findings.map(({ probe }) => probe.length), 0);
  const indent = " ".repeat(11 + width);
  const lines = findings.flatMap(({ probe, level, what, remedy, set }) => [
    // A rules file may hold control characters of a terminal.
    `${paint(LEVEL_COLOURS[level], level.padEnd(7))}  ${probe.padEnd(width)}  ${printable(what)}`,
    ...(remedy === "" ? [] : [`${indent}${remedy}`]),
    ...(set === undefined ? [] : [`${indent}set ${set.path}: ${set.value}`]),
  ]);
  const decisions = rules === undefined ? [] : decisionLines(rules);
  return [
    `carryover check of ${title}`,
    "",
    ...lines,
    "",
    ...(decisions.length === 0 ? [] : [...decisions, ""]),
    paint(LEVEL_COLOURS[VERDICT_LEVELS[verdictOf(findings)]], verdictLine(findings)),
  ].join("\n");
}

/** `usable: 2 warnings, 1 not judged`. */
function verdictLine(findings: readonly Finding[]): string {
  const levels = (level: FindingLevel) => findings.filter((finding) => finding.level === level).length;
  const counts = [
    [levels("fail"), "failure", "failures"],
    [levels("warn"), "warning", "warnings"],
    [levels("skipped"), "not judged", "not judged"],
    [findings.filter(({ set }) => set !== undefined).length, "option to set", "options to set"],
  ] as const;
  const words = counts.flatMap(([count, one, many]) => (count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]));
  const verdict = verdictOf(findings);
  const line = [VERDICT_WORDS[verdict], ...(words.length === 0 ? [] : [words.join(", ")])].join(": ");
  return verdict === "unjudged" ? `${line}; no list was read: give a token that may read them, ${HOW_TO_GIVE}` : line;
}

/** Throws ArgumentError when the file exists: before anything is sent. */
function refuseExisting(file: string, { readFile }: CommandIo): void {
  try {
    readFile(file);
  } catch {
    return;
  }
  throw existsAlready(file);
}

function existsAlready(file: string): ArgumentError {
  const what = `${file} is there already`;
  return new ArgumentError({ where: "--write-config", what, remedy: "name another file, or add --force" });
}

/** Writes the given configuration, with what `findings` set. Throws ArgumentError when the file cannot be written. */
function writeFoundConfig(
  file: string,
  { force }: CheckFlags,
  { flags, env }: ConfigInput,
  findings: readonly Finding[],
  io: CommandIo,
): void {
  const named = flags["config"] ?? env[FILE_VARIABLE];
  const source =
    typeof named === "string" && named !== ""
      ? { name: named, text: new TextDecoder().decode(io.readFile(named)) }
      : undefined;
  const changes = findings.flatMap(({ set }) => set ?? []);
  const text = writtenConfig({ flags, env, file: source }, configOptions(), changes);
  try {
    io.writeFile(file, text, force === true);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EEXIST") throw existsAlready(file);
    const what = `${file} cannot be written (${String(error.code)})`;
    throw new ArgumentError({ where: "--write-config", what, remedy: "name a file that can be written" });
  }
  io.warn(`written: ${file}`);
}
