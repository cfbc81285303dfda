/** How is `carryover explain` called, and what does it print? */
import { readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { styleText } from "node:util";
import { type Catalogue, catalogueVersions, loadCatalogue } from "../../catalogue.ts";
import { assumedConfig, type ConfigInput, optionFlags } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { Problem } from "../../model/problem.ts";
import { type Paint, printable, printableAll } from "../terminal.ts";
import { curlLines, explanationText, upstreamAddresses } from "./print.ts";
import { type GivenRequest, invalidRequest, type ReadFile, readRequest } from "./request.ts";
import type { ExplainCutover } from "./rule.ts";

/** The part of a command-line parser that is used here. */
interface Program {
  command(name: string): Program;
  description(text: string): Program;
  argument(name: string, text: string): Program;
  option(flags: string, text: string): Program;
  option<T>(flags: string, text: string, collect: (value: string, before: T) => T): Program;
  exitOverride(onExit: (error: { readonly exitCode: number; readonly code: string }) => never): Program;
  action(run: (request: string, flags: Record<string, unknown>) => Promise<void>): Program;
}

/** The process, as far as an explanation needs it; what is left out is taken from the real one. */
export interface ExplainIo {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  print(text: string): void;
  warn(text: string): void;
  /** All of standard input. */
  readStdin?(): Uint8Array;
  /** Whether a person at a terminal reads what is printed. */
  readonly terminal?: boolean;
}

/** Beside the options of `serve`. */
interface ExplainFlags {
  readonly request?: string;
  readonly header?: readonly string[];
  readonly data?: string;
  readonly json?: true;
  readonly curl?: true;
  readonly rules?: string;
  readonly client?: string;
  readonly at?: string;
}

const REFUSED = 1;
const USAGE = 2;

/** What a line without quotes around it looks like to the parser of options. */
const UNQUOTED: ReadonlySet<string> = new Set(["commander.unknownOption", "commander.excessArguments"]);

/** Adds the command. Its exit code: 0 explained, 1 carryover would refuse the request, 2 it cannot be explained as given. */
export function addExplain(program: Program, io: ExplainIo, outcome: { code: number | undefined }): void {
  const command = program
    .command("explain")
    .description("tell what would become of a v1 request, without sending anything")
    .argument("<request>", "'PUT /iam/v1/groups/UID', or a whole curl line in quotes; - reads it from standard input")
    .option("-d, --data <json>", "body of the request, or @file; @- is standard input")
    .option<readonly string[] | undefined>("-H, --header <field>", "'Name: value'; may be repeated", collect)
    .option("-X, --request <method>", "method, where the request does not say it")
    .option("--json", "print one JSON document (docs/explain.md)")
    .option("--curl", "print the v2 calls as curl lines")
    .option("--rules <file>", "rules that say who serves it, in place of cutover.rulesFile")
    .option("--client <name>", "who sends it, as rules name clients; otherwise its header fields say it")
    .option("--at <instant>", "for that day or time (2026-12-01T09:30Z) instead of now")
    .exitOverride((error) => {
      if (error.exitCode !== 0) outcome.code = USAGE;
      if (UNQUOTED.has(error.code))
        io.warn("A curl line stands in quotes, or comes on standard input: carryover explain -");
      throw error;
    });
  for (const { flags, description, default: byDefault, env } of optionFlags()) {
    command.option(
      flags,
      `${byDefault === undefined ? description : `${description} (default: ${byDefault})`} [${env}]`,
    );
  }
  command.action(async (request, flags) => {
    try {
      outcome.code = await explainOnce(request, flags, io);
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof Problem)) throw error;
      io.warn(printable(error.message));
      outcome.code = USAGE;
    }
  });
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** Who knows the client's bucket knows the salt. */
const SALT = ["cutover.saltFile"];

