/** The command `carryover report`. */

import { type Command, Option } from "commander";
import { ArgumentError } from "../../config/faults.ts";
import type { MigrationReport } from "../../fleet/report-lines.ts";
import { TIME } from "../../model/clock.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { printable } from "../terminal.ts";
import {
  ADDRESSES_HELP,
  FROM_HELP,
  readAddresses,
  readAdminToken,
  readTimeout,
  readWindowFlags,
  TO_HELP,
  TOKEN_HELP,
  WINDOW_HELP,
  type WindowFlags,
} from "./arguments.ts";

interface ReportFlags extends WindowFlags {
  readonly tokenFile?: string;
  readonly resource?: string;
  readonly client?: string;
  readonly timeout?: string;
  readonly markdown?: true;
  readonly csv?: true;
  readonly json?: true;
  readonly failIfV1?: true;
}

const DEFAULT_TIMEOUT = "10";

/**
 * Adds the command. Its exit code: 0; 1 if v1 is in use and --fail-if-v1 was given; 2 if an instance did not respond, if
 * nobody knows the resource or client, or if --fail-if-v1 was given and it is not known whether v1 is in use.
 */
export function addReport(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("report")
    .description(
      "tell from running instances how far the migration is, who still calls v1, and what would break without carryover",
    )
    .argument("[addresses...]", ADDRESSES_HELP)
    .option("--token-file <file>", TOKEN_HELP)
    .option("--window <time>", WINDOW_HELP)
    .option("--from <time>", FROM_HELP)
    .option("--to <time>", TO_HELP)
    .addOption(new Option("--since <time>", "an older name of --window").hideHelp())
    .option("--resource <name>", "only this resource: group, groups")
    .option("--client <name>", "only this client, or those whose names begin so: ci-bot, ci-*")
    .option("--fail-if-v1", "end with exit code 1 when v1 is in use, with 2 when that is unknown")
    .option("--timeout <seconds>", `longest wait for an instance (default: ${DEFAULT_TIMEOUT})`)
    .option("--markdown", "print Markdown")
    .option("--csv", "print the clients as CSV")
    .option("--json", "print one JSON document (docs/report.md)")
    .action(async (addresses: readonly string[], flags: ReportFlags) => {
      outcome.code = await report(addresses, flags, io);
    });
}

async function report(args: readonly string[], flags: ReportFlags, io: CommandIo): Promise<number> {
  const show = await formatOf(flags);
  const addresses = readAddresses(args, io.env);
  const times = readWindowFlags(flags, TIME.wall());
  const timeoutMs = readTimeout(flags.timeout ?? DEFAULT_TIMEOUT);
  const token = readAdminToken(flags.tokenFile, io.env, io);
  // Loaded only for this command, so that `serve` starts fast.
  const [{ askFleet }, { createReport, exitCodeOf }, { warningsOf }, { readResource, unknownClient }] =
    await Promise.all([
      import("./ask.ts"),
      import("../../fleet/report.ts"),
      import("./formats.ts"),
      import("./names.ts"),
    ]);
  const resource = await readResource(flags.resource);
  if ("fault" in resource) return refuse(resource.fault, io);
  const options = { token, timeoutMs, fetch: io.fetch };
  const results = await askFleet(addresses, options, times);
  const unknown = unknownClient(flags.client, results);
  const fault = unknown && `--client: ${unknown}`;
  if (fault !== undefined) return refuse(withoutToken(fault, token), io);
  const whole = createReport(results, times, { resource: resource.name, client: flags.client });
  const safe = withoutToken(whole, token);
  io.print(show(safe));
  const failIfV1 = flags.failIfV1 === true;
  // The formats for people end with the verdict.
  const lacksVerdict = flags.csv === true || flags.json === true;
  for (const warning of warningsOf(safe, failIfV1 && lacksVerdict)) io.warn(warning);
  return exitCodeOf(whole, failIfV1);
}

/** Nothing is known of what was asked for: a gate must not open for a misspelt name. */
function refuse(fault: string, io: CommandIo): number {
  io.warn(fault);
  return 2;
}

/** An instance could return any text, even the token. */
function withoutToken<T extends MigrationReport | string>(told: T, token: string | undefined): T {
  if (token === undefined) return told;
  const clean: unknown = JSON.parse(JSON.stringify(told), (_, value: unknown) =>
    typeof value === "string" ? value.replaceAll(token, "[token]") : value,
  );
  return clean as T;
}

/** Throws `ArgumentError` for more than one format. */
async function formatOf({ markdown, csv, json }: ReportFlags): Promise<(report: MigrationReport) => string> {
  const formats = [markdown && "--markdown", csv && "--csv", json && "--json"].filter((flag) => flag !== undefined);
  if (formats.length > 1) {
    throw new ArgumentError({ where: formats.join(" "), what: "these are two formats", remedy: "choose one" });
  }
  if (json === true) return (report) => printable(JSON.stringify(report, null, 2));
  if (csv === true) return (await import("./csv.ts")).reportCsv;
  const { reportMarkdown, reportText } = await import("./formats.ts");
  return markdown === true ? reportMarkdown : reportText;
}
