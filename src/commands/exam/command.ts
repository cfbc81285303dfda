/** The command `carryover exam`: may native v1 be switched off for a client, or for which of all, over all instances. */
import type { Command } from "commander";
import { ArgumentError } from "../../config/faults.ts";
import { type Exam, examExitCode, examOf } from "../../fleet/exam.ts";
import { EXAM_TERMS, type ExamReplay, type ExamTerms } from "../../fleet/exam-operations.ts";
import { forceText } from "../../fleet/fleet.ts";
import type { ClientEntry } from "../../ledger/entry.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { readNumber } from "../replay/arguments.ts";
import { ADDRESSES_HELP, readWindow, TOKEN_HELP } from "../report/arguments.ts";
import { printable, printableAll } from "../terminal.ts";
import { type Asked, type AskFlags, askAbout, askAll } from "../way-out/ask.ts";
import { examMarkdown, examsMarkdown } from "./markdown.ts";
import type { RehearsalPlan } from "./rehearsal.ts";

interface ExamFlags extends AskFlags {
  readonly all?: true;
  readonly replay?: string;
  readonly rehearse?: string;
  readonly stopAbove: number;
  readonly below: number;
  readonly looks: number;
  readonly window: string;
  readonly minAge: string;
  readonly requireRehearsal?: true;
  readonly json?: true;
  readonly html?: true;
}

const LEAST_SHARE = 0.000001;
const MOST_LOOKS = 1_000_000;

/** Exit code: 0 passed; 1 failed; 2 not known, an instance did not respond, or none knows the client. */
export function addExam(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("exam")
    .description("judge whether native v1 may be switched off for a client, as Markdown")
    .argument("[client]", "name of a client, as /clients shows it; with --all it is an address")
    .argument("[addresses...]", ADDRESSES_HELP)
    .option("--all", "all clients that called v1, as a table by owner")
    .option("--replay <file>", "results of a replay of its requests: carryover replay --json --client NAME")
    .option("--rehearse <time>", "print the rule of a rehearsal that lasts so long, and how many calls it refuses: 30m")
    .option(
      "--stop-above <share>",
      "share of refused and failed calls above which that rehearsal stops",
      readNumber(LEAST_SHARE, 0.99),
      0.05,
    )
    .option(
      "--below <share>",
      "less than this share of responses may differ or fail",
      readNumber(LEAST_SHARE, 1),
      EXAM_TERMS.below,
    )
    .option(
      "--looks <number>",
      "how often each operation must have been looked at",
      readNumber(1, MOST_LOOKS, true),
      EXAM_TERMS.looks,
    )
    .option(
      "--window <time>",
      "operations that it has not called for so long do not count; a pass holds as long",
      "14d",
    )
    .option("--min-age <time>", "how long the ledger must have watched; 0 for no matter", "7d")
    .option("--require-rehearsal", "pass only after a rehearsal")
    .option("--json", "print one JSON document (docs/exam.md)")
    .option("--html", "print an HTML document")
    .option("--token-file <file>", TOKEN_HELP)
    .option("--timeout <seconds>", "longest wait for an instance", "10")
    .action(async (client: string | undefined, addresses: readonly string[], flags: ExamFlags) => {
      if (flags.all === true) {
        refuseWithAll(flags);
        outcome.code = await examAll(client === undefined ? [] : [client, ...addresses], flags, io);
        return;
      }
      if (client === undefined) {
        throw new ArgumentError({
          where: "carryover exam",
          what: "it names no client",
          remedy: "give the name of one, or --all",
        });
      }
      outcome.code = await examOne(client, addresses, flags, io);
    });
}

function refuseWithAll({ replay, rehearse }: ExamFlags): void {
  const given = replay === undefined ? (rehearse === undefined ? undefined : "--rehearse") : "--replay";
  if (given === undefined) return;
  throw new ArgumentError({
    where: given,
    what: "it is about one client",
    remedy: "name the client in place of --all",
  });
}

async function examOne(client: string, args: readonly string[], flags: ExamFlags, io: CommandIo): Promise<number> {
  const terms = termsOf(flags);
  const plan = planOf(flags);
  const show = formatOf(flags);
  const { readReplay } = await import("./replay-file.ts");
  const replay = flags.replay === undefined ? undefined : readReplay(flags.replay, client, io);
  const asked = await askAbout(client, args, flags, io);
  if (asked === undefined) return 2;
  const exam = judge(asked.entry, asked, terms, replay);
  const text = await show(exam, () => examMarkdown(exam, plan), `Exam of ${client}`);
  io.print(asked.clean(text).trimEnd());
  return examExitCode([exam]);
}

async function examAll(args: readonly string[], flags: ExamFlags, io: CommandIo): Promise<number> {
  const terms = termsOf(flags);
  const show = formatOf(flags);
  const asked = await askAll(args, flags, io);
  if (asked === undefined) return 2;
  const { clients, at } = asked.merged.ledger;
  const exams = clients
    .filter(({ lastV1 }) => lastV1 !== undefined)
    .map((entry) => judge(entry, asked, terms, undefined));
  const text = await show({ version: 1, exams }, () => examsMarkdown(exams, at), "Exams");
  io.print(asked.clean(text).trimEnd());
  const code = examExitCode(exams);
  return code === 0 && asked.fleet.silent.length > 0 ? 2 : code;
}

function judge(
  client: ClientEntry,
  { fleet, merged, options }: Asked,
  terms: ExamTerms,
  replay: ExamReplay | undefined,
): Exam {
  const forced = fleet.instances.find(({ progress }) => progress.force !== "none")?.progress;
  const sources = {
    client,
    replay,
    comparisons: merged.bounds,
    rules: fleet.rules,
    isUntranslated: options.isUntranslated,
    at: merged.at,
    watchedSince: merged.watchedSince,
    complete: fleet.silent.length === 0,
    forced: forced && forceText(forced),
  };
  return examOf(sources, terms);
}

function termsOf({ below, looks, window, minAge, requireRehearsal }: ExamFlags): ExamTerms {
  return {
    below,
    looks,
    window: readWindow(window, "--window"),
    minAge: minAge === "0" ? 0 : readWindow(minAge, "--min-age"),
    needsRehearsal: requireRehearsal === true,
  };
}

function planOf({ rehearse, stopAbove }: ExamFlags): RehearsalPlan | undefined {
  return rehearse === undefined ? undefined : { lasts: readWindow(rehearse, "--rehearse"), stopAbove };
}

type Show = (document: object, markdown: () => string, title: string) => Promise<string>;

function formatOf({ json, html }: ExamFlags): Show {
  if (json === true && html === true) {
    throw new ArgumentError({ where: "--json --html", what: "these are two formats", remedy: "choose one" });
  }
  if (json === true) return async (document) => JSON.stringify(printableAll(document), undefined, 2);
  if (html !== true) return async (_, markdown) => printable(markdown());
  return async (_, markdown, title) => {
    const { fileOf } = await import("../../page/file.ts");
    return fileOf(title, markdown());
  };
}
