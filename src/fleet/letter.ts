/** The letter that announces the end of v1, or its brownouts, to the teams of clients: Markdown, a part for each owner. */
import { utcMinute } from "../ledger/clients-view.ts";
import { difficultyOf, reasonsOf } from "../ledger/difficulty.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { compareText } from "../ledger/record.ts";
import { code, codes, markdownTable } from "../ledger/way-out-names.ts";
import { windowWords } from "../rules/schedule.ts";
import { anyOf, counted } from "../rules/words.ts";
import { BROWNOUT_OUTCOMES, type BrownoutLine, brownoutLines, outcomeText } from "./brownouts.ts";
import type { FleetRule } from "./fleet.ts";

export interface LetterParts {
  readonly clients: readonly ClientEntry[];
  /** Rules of which some may be brownouts. */
  readonly rules: readonly Pick<FleetRule, "name" | "brownout" | "evidence" | "announces" | "state">[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The only owner to write to; undefined: all. */
  readonly owner?: string | undefined;
}

/** v1 operations of a client that are named. */
const MOST_OPERATIONS = 10;

/** The owners of clients that called v1, and of those that a brownout refused; clients without an owner come last. */
export function letterOwners({ clients }: Pick<LetterParts, "clients">): readonly string[] {
  const owners = new Set(clients.filter(isConcerned).map(({ owner }) => owner ?? ""));
  return [...owners].sort((a, b) => Number(a === "") - Number(b === "") || compareText(a, b));
}

function isConcerned({ lastV1, refused }: ClientEntry): boolean {
  return lastV1 !== undefined || refused !== undefined;
}

/** Empty if no client of the owner called v1. */
export function letter(parts: LetterParts): string {
  const owners = letterOwners(parts).filter((owner) => parts.owner === undefined || owner === parts.owner);
  return owners.map((owner) => `${partFor(owner, parts).join("\n").trimEnd()}\n`).join("\n---\n\n");
}

function partFor(owner: string, { clients, rules, at }: LetterParts): readonly string[] {
  const own = clients.filter((client) => (client.owner ?? "") === owner && isConcerned(client));
  const contacts = [...new Set(own.flatMap(({ contact }) => contact ?? []))].sort(compareText);
  return [
    `# v1 of the API ends: clients of ${owner === "" ? "nobody that is named" : code(owner)}`,
    "",
    ...(owner === "" ? ["`clients.names` has no owner for these clients. Find one for each, and send this.", ""] : []),
    ...(contacts.length === 0 ? [] : [`To: ${codes(contacts)}`, ""]),
    `On ${utcMinute(at)}, ${counted(own.length, "client")} of yours ${own.length === 1 ? "was" : "were"} known to call v1:`,
    "",
    ...markdownTable(["client", "v1 requests", "last v1 call", "hardest need"], own.map(clientRow)),
    ...own.flatMap(operationLines),
    "",
    ...endPart(rules, at),
    ...brownoutPart(rules, new Set(own.map(({ name }) => name))),
    ...outcomePart(brownoutLines({ clients: own, rules, at })),
    ...actionPart(rules),
  ];
}

/** Different values of several rules, each once. A rule that has expired announces nothing. */
function announced<T extends string | number>(
  rules: LetterParts["rules"],
  of: (rule: LetterParts["rules"][number]) => T | undefined,
): readonly T[] {
  return [...new Set(rules.flatMap((rule) => (rule.state === "expired" ? [] : (of(rule) ?? []))))];
}

function sunsetsOf(rules: LetterParts["rules"]): readonly string[] {
  const all = announced(rules, ({ announces }) => announces?.sunset);
  return all.toSorted((a, b) => a - b).map(utcMinute);
}

/** When v1 ends, and what replaces it, as the rules announce it. */
function endPart(rules: LetterParts["rules"], at: number): readonly string[] {
  const sunsets = sunsetsOf(rules);
  const [since] = announced(rules, ({ announces }) => announces?.deprecation).toSorted((a, b) => a - b);
  const pages = announced(rules, ({ announces }) => announces?.documentation);
  const successors = announced(rules, ({ brownout }) => brownout?.successor);
  const lines = [
    ...(sunsets.length === 0
      ? []
      : [`- v1 ends on ${anyOf(sunsets)}${sunsets.length > 1 ? ", depending on the client" : ""}.`]),
    ...(since === undefined
      ? []
      : [`- v1 ${since <= at ? "has been deprecated since" : "is deprecated from"} ${utcMinute(since)}.`]),
    ...(pages.length === 0 ? [] : [`- About the end of v1: ${codes(pages)}`]),
    ...(successors.length === 0 ? [] : [`- About v2: ${codes(successors)}`]),
  ];
  return lines.length === 0 ? [] : ["## The end of v1", "", ...lines, ""];
}

function actionPart(rules: LetterParts["rules"]): readonly string[] {
  const [until] = sunsetsOf(rules);
  const contacts = announced(rules, ({ brownout }) => brownout?.contact);
  const whom = contacts.length === 0 ? "us" : `us (${codes(contacts)})`;
  return [
    "## Your next steps",
    "",
    "1. Change these clients to v2. We have a page for each client that names its calls, and the calls that replace them.",
    `2. Tell ${whom} which client cannot move${until === undefined ? "" : ` by ${until}`}, and why. We can exempt it for a while.`,
    "3. Tell us of clients in this list that are not yours, or that are not in use.",
  ];
}

function clientRow({ name, requests, lastV1, ...entry }: ClientEntry): readonly string[] {
  const last = lastV1 === undefined ? "never" : utcMinute(lastV1);
  return [code(name), String(requests.v1), last, difficultyOf({ lastV1, ...entry })];
}

function operationLines(entry: ClientEntry): readonly string[] {
  const names = entry.operations.map(({ resource, operation }) => `${resource} ${operation}`);
  const more = names.length - MOST_OPERATIONS;
  const why = reasonsOf(entry).map(({ what }) => what);
  const calls = `${codes(names.slice(0, MOST_OPERATIONS))}${more > 0 ? ` and ${more} more` : ""}`;
  return [
    `- ${code(entry.name)} calls ${names.length === 0 ? "nothing that is known" : calls}. To move it: ${why.join("; ")}.`,
  ];
}

/** Whether a brownout takes a client depends on more than its name, so all are announced to clients that are not exempt. */
function brownoutPart(rules: LetterParts["rules"], own: ReadonlySet<string>): readonly string[] {
  const all = rules.flatMap(({ name, brownout, evidence }, at) => {
    const isFirst = rules.findIndex((one) => one.name === name) === at;
    return brownout === undefined || !isFirst || brownout.next.length === 0 ? [] : [{ name, brownout, evidence }];
  });
  if (all.length === 0) return [];
  const exemptOf = ({ brownout }: (typeof all)[number]) => brownout.exempt?.filter((name) => own.has(name)) ?? [];
  if (all.every((one) => exemptOf(one).length === own.size)) {
    const whom = own.size === 1 ? "your client is" : "your clients are";
    return [
      "## Brownouts",
      "",
      `Before its end v1 refuses requests in short windows. We refuse none of yours: ${whom} exempt.`,
      "",
    ];
  }
  return [
    "## Brownouts",
    "",
    "In these windows v1 refuses requests on purpose, so that nobody is surprised when it ends:",
    "",
    ...all.flatMap((one) => {
      const { name, brownout, evidence } = one;
      const exempt = exemptOf(one);
      if (exempt.length === own.size) return [`- ${code(name)} refuses none of your clients: they are exempt.`];
      const share = evidence?.percent === undefined ? "" : `, ${evidence.percent} % of clients`;
      const whom = evidence === undefined ? "" : ` (${evidence.whom}${share})`;
      const but = exempt.length === 0 ? "" : `, but not ${codes(exempt)}, which we exempted`;
      return [
        `- ${code(name)}${whom}${but}:`,
        ...brownout.next.map((window) => `  - ${windowWords(window, brownout.zone)}`),
      ];
    }),
    "",
    "A refusal has HTTP status 400 (410 if we announced that) or gRPC code 9, FAILED_PRECONDITION, with reason `BROWNOUT`. Its message names the window, and `Retry-After` its end. v2 is not affected.",
    "",
  ];
}

function outcomePart(lines: readonly BrownoutLine[]): readonly string[] {
  if (lines.length === 0) return [];
  return [
    "## The last brownout",
    "",
    ...BROWNOUT_OUTCOMES.flatMap((outcome) => {
      const found = lines.filter((line) => line.outcome === outcome).map(({ client }) => client);
      return found.length === 0 ? [] : [`- ${outcomeText({ outcome })}: ${codes(found)}`];
    }),
    "",
  ];
}
