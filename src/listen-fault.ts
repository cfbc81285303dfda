/** Which of our own ports could not be had, and which option moves it? */

/** One port that a command opens. */
export interface Place {
  /** `the client side`. */
  readonly what: string;
  readonly port: number;
  /** `--listen-port`. */
  readonly option: string;
  /** Its address and the option that moves it; undefined when there is none. */
  readonly host?: { readonly address: string; readonly option: string };
}

const REMEDIES: ReadonlyMap<unknown, (option: string, hostOption: string) => string> = new Map([
  [
    "EADDRINUSE",
    (option) =>
      `Another process listens there: stop it, or choose other ports: ${option} moves this one (0 takes any free one).`,
  ],
  [
    "EACCES",
    (option) => `This process may not listen there (ports below 1024 take a privilege): ${option} moves it elsewhere.`,
  ],
  ["EADDRNOTAVAIL", (_option, hostOption) => `This machine has no such address: correct ${hostOption}.`],
]);

/** For a person; undefined when `error` is not about listening at one of `places`. */
function listenFault(error: unknown, places: readonly Place[]): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const remedy = REMEDIES.get(error.code);
  const here = places.filter((place) => isAbout(error, place));
  if (remedy === undefined || here.length === 0) return undefined;
  const option = either(here.map((place) => place.option));
  const hostOption = either(here.flatMap(({ host }) => host?.option ?? []));
  return `${either(here.map(({ what }) => what))} cannot listen: ${error.message}\n${remedy(option, hostOption)}`;
}

/** Two ports of a process differ; for a port of 0 there is no number in the error. */
function isAbout(error: Error, { port, host }: Place): boolean {
  return "port" in error ? error.port === port : "address" in error && error.address === host?.address;
}

function either(words: readonly string[]): string {
  return [...new Set(words)].join(" or ");
}

/** Does what opens `places`. One that cannot be had is told, and ends the command with 1. */
export async function opening(
  places: readonly Place[],
  io: { warn(text: string): void },
  outcome: { code: number | undefined },
  open: () => Promise<void>,
): Promise<void> {
  try {
    await open();
  } catch (error) {
    const fault = listenFault(error, places);
    if (fault === undefined) throw error;
    io.warn(fault);
    outcome.code = 1;
  }
}
