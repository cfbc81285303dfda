/** Is this configuration right for that upstream? (What `carryover check` asks, and in which order.) */
import { catalogueVersions, loadCatalogue } from "./catalogue.ts";
import { type Api, shownStatus } from "./check/api.ts";
import { type Connection, createConnection } from "./check/connection.ts";
import { type Finding, sayFor } from "./check/finding.ts";
import { type Probe, readLists, type Subject } from "./check/first-pages.ts";
import { checkCertificate } from "./check/probes/certificate.ts";
import { judgeClock } from "./check/probes/clock.ts";
import { judgeAudience, judgeCredential } from "./check/probes/credential.ts";
import { reachOthers } from "./check/probes/others.ts";
import { reach } from "./check/probes/reach.ts";
import { findVersion } from "./check/probes/version.ts";
import { NATIVE_PROBES, PROBES } from "./check/probes.ts";
import { completed, idsAsked, inOrder, WRITING_IDS } from "./check/questions.ts";
import { checkMask } from "./check/writes/mask.ts";
import { inScratchGroup } from "./check/writes/scratch-group.ts";
import { checkTokens } from "./check/writes/tokens.ts";
import type { Config } from "./config.ts";
import { Problem } from "./model/problem.ts";
import { createStopper, type Signal } from "./model/signal.ts";

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

export interface Report {
  /** The v2 version that was judged: the configured one, or the one that answers. */
  readonly version: string;
  readonly findings: readonly Finding[];
}

/** Asks everything, and never throws for what the platform does: that is a finding. */
export async function runCheck(input: CheckInput): Promise<Report> {
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
interface Found {
  readonly version: string;
  /** Why the rest cannot be judged; undefined when it can. */
  readonly stopped?: string;
}

/** From the address to the lists; a subject only when all of it is well enough to go on. */
async function checkV2(
  input: CheckInput,
  means: Pick<Subject, "api" | "native" | "hex">,
  findings: Finding[],
): Promise<Found & { readonly subject?: Subject }> {
  const { config } = input;
  const { api } = means;
  const { version, stopped } = await find(input, api, findings).catch(unanswered(config.upstream.v2.version, findings));
  if (stopped === undefined) {
    const catalogue = await loadCatalogue(version);
    return {
      version,
      subject: { config, catalogue, ...means, lists: await readLists(api, catalogue, config.lists.orderBy) },
    };
  }
  return { version, stopped };
}

async function find({ config, token, now }: CheckInput, api: Api, findings: Finding[]): Promise<Found> {
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
    findings.push(sayFor("reach").ok(`upstream.v2.url answers (${shownStatus(listed)})`), judgeClock(listed, now()));
  }
  const credential = judgeCredential(token, listed, now());
  findings.push(credential, ...judgeAudience(token, listed, config));
  const usable = token !== undefined && credential.level !== "fail";
  return { version: found.version, ...(usable ? {} : { stopped: "it needs a credential that is accepted" }) };
}

/** The platform went away between two calls. */
function unanswered(version: string, findings: Finding[]): (error: unknown) => Found {
  return (error) => {
    if (!(error instanceof Problem)) throw error;
    const stopped = `the platform stopped answering (${error.reason})`;
    findings.push(sayFor("reach").fail(`upstream.v2.url: ${stopped}`, "check again, and ask the platform's operators"));
    return { version, stopped };
  };
}

async function judgeAll(subject: Subject, input: CheckInput): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const probes = subject.native === undefined ? PROBES : [...PROBES, ...NATIVE_PROBES];
  for (const probe of probes) findings.push(...(await ran(probe, subject)));
  if (input.writeUnder !== undefined) findings.push(...(await write(subject, input, input.writeUnder)));
  return findings;
}

async function ran({ id, run }: Probe, subject: Subject): Promise<readonly Finding[]> {
  try {
    return completed(await run(subject), [id], "no list was answered", "see lists");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [sayFor(id).skipped(`the platform stopped answering (${error.reason})`, "check again")];
  }
}

async function write(
  subject: Subject,
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
  const cleaner: Connection = createConnection(config.upstream.v2, token, createStopper().signal, random);
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
