/** What can be asked of carryover on the command line? */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { DemoPorts } from "./commands/demo.ts";
import { type ListenPort, openPorts } from "./commands/listening.ts";
import type { ConfigInput } from "./config/config.ts";
import { ConfigError } from "./config/faults.ts";
import { VERSION } from "./version.ts";

/** The process, as far as a command needs it. */
export interface Io {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  print(text: string): void;
  warn(text: string): void;
  /**
   * Registers what is to happen when the process is told to stop: `graceMs` is the longest wait, by default what the command
   * itself thinks right. When it rejects, something was lost.
   */
  onStop(stop: (graceMs?: number) => Promise<void>, options?: StopOptions): void;
  /** Registers what is to happen when the process is told to read its files again (SIGHUP), before `onStop`; it must not reject. */
  onReload(reload: () => Promise<void>): void;
  /** Registers what is to happen in the last moment of the process, whatever ends it; nobody waits for it. */
  onExit(run: () => void): void;
}

export interface StopOptions {
  /** When the process ends whatever is still under way, milliseconds after it was told to. */
  readonly withinMs: number;
  /** Hears of errors that nobody caught. After the first one the process is told to stop. */
  readonly failed: (error: unknown) => void;
}

/** Exit code for a command line or configuration that is wrong (as sysexits has it). */
const USAGE = 64;

/** Runs one command. Gives the exit code, or undefined while the process is to live on. */
export async function run(argv: readonly string[], io: Io): Promise<number | undefined> {
  const outcome: { code: number | undefined } = { code: undefined };
  try {
    const program = await createProgram(argv, io, outcome);
    await program.parseAsync([...argv], { from: "user" });
    return outcome.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : (outcome.code ?? USAGE);
    io.warn(errorText(error));
    return error instanceof ConfigError ? USAGE : 1;
  }
}

/** What a person can do with it: configuration faults say everything in their message. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ConfigError ? error.message : (error.stack ?? error.message);
}

type Outcome = { code: number | undefined };

/** In the order of the help text. Each loads the code that it needs, and no other command's. */
const COMMANDS: ReadonlyMap<string, (program: Command, io: Io, outcome: Outcome) => Promise<void>> = new Map([
  ["serve", addServe],
  ["demo", addDemo],
  ["sandbox", addSandbox],
  ["check", async (...all) => (await import("./commands/check/command.ts")).addCheck(...all)],
  ["explain", async (...all) => (await import("./commands/explain/command.ts")).addExplain(...all)],
  ["report", async (...all) => (await import("./commands/report/command.ts")).addReport(...all)],
]);

/** The commands that can be meant by a command line whose first word is `first`. */
function commandsFor(first: string | undefined) {
  if (first === "--version" || first === "-V") return [];
  const named = COMMANDS.get(first ?? "");
  return named === undefined ? [...COMMANDS.values()] : [named];
}

