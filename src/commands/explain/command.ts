/** `carryover explain`: its options, and what it prints. */
import type { Command } from "commander";
import { type Catalogue, catalogueVersions, loadCatalogue } from "../../catalogue.ts";
import { assumedConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { Problem } from "../../model/problem.ts";
import { addConfigOptions, type CommandIo, type Outcome } from "../command.ts";
import { paintFor, printable, printableAll } from "../terminal.ts";
import { curlLines, explanationText, upstreamAddresses } from "./print.ts";
import { invalidRequest, readRequest } from "./request.ts";
import type { ExplainCutover } from "./rule.ts";

/** Beside the options of the configuration. */
interface ExplainFlags extends Readonly<Record<string, unknown>> {
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

/** What commander reports for a curl line without quotes around it. */
const UNQUOTED: ReadonlySet<string> = new Set(["commander.unknownOption", "commander.excessArguments"]);

/** Its exit code: 0 explained, 1 carryover would refuse the request, 2 the request cannot be explained as given. */
export function addExplain(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("explain")
    .description("tell what would become of a v1 request, without sending anything")
    .argument("<request>", "'PUT /iam/v1/groups/UID', or a whole curl line in quotes; - reads it from standard input")
    .option("-d, --data <json>", "body of the request, or @file; @- is standard input")
    .option(
      "-H, --header <field>",
      "'Name: value'; may be repeated",
      (value, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value],
    )
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
  addConfigOptions(command);
  command.action(async (request: string, flags: ExplainFlags) => {
    try {
      outcome.code = await explainOnce(request, flags, io);
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof Problem)) throw error;
      io.warn(printable(error.message));
      outcome.code = USAGE;
    }
  });
}

/** Anyone who knows the bucket of a client knows the salt. */
const SALT = ["cutover.saltFile"];

async function explainOnce(text: string, flags: ExplainFlags, io: CommandIo): Promise<number> {
  const { json, curl, data, header = [], request: method } = flags;
  if (json === true && curl === true) throw invalidRequest("--json and --curl: give one of them");
  const given = {
    text: text === "-" ? Buffer.from(io.readStdin()).toString("utf8") : text,
    headers: header,
    ...(data === undefined ? {} : { data }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  };
  const request = readRequest(given, (path) => readBody(path, io));
  const assumed = assumedConfig({ flags, env: io.env, readFile: io.readFile }, SALT);
  const { config, known } = assumed;
  const { version } = config.upstream.v2;
  const versions = await catalogueVersions();
  if (!versions.includes(version))
    throw invalidRequest(`upstream.v2.version: known versions are ${versions.join(", ")}`);
  const { createExplain } = await import("./explain.ts");
  const catalogue = await loadCatalogue(version);
  const cutover = await cutoverOf(flags, assumed, catalogue, io);
  const explanation = await createExplain(config, catalogue, cutover)(request, flags.client);
  const addresses = upstreamAddresses(config, known);
  const shown = printableAll(explanation);
  if (json === true) io.print(printable(JSON.stringify(explanation, null, 2)));
  else io.print(curl === true ? curlLines(shown, addresses) : explanationText(shown, addresses, paintFor(io)));
  return explanation.refusal === null ? 0 : REFUSED;
}

/** The file of `@file`, from the working directory; `@-` is standard input. */
function readBody(path: string, io: CommandIo): Uint8Array {
  if (path === "-") return io.readStdin();
  try {
    return io.readFile(path);
  } catch (error) {
    throw invalidRequest(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** Undefined where everything is translated: there are no rules. */
async function cutoverOf(
  { rules, at, client }: ExplainFlags,
  { config, known }: ReturnType<typeof assumedConfig>,
  catalogue: Catalogue,
  io: CommandIo,
): Promise<ExplainCutover | undefined> {
  const { rulesFile, mode } = config.cutover;
  const hasRules = rules !== undefined || rulesFile !== undefined || mode !== "translate";
  if (!hasRules && (at !== undefined || client !== undefined))
    throw invalidRequest("--client and --at are about rules: name their file with --rules");
  // With native v1, guessed operations stay there also without rules.
  if (!hasRules && config.upstream.v1 === undefined) return undefined;
  const [{ cutoverFromConfig, instantOf }, { readGivenRules }] = await Promise.all([
    import("./rule.ts"),
    import("../../rollout/rules-file.ts"),
  ]);
  const now = at === undefined ? Date.now() : instantOf(at);
  const given = readGivenRules({
    file: rules,
    config,
    catalogue,
    readFile: io.readFile,
    now,
    expired: "warn",
    // Without the address of v2 no configuration was given: it cannot lack the address of v1.
    native: known ? undefined : true,
  });
  for (const warning of given?.warnings ?? []) io.warn(printable(`warning: ${warning}`));
  if (hasRules && !known) {
    io.warn(
      "warning: without a configuration the client's bucket is that of an empty cutover.salt, and what no rule takes is as cutover.mode is by default; name the running carryover's with --config",
    );
  }
  return cutoverFromConfig(config, given?.rules, now);
}
