/** The command line of carryover. */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { CommandIo, Outcome } from "./commands/command.ts";
import { openPorts } from "./commands/listening.ts";
import { ConfigError, remedyOfRemoved } from "./config/faults.ts";
import { StateInUse } from "./state/lock.ts";
import { VERSION } from "./version.ts";

/** Exit code for a wrong command line or configuration (EX_USAGE of sysexits.h). */
const USAGE = 64;

/** Runs one command. Gives the exit code, or undefined while the process is to keep running. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number | undefined> {
  const outcome: Outcome = { code: undefined };
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

/** These errors say everything in their messages. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ConfigError || error instanceof StateInUse ? error.message : (error.stack ?? error.message);
}

/** In the order of the help text. Each loads only the code that it needs. */
const COMMANDS: ReadonlyMap<string, (program: Command, io: CommandIo, outcome: Outcome) => void | Promise<void>> =
  new Map([
    ["serve", addServe],
    ["demo", addDemo],
    ["sandbox", addSandbox],
    ["check", async (...parts) => (await import("./commands/check/command.ts")).addCheck(...parts)],
    ["explain", async (...parts) => (await import("./commands/explain/command.ts")).addExplain(...parts)],
    ["replay", async (...parts) => (await import("./commands/replay/command.ts")).addReplay(...parts)],
    ["status", async (...parts) => (await import("./commands/status/command.ts")).addStatus(...parts)],
    ["gate", async (...parts) => (await import("./commands/status/command.ts")).addGate(...parts)],
    ["force", async (...parts) => (await import("./commands/status/command.ts")).addForce(...parts)],
    ["confirm", async (...parts) => (await import("./commands/status/command.ts")).addConfirm(...parts)],
    ["events", async (...parts) => (await import("./commands/events/command.ts")).addEvents(...parts)],
    ["forget", async (...parts) => (await import("./commands/status/command.ts")).addForget(...parts)],
    ["way-out", async (...parts) => (await import("./commands/way-out/command.ts")).addWayOut(...parts)],
    ["exam", async (...parts) => (await import("./commands/exam/command.ts")).addExam(...parts)],
    ["letter", async (...parts) => (await import("./commands/letter/command.ts")).addLetter(...parts)],
    ["report", async (...parts) => (await import("./commands/report/command.ts")).addReport(...parts)],
  ]);

/** The commands that a command line whose first word is `first` can mean. */
function commandsFor(first: string | undefined) {
  if (first === "--version" || first === "-V") return [];
  const named = COMMANDS.get(first ?? "");
  return named === undefined ? [...COMMANDS.values()] : [named];
}

