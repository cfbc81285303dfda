/** Is this configuration right for that upstream? (What `carryover check` asks, and in which order.) */
import { catalogueVersions, loadCatalogue } from "../../catalogue.ts";
import type { Config } from "../../config/config.ts";
import { Problem } from "../../model/problem.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { type Finding, findingsFor } from "./finding.ts";
import { lists, order, pageSize, skip, totalCount } from "./lists.ts";
import {
  type CheckProbe,
  createConnection,
  type PlatformApi,
  type PlatformConnection,
  type ProbeContext,
  readLists,
  shownStatus,
} from "./platform.ts";
import {
  checkCertificate,
  findVersion,
  judgeAudience,
  judgeClock,
  judgeCredential,
  reach,
  reachOthers,
} from "./reach.ts";
import { fields, missing, times, zeros } from "./records.ts";
import { checkMask, checkTokens, inScratchGroup } from "./writes.ts";

export interface CheckInput {
  readonly config: Config;
  /** Goes out as a bearer token; without one, what needs it is not judged. */
  readonly token: string | undefined;
  /** A group in which the check may write; without one it only reads. */
  readonly writeUnder?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Stops the check; what it wrote is removed all the same. */
  readonly signal: Signal;
}

export interface CheckReport {
  /** The v2 version that was judged: the configured one, or the one that answers. */
  readonly version: string;
  readonly findings: readonly Finding[];
}

/** Asks everything, and never throws for what the platform does: that is a finding. */
export async function runCheck(input: CheckInput): Promise<CheckReport> {
  const { config, token, now, random, signal } = input;
  const { v2, v1, sts } = config.upstream;
  const connection = createConnection(v2, token, signal, random);
  const native = v1 === undefined ? undefined : createConnection(v1, token, signal, random);
  try {
    const hex = (digits: number) =>
      Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
    const findings: Finding[] = [];
    for (const [name, settings] of Object.entries({ v2, v1, sts })) {
      if (settings !== undefined) findings.push(await checkCertificate(name, settings, now()));
    }
    const inner = await checkV2(input, { api: connection.api, native: native?.api, hex }, findings);
    findings.push(...(await reachOthers(config, { token, signal, random, hex })));
    if (inner.subject !== undefined) findings.push(...(await judgeAll(inner.subject, input)));
    const asked = idsAsked({ native: native !== undefined, writing: input.writeUnder !== undefined });
    const all = completed(findings, asked, inner.stopped ?? "the check ended before it");
    return { version: inner.version, findings: inOrder(all) };
  } finally {
    await Promise.all([connection.close(), native?.close()]);
  }
}

/** What is known of v2 before its lists are read. */
interface FoundVersion {
  readonly version: string;
  /** Why the rest cannot be judged; undefined when it can. */
  readonly stopped?: string;
}

/** From the address to the lists; a subject only when all of it is well enough to go on. */
async function checkV2(
  input: CheckInput,
  means: Pick<ProbeContext, "api" | "native" | "hex">,
  findings: Finding[],
): Promise<FoundVersion & { readonly subject?: ProbeContext }> {
  const { config } = input;
  const { api } = means;
  const { version, stopped } = await findApi(input, api, findings).catch(
    noAnswer(config.upstream.v2.version, findings),
  );
  if (stopped === undefined) {
    const catalogue = await loadCatalogue(version);
    return {
      version,
      subject: { config, catalogue, ...means, lists: await readLists(api, catalogue, config.lists.orderBy) },
    };
  }
  return { version, stopped };
}

async function findApi(
  { config, token, now }: CheckInput,
  api: PlatformApi,
  findings: Finding[],
): Promise<FoundVersion> {
  const { url, version: configured } = config.upstream.v2;
  const target = (version: string) => `/iam/${version}/groups?page_size=1`;
  const { finding, answer, lost } = await reach("upstream.v2.url", url, () => api.get(target(configured)));
  const first = answer ?? lost;
  if (first === undefined) {
    findings.push(finding);
    return { version: configured, stopped: "the API was not reached" };
  }
  if (answer !== undefined) findings.push(finding, judgeClock(answer, now()));
  const found = await findVersion(api, configured, await catalogueVersions(), target, first);
  if (found.version === undefined) {
    findings.push(...(answer === undefined ? [finding] : []), found.finding);
    return { version: configured, stopped: "no known version answers" };
  }
  findings.push(found.finding);
  const listed = found.version === configured ? first : await api.get(target(found.version));
  if (answer === undefined) {
    // Only under the other version is there anything of the API's own to look at.
    findings.push(
      findingsFor("reach").ok(`upstream.v2.url answers (${shownStatus(listed)})`),
      judgeClock(listed, now()),
    );
  }
  const credential = judgeCredential(token, listed, now());
  findings.push(credential, ...judgeAudience(token, listed, config));
  const usable = token !== undefined && credential.level !== "fail";
  return { version: found.version, ...(usable ? {} : { stopped: "it needs a credential that is accepted" }) };
}

