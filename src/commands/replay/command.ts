/** `carryover replay`: its options, and what it does from the recording to the report. */
import type { Command } from "commander";
import { catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import { CHECK_TOKEN_VARIABLE } from "../../config/command-variables.ts";
import { loadConfig } from "../../config/config.ts";
import { ArgumentError } from "../../config/faults.ts";
import { later, TIME } from "../../model/clock.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { type Found, RecordingRefused } from "../../recording/found.ts";
import { createRecordingReader } from "../../recording/reader.ts";
import { createDoneSet } from "../../replay/done.ts";
import { createReplayPace } from "../../replay/pace.ts";
import { createReplayReport, exitCodeOf, type ReplayReport } from "../../replay/report.ts";
import { ReplayStopped, runReplay } from "../../replay/run.ts";
import { newSourceCount, type ReplayEntry, replayedRequests, type SourceOptions } from "../../replay/source.ts";
import { createTallying, newTally } from "../../replay/tally.ts";
import { createReplaySides } from "../../runtime/replay-sides.ts";
import { VERSION } from "../../version.ts";
import { addConfigOptions, type CommandIo, type Outcome } from "../command.ts";
import { paintFor, printable } from "../terminal.ts";
import { tokenFrom } from "../token-input.ts";
import { readNumber, readWritesTo } from "./arguments.ts";
import { replayJunit, replayMarkdown } from "./formats.ts";
import { replayPage } from "./page.ts";
import { progressLine } from "./progress.ts";
import { keyOf, openResumed, saving } from "./resume.ts";
import { replayText } from "./text.ts";
import { type GivenTokens, readTokens } from "./tokens.ts";

/** Besides the options of the configuration. */
interface ReplayFlags extends Readonly<Record<string, unknown>> {
  readonly tokenFile?: readonly string[];
  readonly rate: number;
  readonly concurrency: number;
  readonly sample: number;
  readonly client?: string;
  readonly resume?: string;
  readonly writesTo?: string;
  readonly writesTokenFile?: string;
  readonly json?: true;
  readonly markdown?: true;
  readonly junit?: true;
  readonly html?: true;
}

const USAGE = 64;
const MAX_RATE = 1_000;
const MAX_CONCURRENCY = 64;

/** Its exit code: 0 nothing differs, 1 something does, 2 that is not known, 64 it cannot be replayed as given. */
export function addReplay(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("replay")
    .description(
      "send recorded v1 requests to native v1 and to the translation, and compare their responses; it only reads",
    )
    .argument("<files...>", "recordings (record.file), access logs of nginx or Envoy, HAR; .gz as well")
    .option(
      "--token-file <[client=]file>",
      `file with a token of the platform, - for standard input; CLIENT=FILE for one client, may be repeated [${CHECK_TOKEN_VARIABLE}: the token]`,
      (value, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value],
    )
    .option("--rate <number>", "requests of the recording per second at most", readNumber(0.01, MAX_RATE), 10)
    .option("--concurrency <number>", "requests compared at a time", readNumber(1, MAX_CONCURRENCY, true), 4)
    .option("--sample <share>", "share of the requests to replay, the same ones each time", readNumber(0, 1), 1)
    .option("--client <name>", "only requests of this client, or of those whose names begin so: ci-bot, ci-*")
    .option("--resume <file>", "keep what is done in this file, and go on from there")
    .option("--writes-to <url>", "a platform to try writes on, of both versions; without it writes are left out")
    .option("--writes-token-file <file>", "file with a token of that platform; it gets no other")
    .option("--json", "print one JSON document (docs/replay.md)")
    .option("--markdown", "print Markdown")
    .option("--junit", "print JUnit's XML")
    .option("--html", "print one page of HTML that needs no other file");
  addConfigOptions(command);
  command.action(async (files: readonly string[], flags: ReplayFlags) => {
    try {
      outcome.code = await replay(files, flags, io);
    } catch (error) {
      if (!(error instanceof RecordingRefused)) throw error;
      io.warn(printable(error.message));
      outcome.code = USAGE;
    }
  });
}

async function replay(files: readonly string[], flags: ReplayFlags, io: CommandIo): Promise<number> {
  const show = formatOf(flags, io);
  const { config, warnings, requireKnown } = loadConfig({
    flags,
    env: io.env,
    readFile: io.readFile,
    reads: READ_FILES,
  });
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) {
    const remedy = "set upstream.v1.url: its responses are what the translation is compared with";
    throw new ArgumentError({ where: "upstream.v1.url", what: "there is no native v1", remedy });
  }
  const versions = await catalogueVersions();
  if (!versions.includes(v2.version)) {
    const remedy = `known versions are ${versions.join(", ")}`;
    throw new ArgumentError({ where: "upstream.v2.version", what: `there is no ${v2.version}`, remedy });
  }
  const catalogue = await loadCatalogue(v2.version);
  requireKnown(catalogue);
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const tokens = { ...readTokens(flags.tokenFile ?? [], io), ofWrites: writesToken(flags, io) };
  const writesTo = flags.writesTo === undefined ? undefined : readWritesTo(flags.writesTo, [v1.url, v2.url]);
  const { now, wall, sleep } = TIME;
  const pace = createReplayPace({ rate: flags.rate, now, wall, sleep });
  const { concurrency } = flags;
  const sides = createReplaySides(config, catalogue, { observe: pace.observe, concurrency, writesTo });
  const source: SourceOptions = {
    files,
    read: readable(createRecordingReader()),
    kindOf: sides.kindOf,
    sample: flags.sample,
    client: flags.client,
    basePath: config.listen.basePath,
    hasToken: tokens.has,
  };
  // The whole recording is read before anything is sent: it may hold a credential, and the progress needs the number of requests.
  const count = newSourceCount();
  for await (const _ of replayedRequests(source, count));
  const progress = await openResumed(flags.resume);
  const stopping = stoppable(io);
  try {
    const key = await keyOf(files, flags, config);
    if (progress?.saved !== undefined && progress.saved.key !== key) {
      const what = `${flags.resume} is the progress of another replay: of other files, options or another version`;
      throw new ArgumentError({ where: "--resume", what, remedy: "name another file, or delete it to begin again" });
    }
    const tally = progress?.saved?.tally ?? newTally();
    const done = createDoneSet(progress?.saved?.done);
    const add = createTallying(tally, { values: config.shadow.values, recordTimes: config.v1.recordTimes });
    const save = saving(progress, () => ({ key, done: done.snapshot(), tally }), flags, io);
    const stopped = await running({ io, count: count.selected, done, tally, pace, stopping }, ({ stop, abort }) =>
      runReplay({
        entries: undone(replayedRequests(source, newSourceCount()), done.has),
        sides,
        pace,
        concurrency,
        tokens,
        sleep,
        done: (entry, verdict) => {
          add(entry, verdict);
          done.add(entry.index);
          save.changed();
        },
        stop,
        abort,
      }),
    );
    await save.close();
    const report = createReplayReport({
      version: VERSION,
      v1: v1.url,
      v2: v2.url,
      files,
      count,
      tally,
      slowed: pace.slowed(),
      stopped,
    });
    io.print(withoutTokens(show(report), tokens));
    return exitCodeOf(report);
  } finally {
    await progress?.close();
    await sides.close();
    stopping.over();
  }
}