async function createProgram(argv: readonly string[], io: CommandIo, outcome: Outcome): Promise<Command> {
  const program = new Command("carryover")
    .description("Keeps v1 API clients working while the platform moves to v2.")
    .version(VERSION)
    .showHelpAfterError("(see carryover --help)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.print(text.trimEnd()), writeErr: (text) => io.warn(text.trimEnd()) });
  for (const add of commandsFor(argv[0])) await add(program, io, outcome);
  for (const command of program.commands) {
    const options = command.options.flatMap(({ long }) => long ?? []);
    command
      .showHelpAfterError(`(see carryover ${command.name()} --help)`)
      .configureOutput({ outputError: (text, write) => write(text + optionHint(text, options)) });
  }
  return program;
}

async function addServe(program: Command, io: CommandIo, outcome: Outcome): Promise<void> {
  const { addConfigOptions } = await import("./commands/command.ts");
  const serve = program.command("serve").description("serve v1 clients from a v2 platform");
  addConfigOptions(serve);
  serve.action(async (flags: Record<string, unknown>) => {
    const { serveClients } = await import("./commands/serve.ts");
    outcome.code = await serveClients(flags, io);
  });
}

interface DemoFlags {
  readonly tour?: true;
  readonly listenPort: number;
  readonly adminPort: number;
  readonly sandboxPort: number;
}

function addDemo(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("demo")
    .description("start a sandbox platform and carryover in front of it, and print calls to try")
    .option("--tour", "make the calls, show what happens, and end")
    .option("--listen-port <number>", "port of carryover", readPort, 8080)
    .option("--admin-port <number>", "port of its admin side", readPort, 8081)
    .option("--sandbox-port <number>", "port of the sandbox", readPort, 8090)
    .action(async ({ tour, listenPort, adminPort, sandboxPort }: DemoFlags) => {
      if (tour === true) {
        const { runTour } = await import("./commands/demo/demo.ts");
        outcome.code = await runTour(io);
        return;
      }
      const { runDemo } = await import("./commands/demo/demo.ts");
      const ports = [
        { what: "carryover", port: listenPort, option: "--listen-port" },
        { what: "carryover's admin side", port: adminPort, option: "--admin-port" },
        { what: "the sandbox", port: sandboxPort, option: "--sandbox-port" },
      ];
      outcome.code = await openPorts(ports, io, () =>
        runDemo({ listen: listenPort, admin: adminPort, sandbox: sandboxPort }, io),
      );
    });
}

interface SandboxFlags {
  readonly listenPort: number;
  readonly listenHost: string;
  readonly seed: string;
  readonly records: number;
  readonly latency: number;
  readonly tokens: "keyset" | "offset";
  readonly tokenLifetime: number;
  readonly errorRate: number;
  readonly recordTimes: "all" | "published";
  readonly descriptors?: string;
}

function addSandbox(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("sandbox")
    .description("start only the sandbox: v2, native v1 and token exchange over made-up records")
    .option("--listen-port <number>", "port to listen on", readPort, 8090)
    .option("--listen-host <address>", "address to listen on", "127.0.0.1")
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
    .option("--descriptors <file>", "write the descriptors of its gRPC services into a file, for grpc.descriptors")
    .action(
      async ({
        listenPort: port,
        listenHost,
        records,
        latency,
        tokenLifetime,
        descriptors,
        ...options
      }: SandboxFlags) => {
        const { createSandbox } = await import("#sandbox");
        const sandbox = createSandbox({
          ...options,
          size: records,
          latencyMs: latency,
          tokenLifetimeMs: tokenLifetime * 1000,
        });
        if (descriptors !== undefined) io.writeFile(descriptors, sandbox.descriptors(), true);
        const host = { address: listenHost, option: "--listen-host" };
        const ports = [{ what: "the sandbox", port, option: "--listen-port", host }];
        outcome.code = await openPorts(ports, io, async () => {
          const { url } = await sandbox.listen(port, listenHost);
          io.onStop(() => sandbox.close());
          io.print(
            `Sandbox platform (made-up records) over HTTP and gRPC at ${url}\n\nTOKEN=${sandbox.token("admin")}`,
          );
          io.print(`# v2 lets only staff change the readme of a repo:\nSTAFF=${sandbox.token("staff")}`);
          io.print(`curl -s -H "Authorization: Bearer $TOKEN" '${url}/iam/v2beta1/groups?page_size=2'`);
          io.print(`curl -s -H "Authorization: Bearer $TOKEN" '${url}/iam/v1/roles?name=viewer'`);
        });
      },
    );
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

const MAX_HINTS = 5;

/**
 * Suggests options for an unknown one, beside commander's own guess, which finds only misspellings. `--port` suggests the
 * options whose last word is the same, or else those that contain the word. Gives a line to print below `message`, or an
 * empty text.
 */
function optionHint(message: string, options: readonly string[]): string {
  const [, given] = /unknown option '(--[\w-]+)/.exec(message) ?? [];
  if (given === undefined) return "";
  const remedy = remedyOfRemoved(given);
  if (remedy !== undefined) return `(${remedy})\n`;
  if (message.includes("Did you mean")) return "";
  const word = lastWord(given);
  const last = options.filter((option) => lastWord(option) === word);
  const same = last.length > 0 ? last : options.filter((option) => option.slice(2).split("-").includes(word));
  if (same.length === 0 || same.length > MAX_HINTS) return "";
  return `(Did you mean ${same.length > 1 ? "one of " : ""}${same.join(", ")}?)\n`;
}

function lastWord(option: string): string {
  return option.slice(option.lastIndexOf("-") + 1).toLowerCase();
}
