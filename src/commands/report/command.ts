/** How is `carryover report` called, and what does it print? */

import type { Command } from "commander";
import { ConfigError } from "../../config/faults.ts";
import type { CommandIo, Outcome } from "../command.ts";
import {
  ADMIN_TOKEN_VARIABLE,
  DEFAULT_ADDRESS,
  readAddress,
  readAdminToken,
  readTimeout,
  readWindow,
} from "./arguments.ts";
import type { MigrationReport } from "./report.ts";

interface ReportFlags {
  readonly tokenFile?: string;
  readonly since?: string;
  readonly timeout?: string;
  readonly markdown?: true;
  readonly csv?: true;
  readonly json?: true;
  readonly failIfV1?: true;
}

const DEFAULT_TIMEOUT = "10";

/**
 * Adds the command. Its exit code: 0 as hoped; 1 v1 is in use and --fail-if-v1 was given; 2 an instance was not heard, or
 * --fail-if-v1 was given and nobody can tell.
 */
export function addReport(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("report")
    .description(
      "tell from running instances how far the migration is, who still calls v1, and what would break without carryover",
    )
    .argument("[addresses...]", `admin ports, http://HOST:PORT or HOST:PORT (default: ${DEFAULT_ADDRESS})`)
    .option(
      "--token-file <file>",
      `file with the admin token, - for standard input [${ADMIN_TOKEN_VARIABLE}: the token]`,
    )
    .option("--since <time>", "how far back v1 counts as in use: 7d, 12h (default: as far as the instances remember)")
    .option("--fail-if-v1", "end with exit code 1 when v1 is in use, with 2 when that cannot be told")
    .option("--timeout <seconds>", `longest wait for an instance (default: ${DEFAULT_TIMEOUT})`)
    .option("--markdown", "print Markdown")
    .option("--csv", "print the clients as CSV")
    .option("--json", "print one JSON document (docs/report.md)")
    .action(async (addresses: readonly string[], flags: ReportFlags) => {
      outcome.code = await report(addresses, flags, io);
    });
}

async function report(given: readonly string[], flags: ReportFlags, io: CommandIo): Promise<number> {
  const show = await formOf(flags);
  const addresses = [...new Set((given.length === 0 ? [DEFAULT_ADDRESS] : given).map(readAddress))];
  const windowMs = flags.since === undefined ? undefined : readWindow(flags.since);
  const timeoutMs = readTimeout(flags.timeout ?? DEFAULT_TIMEOUT);
  const token = readAdminToken(flags.tokenFile, io.env[ADMIN_TOKEN_VARIABLE], io);
  // Loaded only for this command: `serve` is to start soon and to be small.
  const [{ ask }, { createReport }, { exitCodeOf }, { warningsOf }] = await Promise.all([
    import("./ask.ts"),
    import("./report.ts"),
    import("./report.ts"),
    import("./sections.ts"),
  ]);
  const options = { token, timeoutMs, fetch: io.fetch };
  const made = createReport(await Promise.all(addresses.map((address) => ask(address, options))), windowMs);
  const safe = token === undefined ? made : withoutToken(made, token);
  io.print(show(safe));
  const failIfV1 = flags.failIfV1 === true;
  // The forms for people end with it.
  const isUnsaid = flags.csv === true || flags.json === true;
  for (const warning of warningsOf(safe, failIfV1 && isUnsaid)) io.warn(warning);
  return exitCodeOf(made, failIfV1);
}

/** An instance could say anything, the token included. */
function withoutToken(made: MigrationReport, token: string): MigrationReport {
  const clean: unknown = JSON.parse(JSON.stringify(made), (_, value: unknown) =>
    typeof value === "string" ? value.replaceAll(token, "[token]") : value,
  );
  return clean as MigrationReport;
}

/** Throws `ConfigError` when more than one form is asked for. */
async function formOf({ markdown, csv, json }: ReportFlags): Promise<(report: MigrationReport) => string> {
  const asked = [markdown && "--markdown", csv && "--csv", json && "--json"].filter((flag) => flag !== undefined);
  if (asked.length > 1) {
    throw new ConfigError([{ where: asked.join(" "), what: "these are two forms", remedy: "choose one" }]);
  }
  if (markdown === true) return (await import("./formats.ts")).reportMarkdown;
  if (csv === true) return (await import("./formats.ts")).reportCsv;
  if (json === true) return (made) => JSON.stringify(made, null, 2).replaceAll(UNPRINTABLE, escapedUnits);
  return (await import("./formats.ts")).reportText;
}

/** What a terminal could take for more than a letter, and JSON lets stand; a line break is JSON's own here. */
const UNPRINTABLE = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;

function escapedUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