function writesToken({ writesTokenFile: file }: ReplayFlags, io: CommandIo): string | undefined {
  return tokenFrom({ file, variable: { name: "", value: undefined } }, io);
}

/** The options whose files are read: no other is of use here. */
const READ_FILES: readonly string[] = [
  "shadow.matchersFile",
  ...["v1", "v2"].flatMap((name) => ["caFile", "certFile", "keyFile"].map((file) => `upstream.${name}.tls.${file}`)),
];

/** Errors of the file system become errors about the argument. */
function readable(read: (file: string) => AsyncIterable<Found>): (file: string) => AsyncIterable<Found> {
  return async function* (file) {
    try {
      yield* read(file);
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      throw new ArgumentError({
        where: file,
        what: `it cannot be read (${error.message})`,
        remedy: "name a file that is there",
      });
    }
  };
}

async function* undone(
  entries: AsyncGenerator<ReplayEntry>,
  isDone: (index: number) => boolean,
): AsyncGenerator<ReplayEntry> {
  for await (const entry of entries) if (!isDone(entry.index)) yield entry;
}

/** Time for requests in progress after a signal to stop. */
const GRACE_MS = 10_000;
const TERMINAL_MS = 250;
const LINES_MS = 15_000;

interface Stopping {
  /** No request begins any more. */
  readonly stop: Signal;
  /** Those in progress end, too. */
  readonly abort: Signal;
  /** Everything is saved and printed. */
  over(): void;
}

