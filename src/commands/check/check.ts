/** The check of a configuration against its upstream: what it asks, and in which order. */
import { catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import type { Config } from "../../config/config.ts";
import { Problem } from "../../model/problem.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { type Finding, fail, findingsOf, ok, skipped } from "./finding.ts";
import { lists, order, pageSize, skip, totalCount } from "./lists.ts";
import {
  type CheckProbe,
  createConnection,
  type PlatformApi,
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
  reachOther,
} from "./reach.ts";
import { fields, missing, times, zeros } from "./records.ts";
import { checkMask, checkTokens, inScratchGroup } from "./writes.ts";

interface CheckInput {
  readonly config: Config;
  readonly serves: ProbeContext["serves"];
  /** Sent as a bearer token; without one, what needs it is not judged. */
  readonly token: string | undefined;
  /** A group in which the check may write; without one it only reads. */
  readonly writeUnder?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Stops the check; what it wrote is still removed. */
  readonly signal: Signal;
}

interface CheckReport {
  /** The v2 version that was judged: the configured one, or the one that answers. */
  readonly version: string;
  readonly findings: readonly Finding[];
}

interface CheckQuestion {
  readonly id: string;
  readonly asks: string;
}

/** Probes of lists, in the order of the report. */
export const PROBES: readonly CheckProbe[] = [lists, fields, zeros, pageSize, totalCount, order, skip, missing];

/** Everything that a check asks by reading, of native v1, and by writing. Reports have this order. */
export const QUESTIONS: Readonly<Record<"reads" | "native" | "grpc" | "writes", readonly CheckQuestion[]>> = {
  reads: [
    { id: "certificate", asks: "Is the certificate of each upstream accepted here, and for how long?" },
    { id: "reach", asks: "Does the API answer at each upstream's address, or something else, or nothing?" },
    { id: "clock", asks: "Do this machine and the platform agree on the time?" },
    { id: "version", asks: "Is v2 served under the configured version, or under another one that carryover knows?" },
    {
      id: "credential",
      asks: "Is the token accepted, and (with `upstream.sts.url`) for the audience that exchanged ones get?",
    },
    ...PROBES,
  ],
  native: [times],
  grpc: [{ id: "grpc", asks: "Does each upstream speak gRPC, and do the descriptors have what is translated?" }],
  writes: [
    { id: "mask", asks: "Which spelling does `updateMask` want, and is a field cleared that is named with its zero?" },
    { id: "tokens", asks: "Do page tokens remember a record or a row number?" },
    { id: "write", asks: "Is everything removed again?" },
  ],
};

/** Asks everything. It never throws for what the platform does: that is a finding. */
export async function runCheck(input: CheckInput): Promise<CheckReport> {
  const { config, serves, token, writeUnder, now, random, signal } = input;
  const { v2, v1, sts } = config.upstream;
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  const connections = {
    v2: createConnection(v2, token, signal, random),
    v1: v1 && createConnection(v1, token, signal, random),
    // Its response to a call without a credential says enough.
    sts: sts && createConnection(sts, undefined, signal, random),
  };
  const native = connections.v1?.api;
  const { api } = connections.v2;
  try {
    const findings: Finding[] = [];
    for (const [name, settings] of Object.entries({ v2, v1, sts })) {
      if (settings !== undefined)
        findings.push(...findingsOf("certificate", await checkCertificate(name, settings, now())));
    }
    const { version, stopped } = await findApi(input, api, findings);
    if (v1 !== undefined && native !== undefined) {
      const target = `/iam/v1/groups?id=${hex(40)}`;
      findings.push(...findingsOf("reach", await reachOther("upstream.v1.url", v1.url, native, target)));
    }
    if (sts !== undefined && connections.sts !== undefined) {
      const { api: exchange } = connections.sts;
      findings.push(...findingsOf("reach", await reachOther("upstream.sts.url", sts.url, exchange, "/sts/exchange")));
    }
    const { reads, native: ofNative, grpc, writes } = QUESTIONS;
    const servesGrpc = config.listen.grpc.port !== undefined;
    if (servesGrpc) {
      const { checkGrpc } = await import("./grpc.ts");
      findings.push(...findingsOf("grpc", ...(await checkGrpc(config, await loadCatalogue(version)))));
    }
    if (stopped === undefined) {
      const catalogue = await loadCatalogue(version);
      const read = await readLists(api, catalogue, config.lists.orderBy);
      const context = { config, catalogue, api, native, hex, lists: read, serves };
      for (const probe of native === undefined ? PROBES : [...PROBES, times])
        findings.push(...(await runProbe(probe, context)));
      if (writeUnder !== undefined) findings.push(...(await runWritingProbes(context, input, writeUnder)));
    }
    const asked = [
      ...reads,
      ...(native === undefined ? [] : ofNative),
      ...(servesGrpc ? grpc : []),
      ...(writeUnder === undefined ? [] : writes),
    ];
    return { version, findings: completed(findings, asked, stopped ?? "the check ended before it") };
  } finally {
    await Promise.all(Object.values(connections).map((connection) => connection?.close()));
  }
}

/** `findings` in the order of the questions, and for each question without one that it was skipped: none may vanish. */
function completed(
  findings: readonly Finding[],
  questions: readonly CheckQuestion[],
  why: string,
  remedy?: string,
): readonly Finding[] {
  return questions.flatMap(({ id }) => {
    const own = findings.filter(({ probe }) => probe === id);
    return own.length > 0 ? own : findingsOf(id, skipped(why, remedy));
  });
}

/** From the address to the credential. `stopped`: why the rest cannot be judged; undefined when it can. */
async function findApi(
  { config, token, now }: CheckInput,
  api: PlatformApi,
  findings: Finding[],
): Promise<{ readonly version: string; readonly stopped?: string }> {
  const { url, version: configured } = config.upstream.v2;
  const target = (version: string) => `/iam/${version}/groups?page_size=1`;
  try {
    const { judgement, response, notFound } = await reach("upstream.v2.url", url, () => api.get(target(configured)));
    const first = response ?? notFound;
    if (first === undefined) {
      findings.push(...findingsOf("reach", judgement));
      return { version: configured, stopped: "the API was not reached" };
    }
    if (response !== undefined)
      findings.push(...findingsOf("reach", judgement), ...findingsOf("clock", judgeClock(response, now())));
    const found = await findVersion(api, configured, await catalogueVersions(), target, first);
    findings.push(...findingsOf("version", found.judgement));
    if (found.version === undefined) {
      if (response === undefined) findings.push(...findingsOf("reach", judgement));
      return { version: configured, stopped: "no known version answers" };
    }
    const listed = found.version === configured ? first : await api.get(target(found.version));
    if (response === undefined) {
      // Only the other version shows something of the API itself.
      const reached = ok(`upstream.v2.url answers (${shownStatus(listed)})`);
      findings.push(...findingsOf("reach", reached), ...findingsOf("clock", judgeClock(listed, now())));
    }
    const credential = judgeCredential(token, listed, now());
    findings.push(...findingsOf("credential", credential, ...judgeAudience(token, listed, config)));
    const usable = token !== undefined && credential.level !== "fail";
    return { version: found.version, ...(usable ? {} : { stopped: "it needs a credential that is accepted" }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const stopped = `the platform stopped answering (${error.reason})`;
    const remedy = "check again, and ask the platform's operators";
    findings.push(...findingsOf("reach", fail(`upstream.v2.url: ${stopped}`, remedy)));
    return { version: configured, stopped };
  }
}

async function runProbe({ id, run }: CheckProbe, context: ProbeContext): Promise<readonly Finding[]> {
  try {
    const found = await run(context);
    return findingsOf(id, ...(found.length > 0 ? found : [skipped("no list was answered", "see lists")]));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return findingsOf(id, skipped(`the platform stopped answering (${error.reason})`, "check again"));
  }
}

async function runWritingProbes(
  { api, lists, hex }: ProbeContext,
  { config, token, random }: CheckInput,
  under: string,
): Promise<readonly Finding[]> {
  const [groups, identities] = ["group", "identity"].map((name) =>
    lists.find(({ resource }) => resource.name === name),
  );
  if (groups === undefined || identities === undefined) {
    return completed([], QUESTIONS.writes, "this version has no groups or no identities");
  }
  // With a signal of its own, so that a stopped check still cleans up.
  const cleaner = createConnection(config.upstream.v2, token, createSignalController().signal, random);
  try {
    const parts = { api, groups, identities, under, name: `carryover-check-${hex(8)}` };
    const findings = await inScratchGroup(parts, cleaner.api, async (scratch) => [
      ...findingsOf("mask", ...(await checkMask(scratch, config))),
      ...findingsOf("tokens", await checkTokens(scratch, config)),
    ]);
    return completed(findings, QUESTIONS.writes, "it was not tried to the end", "see write");
  } finally {
    await cleaner.close();
  }
}