async function createProgram(argv: readonly string[], io: Io, outcome: Outcome): Promise<Command> {
  const program = new Command("carryover")
    .description("Keeps v1 API clients working while the platform behind it moves to v2.")
    .version(VERSION)
    .showHelpAfterError("(see carryover --help)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.print(text.trimEnd()), writeErr: (text) => io.warn(text.trimEnd()) });
  for (const add of commandsFor(argv[0])) await add(program, io, outcome);
  for (const command of program.commands) hintAt(command);
  return program;
}

/** A wrong option is answered with the help that lists the right ones. */
function hintAt(command: Command): void {
  const hint = (text: string) =>
    optionHint(
      text,
      command.options.flatMap(({ long }) => long ?? []),
    );
  command
    .showHelpAfterError(`(see carryover ${command.name()} --help)`)
    .configureOutput({ outputError: (text, write) => write(text + hint(text)) });
}

async function addServe(program: Command, io: Io, outcome: Outcome): Promise<void> {
  const { optionFlags } = await import("./config/config.ts");
  const serve = program.command("serve").description("serve v1 clients from a v2 platform");
  for (const { flags, description, default: byDefault, env } of optionFlags()) {
    const text = byDefault === undefined ? description : `${description} (default: ${byDefault})`;
    serve.option(flags, `${text} [${env}]`);
  }
  serve.action(async (flags: Record<string, unknown>) => {
    const { serveClients } = await import("./serve.ts");
    await serveClients(flags, io, outcome);
  });
}

async function addDemo(program: Command, io: Io, outcome: Outcome): Promise<void> {
  program
    .command("demo")
    .description("start a sandbox platform and carryover in front of it, and print calls to try")
    .option("--tour", "make the calls, show what happens, and end")
    .option("--port <number>", "port of carryover", readPort, 8080)
    .option("--admin-port <number>", "port of its admin side", readPort, 8081)
    .option("--sandbox-port <number>", "port of the sandbox", readPort, 8090)
    .action(
      async ({
        tour,
        port,
        adminPort,
        sandboxPort,
      }: {
        tour?: true;
        port: number;
        adminPort: number;
        sandboxPort: number;
      }) => {
        const { runDemo, runTour } = await import("./commands/demo.ts");
        if (tour === true) {
          outcome.code = await runTour(io);
          return;
        }
        const ports: DemoPorts = { listen: port, admin: adminPort, sandbox: sandboxPort };
        const places: ListenPort[] = [
          { what: "carryover", port, option: "--port" },
          { what: "carryover's admin side", port: adminPort, option: "--admin-port" },
          { what: "the sandbox", port: sandboxPort, option: "--sandbox-port" },
        ];
        await openPorts(places, io, outcome, () => runDemo(ports, io));
      },
    );
}

interface SandboxFlags {
  readonly port: number;
  readonly host: string;
  readonly seed: string;
  readonly records: number;
  readonly latency: number;
  readonly tokens: "keyset" | "offset";
  readonly tokenLifetime: number;
  readonly errorRate: number;
  readonly recordTimes: "all" | "published";
}

async function addSandbox(program: Command, io: Io, outcome: Outcome): Promise<void> {
  program
    .command("sandbox")
    .description("start only the sandbox: v2, native v1 and token exchange over made-up records")
    .option("--port <number>", "port to listen on", readPort, 8090)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--seed <text>", "everything made up follows from it", "sandbox")
    .option("--records <number>", "further groups, for long lists", readWhole, 0)
    .option("--latency <milliseconds>", "wait before every answer", readWhole, 0)
    .option(
      "--tokens <style>",
      "page tokens remember a record (keyset) or a row number (offset)",
      readOneOf("keyset", "offset"),
      "keyset",
    )
    .option("--token-lifetime <seconds>", "after which a page token restarts its list", readWhole, 3 * 86_400)
    .option("--error-rate <share>", "share of calls answered 503, 0 to 1", readShare, 0)
    .option(
      "--record-times <which>",
      "v1 records with createdAt and updatedAt: all, or those whose published messages have them (published)",
      readOneOf("all", "published"),
      "all",
    )
    .action(async (flags: SandboxFlags) => {
      const { createSandbox } = await import("#sandbox");
      const sandbox = createSandbox({
        seed: flags.seed,
        size: flags.records,
        latencyMs: flags.latency,
        tokens: flags.tokens,
        tokenLifetimeMs: flags.tokenLifetime * 1000,
        errorRate: flags.errorRate,
        recordTimes: flags.recordTimes,
      });
      const place: ListenPort = {
        what: "the sandbox",
        port: flags.port,
        option: "--port",
        host: { address: flags.host, option: "--host" },
      };
      await openPorts([place], io, outcome, async () => {
        const { url } = await sandbox.listen(flags.port, flags.host);
        io.onStop(() => sandbox.close());
        io.print(`Sandbox platform (made-up records) at ${url}\n\nTOKEN=${sandbox.token("admin")}`);
        io.print(`curl -s -H "Authorization: Bearer $TOKEN" '${url}/iam/v2beta1/groups?page_size=2'`);
        io.print(`curl -s -H "Authorization: Bearer $TOKEN" '${url}/iam/v1/roles?name=viewer'`);
      });
    });
}

function readWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

function readPort(text: string): number {
  const port = readWhole(text);
  if (port > 65535) throw new InvalidArgumentError("expected a port from 0 (any free one) to 65535");
  return port;
}

function readShare(text: string): number {
  const share = Number(text);
  if (text === "" || !(share >= 0 && share <= 1)) throw new InvalidArgumentError("expected a number from 0 to 1");
  return share;
}

function readOneOf<Word extends string>(...words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word === undefined) throw new InvalidArgumentError(`expected ${words.join(" or ")}`);
    return word;
  };
}

/** Which option did somebody mean who gave one that there is not? (Beside the parser's own guess, which knows misspellings only.) */

const MAX_HINTS = 5;

/**
 * `message`: the parser's. `options`: long names of that command's. Gives a line to print below it, or an empty text: for
 * `--port` those that end in the same word, else those that have it.
 */
export function optionHint(message: string, options: readonly string[]): string {
  const [, given] = /unknown option '(--[\w-]+)/.exec(message) ?? [];
  if (given === undefined || message.includes("Did you mean")) return "";
  const word = lastWord(given);
  const last = options.filter((option) => lastWord(option) === word);
  const same = last.length > 0 ? last : options.filter((option) => option.slice(2).split("-").includes(word));
  if (same.length === 0 || same.length > MAX_HINTS) return "";
  return `(Did you mean ${same.length > 1 ? "one of " : ""}${same.join(", ")}?)\n`;
}

function lastWord(option: string): string {
  return option.slice(option.lastIndexOf("-") + 1).toLowerCase();
}