/** On a signal, what is in progress is finished, saved and printed before the process ends. */
function stoppable(io: CommandIo): Stopping {
  const stop = createSignalController();
  const abort = createSignalController();
  let over = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  io.onStop(async () => {
    stop.abort(new Error("stopped by a signal"));
    const cancel = later(GRACE_MS, () => abort.abort(new Error("stopped by a signal")));
    await isOver;
    cancel();
    // The exit code must not look like that of a whole replay.
    throw new Error("the replay was stopped");
  });
  return { stop: stop.signal, abort: abort.signal, over };
}

interface RunningParts {
  readonly io: CommandIo;
  readonly count: number;
  readonly done: { size(): number };
  readonly tally: { readonly differing: number };
  readonly pace: { pause(): number };
  readonly stopping: Stopping;
}

/** Runs `work`, and shows how far it is. Returns why it stopped early. */
async function running(
  { io, count, done, tally, pace, stopping }: RunningParts,
  work: (stopping: Stopping) => Promise<void>,
): Promise<string | undefined> {
  const [began, before] = [TIME.now(), done.size()];
  const { progress } = io;
  const line = (): string => {
    const here = done.size() - before;
    const facts = { done: done.size(), all: count, here, ms: TIME.now() - began };
    return progressLine({ ...facts, differing: tally.differing, pause: pace.pause() }, progress !== undefined);
  };
  const ticker = setInterval(() => (progress ?? io.warn)(line()), progress === undefined ? LINES_MS : TERMINAL_MS);
  try {
    await work(stopping);
    return stopping.stop.aborted ? "by a signal" : undefined;
  } catch (error) {
    if (!(error instanceof ReplayStopped)) throw error;
    return error.message;
  } finally {
    clearInterval(ticker);
    progress?.("");
  }
}

function formatOf({ json, markdown, junit, html }: ReplayFlags, io: CommandIo): (report: ReplayReport) => string {
  const formats = [json && "--json", markdown && "--markdown", junit && "--junit", html && "--html"].filter(
    (flag) => flag !== undefined,
  );
  if (formats.length > 1) {
    throw new ArgumentError({ where: formats.join(" "), what: "these are two formats", remedy: "choose one" });
  }
  if (json === true) return (report) => printable(JSON.stringify(report, null, 2));
  if (markdown === true) return replayMarkdown;
  if (html === true) return replayPage;
  return junit === true ? replayJunit : (report) => replayText(report, paintFor(io));
}

/** The platform could put anything into its responses, a token included. */
function withoutTokens(text: string, tokens: Pick<GivenTokens, "all" | "ofWrites">): string {
  const all = [...tokens.all(), ...(tokens.ofWrites === undefined ? [] : [tokens.ofWrites])];
  return all.reduce((rest, token) => rest.replaceAll(token, "[token]"), text);
}
