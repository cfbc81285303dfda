/** Opening the ports of a command, and what to print when one cannot be opened. */
import type { CommandIo } from "./command.ts";

/** One port that a command opens. */
export interface ListenPort {
  /** `the client side`. */
  readonly what: string;
  readonly port: number;
  /** The option that changes the port: `--listen-port`. */
  readonly option: string;
  /** The address, and the option that changes it. */
  readonly host?: { readonly address: string; readonly option: string };
  /** `listen.reusePort` is set for it. */
  readonly isShared?: boolean;
}

/** Runs `open`, which opens `ports`. Gives exit code 1, with a message printed, when one of them cannot be opened. */
export async function openPorts(
  ports: readonly ListenPort[],
  io: Pick<CommandIo, "warn">,
  open: () => Promise<void>,
): Promise<number | undefined> {
  try {
    await open();
    return undefined;
  } catch (error) {
    const text = listenErrorText(error, ports);
    if (text === undefined) throw error;
    io.warn(text);
    return 1;
  }
}

/** Undefined when `error` is not about listening at one of `ports`. */
function listenErrorText(error: unknown, ports: readonly ListenPort[]): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const failed = ports.filter((port) => isAbout(error, port));
  const option = either(failed.map((port) => port.option));
  const isShared = failed.some(({ isShared }) => isShared);
  const remedy = remedyFor(error.code, option, either(failed.flatMap(({ host }) => host?.option ?? [])), isShared);
  if (remedy === undefined || failed.length === 0) return undefined;
  return `${either(failed.map(({ what }) => what))} cannot listen: ${error.message}\n${remedy}`;
}

function remedyFor(code: unknown, option: string, hostOption: string, isShared: boolean): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      if (isShared) {
        return `A process listens there that does not share the port with this one: set --listen-reuse-port for all of them, and run them as one user. Or stop it, or move this one with ${option}.`;
      }
      return `Another process listens there: stop it, or choose other ports: ${option} moves this one (0 takes any free one).`;
    case "EACCES":
      return `This process may not listen there (ports below 1024 take a privilege): ${option} moves it elsewhere.`;
    case "EADDRNOTAVAIL":
      return `This machine has no such address: correct ${hostOption}.`;
    default:
      return undefined;
  }
}

/** The ports of a process differ; the error of port 0 holds no number. */
function isAbout(error: Error, { port, host }: ListenPort): boolean {
  return "port" in error ? error.port === port : "address" in error && error.address === host?.address;
}

function either(words: readonly string[]): string {
  return [...new Set(words)].join(" or ");
}
