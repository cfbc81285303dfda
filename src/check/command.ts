/** How is `carryover check` called, and what does it print? */
import { writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { catalogueVersions, loadCatalogue } from "../catalogue.ts";
import { ConfigError } from "../config/fault.ts";
import { FILE_VARIABLE } from "../config/sources.ts";
import { writtenConfig } from "../config/write.ts";
import { type Config, type ConfigInput, configOptions, loadConfig, optionFlags } from "../config.ts";
import { createStopper, type Signal } from "../model/signal.ts";
import { isUid } from "../model/uid.ts";
import { exitCodeOf, type Finding, verdictOf } from "./finding.ts";
import { jsonOf, textOf } from "./show.ts";
import { readStdin, readToken, TOKEN_VARIABLE } from "./token.ts";

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
  onStop(stop: (graceMs: number) => Promise<void>): void;
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
  const { config, warnings } = loadConfig(input);
  await refuseUnknownResources(input, config.upstream.v2.version);
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const token = readToken(flags.tokenFile, variable, { readFile: io.readFile, readStdin: io.readStdin ?? readStdin });
  refuseWrongUses(flags, io);
  const code = await stoppable(flags, io, (signal) => judged({ config, token, flags, input, signal }, io));
  if (code === undefined) io.warn("stopped before anything was written");
  return code ?? 1;
}

interface Judging {
  readonly config: Config;
  readonly token: string | undefined;
  readonly flags: CheckFlags;
  readonly input: ConfigInput;
  readonly signal: Signal;
}

/** Asks, prints what was found, writes the file that was asked for. Gives the exit code. */
async function judged({ config, token, flags, input, signal }: Judging, io: CheckIo): Promise<number> {
  // Loaded only for this command: `serve` is to start soon and to be small.
  const { runCheck } = await import("../check.ts");
  const { writeUnder } = flags;
  const report = await runCheck({ config, token, writeUnder, now: Date.now, random: Math.random, signal });
  const { version, findings } = report;
  const heading = { url: config.upstream.v2.url, version };
  const colour = (io.terminal ?? isatty(1)) && (io.env["NO_COLOR"] ?? "") === "";
  const text = flags.json === true ? jsonOf(findings, heading) : textOf(findings, heading, colour);
  // The platform could put anything into a name that is shown, this included.
  io.print(token === undefined ? text : text.replaceAll(token, "[token]"));
  // Behind the report: what was found is not lost with a file that cannot be written.
  if (flags.writeConfig !== undefined) writeConfig(flags.writeConfig, flags.force === true, input, findings, io);
  return exitCodeOf(verdictOf(findings), flags.strict === true);
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
  const stopper = createStopper();
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

/** `lists.require` may name resources, which only the catalogue knows: wrong ones are told as `serve` tells them. */
async function refuseUnknownResources(input: ConfigInput, version: string): Promise<void> {
  if (!(await catalogueVersions()).includes(version)) return;
  const { resources } = await loadCatalogue(version);
  loadConfig({ ...input, resources: resources.map(({ name }) => name) });
}

function refuseWrongUses({ writeUnder, writeConfig, force }: CheckFlags, io: CheckIo): void {
  if (writeUnder !== undefined && !isUid(writeUnder)) {
    throw new ConfigError([{ where: "--write-under", what: "this is no uid", remedy: "give the uid of a group" }]);
  }
  if (writeConfig === undefined || force === true) return;
  try {
    io.readFile(writeConfig);
  } catch {
    return;
  }
  throw new ConfigError([alreadyThere(writeConfig)]);
}

function alreadyThere(file: string) {
  return { where: "--write-config", what: `${file} is there already`, remedy: "name another file, or add --force" };
}

function writeConfig(
  file: string,
  replace: boolean,
  input: ConfigInput,
  findings: readonly Finding[],
  io: CheckIo,
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
