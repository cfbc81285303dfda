/** Recordings of what v1 clients of the sandbox ask, and replays of them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxOptions } from "../../sandbox/src/options.ts";
import type { Sandbox } from "../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { type CommandOptions, runCommand } from "../../scripts/command.ts";
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../src/config/config.ts";
import { TIME } from "../../src/model/clock.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createReplayReport, type ReplayReport } from "../../src/replay/report.ts";
import { runReplay } from "../../src/replay/run.ts";
import { newSourceCount, replayedRequests } from "../../src/replay/source.ts";
import { createTallying, newTally } from "../../src/replay/tally.ts";
import { createReplaySides } from "../../src/runtime/replay-sides.ts";
import { sharedCatalogue, sharedTranslations } from "../support/shared.ts";
import { later } from "../support/take-down.ts";

/** Reads of every resource, as v1 clients make them. */
export function v1Reads({ wellKnown }: Sandbox): readonly string[] {
  const { rootGroup, someGroup, emptyGroup, viewerRole, repo, syncedRepo, tag, advisory, digest, identity } = wellKnown;
  const { identityProvider, groupInvite, roleBinding, accountAssociation } = wellKnown;
  return [
    `/iam/v1/groups?id=${someGroup}`,
    `/iam/v1/groups?uidp.children_of=${someGroup}`,
    `/iam/v1/groups?uidp.descendantsOf=${someGroup}`,
    `/iam/v1/groups?name=acme`,
    `/iam/v1/groups?id=${encodeURIComponent(emptyGroup)}`,
    "/iam/v1/groups?id=0000000000000000000000000000000000000000",
    "/iam/v1/groups?uidp.in_root=true",
    "/iam/v1/roles",
    "/iam/v1/roles?name=viewer",
    `/iam/v1/roles?id=${viewerRole}`,
    "/iam/v1/roles?parent=/",
    `/iam/v1/identities?id=${identity}`,
    `/iam/v1/identities?uidp.children_of=${rootGroup}`,
    `/iam/v1/rolebindings?id=${roleBinding}`,
    `/iam/v1/rolebindings?uidp.children_of=${rootGroup}`,
    `/iam/v1/identityProviders?id=${identityProvider}`,
    "/iam/v1/identityProviders",
    `/iam/v1/account_associations?group=${accountAssociation}`,
    "/iam/v1/account_associations",
    `/iam/v1/group_invites?id=${groupInvite}`,
    "/iam/v1/group_invites",
    `/registry/v1/repos?id=${repo}`,
    `/registry/v1/repos?id=${syncedRepo}`,
    `/registry/v1/repos?uidp.children_of=${rootGroup}`,
    `/registry/v1/tags?id=${tag}`,
    `/registry/v1/tags?uidp.children_of=${repo}`,
    `/registry/v1/repotagssummary/${repo}`,
    `/registry/v1/repos/${repo}/digests/${digest}/architectures`,
    `/registry/v1/repos/${repo}/digests/${digest}/size`,
    "/vulnerabilities/v1/advisories",
    `/vulnerabilities/v1/advisories?id=${advisory}`,
    `/vulnerabilities/v1/advisories/${advisory}/events`,
    "/iam/v1/groups?colour=red",
  ];
}

export interface RecordedLine {
  readonly target: string;
  readonly method?: string;
  readonly client?: string;
  readonly status?: number;
  readonly body?: string;
}

/** Lines of a recording of these requests. */
export function recording(requests: readonly (string | RecordedLine)[]): string {
  const lines = requests.map((request, index) => {
    const given = typeof request === "string" ? { target: request } : request;
    const time = new Date(Date.UTC(2026, 10, 29) + index * 1000).toISOString();
    return JSON.stringify({ time, method: "GET", client: "ci", status: 200, mode: "native", ...given });
  });
  return `${lines.join("\n")}\n`;
}

/** A file of the test's own, which goes with it. */
export function fileOf(text: string | Uint8Array, name = "requests.jsonl"): string {
  const folder = mkdtempSync(join(tmpdir(), "replay-"));
  later(async () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

export interface ReplayRig {
  readonly sandbox: Sandbox;
  readonly url: string;
  /** `carryover replay` of a file, as fast as it can. */
  command(argv: readonly string[], options?: CommandOptions): ReturnType<typeof runCommand>;
}

/** A sandbox that serves both versions over HTTP. */
export async function replayRig(options: SandboxOptions = {}): Promise<ReplayRig> {
  const sandbox = seededSandbox(options);
  const { url } = await sandbox.listen();
  later(() => sandbox.close());
  return {
    sandbox,
    url,
    command: (argv, around = {}) =>
      runCommand(
        [
          "replay",
          ...argv,
          "--upstream-v1-url",
          url,
          "--upstream-v2-url",
          url,
          "--cutover-mode",
          "native",
          "--rate",
          "1000",
        ],
        { files: "disk", env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") }, ...around },
      ),
  };
}

export interface EngineOptions {
  readonly catalogue?: Catalogue;
  readonly flags?: Readonly<Record<string, string>>;
  readonly concurrency?: number;
}

/** The replay behind the command, for catalogues that no command has. */
export async function replayed(
  { url, sandbox }: ReplayRig,
  requests: readonly (string | RecordedLine)[],
  { catalogue, flags = {}, concurrency = 8 }: EngineOptions = {},
): Promise<ReplayReport> {
  const { config } = loadConfig({
    flags: { upstreamV1Url: url, upstreamV2Url: url, cutoverMode: "native", shadowValues: "show", ...flags },
    env: {},
    readFile: () => new Uint8Array(),
  });
  const sides = createReplaySides(config, catalogue ?? (await sharedCatalogue("v2beta1")), {
    observe: () => {},
    concurrency,
    ...(catalogue === undefined ? { translate: sharedTranslations } : {}),
  });
  const tally = newTally();
  const add = createTallying(tally, { values: "show", recordTimes: config.v1.recordTimes });
  const count = newSourceCount();
  const { readRecorded } = await import("../../src/recording/reader.ts");
  const never = createSignalController().signal;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(recording(requests));
  }
  const token = sandbox.token("admin");
  try {
    await runReplay({
      entries: replayedRequests(
        {
          files: ["recording"],
          read: (file) => readRecorded(bytes(), file),
          kindOf: sides.kindOf,
          sample: 1,
          client: undefined,
          basePath: "",
          hasToken: () => true,
        },
        count,
      ),
      sides,
      pace: { turn: async () => {} },
      concurrency,
      tokens: { of: () => token, renew: () => false, nameOf: () => "the test" },
      // Waits are for platforms that need them.
      sleep: (ms, signal) => TIME.sleep(Math.min(ms, 5), signal),
      done: add,
      stop: never,
      abort: never,
    });
  } finally {
    await sides.close();
  }
  return createReplayReport({
    version: "0",
    v1: url,
    v2: url,
    files: ["recording"],
    count,
    tally,
    slowed: 0,
    stopped: undefined,
  });
}