async function explainOnce(text: string, given: Record<string, unknown>, io: ExplainIo): Promise<number> {
  const flags = given as unknown as ExplainFlags;
  if (flags.json === true && flags.curl === true) throw invalidRequest("--json and --curl: give one of them");
  const request = readRequest(givenOf(text, flags, io), readerOf(io));
  const assumed = assumedConfig({ flags: given, env: io.env, readFile: io.readFile }, SALT);
  const { config, known } = assumed;
  const { version } = config.upstream.v2;
  const versions = await catalogueVersions();
  if (!versions.includes(version))
    throw invalidRequest(`upstream.v2.version: known versions are ${versions.join(", ")}`);
  // Loaded only for this command: `serve` is to start soon and to be small.
  const { createExplain } = await import("./explain.ts");
  const catalogue = await loadCatalogue(version);
  const cutover = await cutoverOf(flags, assumed, catalogue, io);
  const explanation = await createExplain(config, catalogue, cutover)(request, flags.client);
  const bases = upstreamAddresses(config, known);
  if (flags.json === true) io.print(printable(JSON.stringify(explanation, null, 2)));
  else {
    const shown = printableAll(explanation);
    io.print(flags.curl === true ? curlLines(shown, bases) : explanationText(shown, bases, paintFor(io)));
  }
  return explanation.refusal === null ? 0 : REFUSED;
}

function givenOf(text: string, { data, header, request }: ExplainFlags, io: ExplainIo): GivenRequest {
  return {
    text: text === "-" ? Buffer.from(stdinOf(io)).toString("utf8") : text,
    headers: header ?? [],
    ...(data === undefined ? {} : { data }),
    ...(request === undefined ? {} : { method: request.toUpperCase() }),
  };
}

/** `@file`, from the working directory; `@-` is standard input. */
function readerOf(io: ExplainIo): ReadFile {
  return (path) => {
    if (path === "-") return stdinOf(io);
    try {
      return io.readFile(path);
    } catch (error) {
      throw invalidRequest(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
  };
}

function stdinOf(io: ExplainIo): Uint8Array {
  return io.readStdin === undefined ? readFileSync(0) : io.readStdin();
}

/** Who would serve it: by the rules that are named, for the instant that is asked for. Undefined: everything is translated. */
async function cutoverOf(
  { rules, at, client }: ExplainFlags,
  { config, known }: ReturnType<typeof assumedConfig>,
  catalogue: Catalogue,
  io: ExplainIo,
): Promise<ExplainCutover | undefined> {
  const { rulesFile, mode } = config.cutover;
  const ruled = rules !== undefined || rulesFile !== undefined || mode !== "translate";
  if (!ruled && (at !== undefined || client !== undefined))
    throw invalidRequest("--client and --at are about rules: name their file with --rules");
  // Native v1 keeps what is only guessed.
  if (!ruled && config.upstream.v1 === undefined) return undefined;
  const [{ cutoverFromConfig, instantOf }, { readGivenRules }] = await Promise.all([
    import("./rule.ts"),
    import("../../rollout/rules-file.ts"),
  ]);
  const instant = at === undefined ? Date.now() : instantOf(at);
  const given = readGivenRules({
    file: rules,
    config,
    catalogue,
    readFile: io.readFile,
    now: instant,
    expired: "warn",
    // Without an address of v2 there is no configuration that could lack one of v1.
    native: known ? undefined : true,
  });
  for (const warning of given?.warnings ?? []) io.warn(printable(`warning: ${warning}`));
  if (ruled && !known) io.warn(`warning: ${UNCONFIGURED}`);
  return cutoverFromConfig(config, given?.rules, instant);
}

/** What the rules file leaves open. */
const UNCONFIGURED =
  "without a configuration the client's bucket is that of an empty cutover.salt, and what no rule takes is as cutover.mode is by default; name the running carryover's with --config";

/** Colours for a person at a terminal who did not ask for none (https://no-color.org). */
function paintFor(io: ExplainIo): Paint {
  const coloured = (io.terminal ?? isatty(1)) && (io.env["NO_COLOR"] ?? "") === "";
  // The stream was looked at already: newer versions of Node would look at their own.
  return (style, text) => (coloured && style !== "none" ? styleText(style, text, { validateStream: false }) : text);
}