/** The platform went away between two calls. */
function noAnswer(version: string, findings: Finding[]): (error: unknown) => FoundVersion {
  return (error) => {
    if (!(error instanceof Problem)) throw error;
    const stopped = `the platform stopped answering (${error.reason})`;
    findings.push(
      findingsFor("reach").fail(`upstream.v2.url: ${stopped}`, "check again, and ask the platform's operators"),
    );
    return { version, stopped };
  };
}

async function judgeAll(subject: ProbeContext, input: CheckInput): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const probes = subject.native === undefined ? PROBES : [...PROBES, ...NATIVE_PROBES];
  for (const probe of probes) findings.push(...(await runProbe(probe, subject)));
  if (input.writeUnder !== undefined) findings.push(...(await runWritingProbes(subject, input, input.writeUnder)));
  return findings;
}

async function runProbe({ id, run }: CheckProbe, subject: ProbeContext): Promise<readonly Finding[]> {
  try {
    return completed(await run(subject), [id], "no list was answered", "see lists");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [findingsFor(id).skipped(`the platform stopped answering (${error.reason})`, "check again")];
  }
}

async function runWritingProbes(
  subject: ProbeContext,
  { config, token, random }: CheckInput,
  under: string,
): Promise<readonly Finding[]> {
  const [groups, identities] = ["group", "identity"].map((name) =>
    subject.lists.find(({ resource }) => resource.name === name),
  );
  if (groups === undefined || identities === undefined) {
    return completed([], WRITING_IDS, "this version has no groups or no identities");
  }
  // Of its own, so that a check that is stopped still tidies up.
  const cleaner: PlatformConnection = createConnection(
    config.upstream.v2,
    token,
    createSignalController().signal,
    random,
  );
  try {
    const parts = { api: subject.api, groups, identities, under, name: `carryover-check-${subject.hex(8)}` };
    const findings = await inScratchGroup(parts, cleaner.api, async (scratch) => [
      ...(await checkMask(scratch, config)),
      ...(await checkTokens(scratch, config)),
    ]);
    return completed(findings, WRITING_IDS, "it was not tried to the end", "see write");
  } finally {
    await cleaner.close();
  }
}

/** Which probes look at lists, and in which order? */

/** In the order of the report. */
export const PROBES: readonly CheckProbe[] = [lists, fields, zeros, pageSize, totalCount, order, skip, missing];

/** Those that need native v1, after all others. */
export const NATIVE_PROBES: readonly CheckProbe[] = [times];

/** What does a check ask, in the order of its report, and what of it has no answer yet? */

export interface CheckQuestion {
  readonly id: string;
  readonly asks: string;
}

const CONNECTION_QUESTIONS: readonly CheckQuestion[] = [
  { id: "certificate", asks: "Is the certificate of each upstream accepted here, and for how long?" },
  { id: "reach", asks: "Does the API answer at each upstream's address, or something else, or nothing?" },
  { id: "clock", asks: "Do this machine and the platform agree on the time?" },
  { id: "version", asks: "Is v2 served under the configured version, or under another one that carryover knows?" },
  {
    id: "credential",
    asks: "Is the token accepted, and (with `upstream.sts.url`) for the audience that exchanged ones get?",
  },
];

const WRITING_QUESTIONS: readonly CheckQuestion[] = [
  { id: "mask", asks: "Which spelling does `updateMask` want, and is a field cleared that is named with its zero?" },
  { id: "tokens", asks: "Do page tokens remember a record or a row number?" },
  { id: "write", asks: "Is everything removed again?" },
];

/** Probes that only a check that may write makes. */
export const WRITING_IDS: readonly string[] = WRITING_QUESTIONS.map(({ id }) => id);

/** What is asked by reading, what only of native v1, and what only by writing. */
export const QUESTIONS: Readonly<Record<"reads" | "native" | "writes", readonly CheckQuestion[]>> = {
  reads: [...CONNECTION_QUESTIONS, ...PROBES],
  native: NATIVE_PROBES,
  writes: WRITING_QUESTIONS,
};

/** Ids of what is asked; `native`: where native v1 is configured, `writing`: of a check that may write as well. */
export function idsAsked({
  native,
  writing,
}: {
  readonly native: boolean;
  readonly writing: boolean;
}): readonly string[] {
  const { reads, native: ofNative, writes } = QUESTIONS;
  return [...reads, ...(native ? ofNative : []), ...(writing ? writes : [])].map(({ id }) => id);
}

/** `findings`, and for each of `ids` without one that it was skipped and `why`: nothing that is asked may vanish. */
export function completed(
  findings: readonly Finding[],
  ids: readonly string[],
  why: string,
  remedy?: string,
): readonly Finding[] {
  const there = new Set(findings.map(({ probe }) => probe));
  return [...findings, ...ids.filter((id) => !there.has(id)).map((id) => findingsFor(id).skipped(why, remedy))];
}

/** In the order of the questions; findings of one probe stay as they came. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const ids = idsAsked({ native: true, writing: true });
  return [...findings].sort((a, b) => ids.indexOf(a.probe) - ids.indexOf(b.probe));
}
