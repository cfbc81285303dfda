/** Runs `carryover check` against a platform of the test's own. */
import { afterAll, beforeAll } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { type CommandOptions, type CommandResult, runCommand } from "../../../scripts/command.ts";
import type { CheckVerdict, Finding } from "../../../src/commands/check/finding.ts";
import type { ApiResponse, Send, SendLayer } from "../../../src/model/http.ts";
import { later } from "../../end-to-end/app/rig.ts";

/** One `carryover check …` in this process. */
export const check = (argv: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  runCommand(["check", ...argv], options);

export interface Judged extends CommandResult {
  readonly verdict: CheckVerdict;
  readonly version: string;
  readonly findings: readonly Finding[];
  /** Those of one probe. */
  of(probe: string): readonly Finding[];
  /** `level what` of each finding of one probe. */
  told(probe: string): readonly string[];
}

/** The same, read as a program would. */
export async function judged(argv: readonly string[], options?: CommandOptions): Promise<Judged> {
  const checked = await check([...argv, "--json"], options);
  if (checked.out === "") throw new Error(`it said nothing but: ${checked.err}`);
  const { verdict, version, findings } = JSON.parse(checked.out) as Pick<Judged, "verdict" | "version" | "findings">;
  const of = (probe: string) => findings.filter((finding) => finding.probe === probe);
  return {
    ...checked,
    verdict,
    version,
    findings,
    of,
    told: (probe) => of(probe).map(({ level, what }) => `${level} ${what}`),
  };
}

export interface Platform {
  readonly sandbox: Sandbox;
  readonly url: string;
  /** Checks it with the token of `as` (default `admin`). */
  judge(argv?: readonly string[], as?: string, options?: CommandOptions): Promise<Judged>;
}

/** A sandbox over HTTP, taken down after the test. */
export async function platform(options: SandboxOptions = {}): Promise<Platform> {
  const made = await startPlatform(options);
  later(() => made.sandbox.close());
  return made;
}

async function startPlatform(options: SandboxOptions): Promise<Platform> {
  const sandbox = seededSandbox(options);
  const { url } = await sandbox.listen();
  return {
    sandbox,
    url,
    judge: (argv = [], as = "admin", around = {}) =>
      judged(["--upstream-v2-url", url, "--cutover-mode", "translate", ...argv], {
        ...around,
        env: { CARRYOVER_CHECK_TOKEN: sandbox.token(as), ...around.env },
      }),
  };
}

/**
 * One platform for all tests of a file that need no option and change no record. What is given returns it, with the fault layer
 * of this test.
 */
export function usualPlatform(): (layer?: SendLayer) => Platform {
  let made: Platform;
  let plain: Send;
  let current: Send;
  beforeAll(async () => {
    made = await startPlatform({
      faults: (next) => {
        plain = next;
        return (request, options) => current(request, options);
      },
    });
  });
  afterAll(() => made.sandbox.close());
  return (layer = (next) => next) => {
    current = layer(plain);
    return made;
  };
}

/** A JSON answer of a fault layer. */
export function answered(status: number, body: unknown): ApiResponse {
  return {
    status,
    headers: [["content-type", "application/json"]],
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}

/** A fault layer that rewrites the JSON of 200 answers to GETs on `path`. */
export function answering(
  path: RegExp,
  // biome-ignore lint/suspicious/noExplicitAny: tests change answers of every shape.
  change: (json: any, target: string) => unknown,
): NonNullable<SandboxOptions["faults"]> {
  return (next) => async (request, options) => {
    const response = await next(request, options);
    if (request.method !== "GET" || response.status !== 200 || !path.test(request.target)) return response;
    const json: unknown = JSON.parse(new TextDecoder().decode(response.body));
    return { ...response, body: new TextEncoder().encode(JSON.stringify(change(json, request.target))) };
  };
}

/** What one finding says to set. */
export function settings(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ set }) => (set === undefined ? [] : [`${set.path}=${set.value}`]));
}
