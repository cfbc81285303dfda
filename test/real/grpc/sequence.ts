/** Runs the Go program that does what an infrastructure-as-code provider does, and notes what is on the platform after each step. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { later } from "../../support/take-down.ts";

/** `scripts/install-grpc-tools.sh` builds it from `test/real/grpc/go/provider`. */
const PROVIDER = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/grpc/bin/provider");

/** With how many records each step has to do. Invites have no update. */
export const STEPS = [
  ["plan", { create: 77 }],
  ["create", { create: 77 }],
  ["plan", {}],
  ["list", {}],
  ["remove attributes", {}],
  ["plan", { update: 73 }],
  ["update", { update: 73 }],
  ["import", {}],
  ["plan", {}],
  ["list", {}],
  ["destroy", { remove: 77 }],
  ["list", {}],
  ["plan", { create: 77 }],
] as const;

export interface Report {
  readonly step: string;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly calls: number;
  readonly create: number;
  readonly update: number;
  readonly remove: number;
  readonly failures: readonly unknown[];
  readonly wrong: readonly string[];
}

/** After these steps the platform's records are noted. */
const NOTED: readonly string[] = ["create", "update", "destroy"];

/** Runs all steps at `url`. Returns what the steps report, and the platform's records after some. */
export async function sequence(url: string, { token, wellKnown, snapshot }: Sandbox) {
  const { protocol, host } = new URL(url);
  const trust = protocol === "https:" ? ["-ca", fileWith(LOCALHOST.cert)] : [];
  const words = [...trust, "-token", token("admin"), "-root", wellKnown.rootGroup, host];
  const child = spawn(PROVIDER, words, { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  later(async () => {
    child.stdin.end();
    await gone;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const reports: Report[] = [];
  const records: string[][] = [];
  for (const [step] of STEPS) {
    child.stdin.write(`${step}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${PROVIDER} ended`);
    reports.push(JSON.parse(value));
    if (NOTED.includes(step)) records.push(withoutIds(snapshot()));
  }
  return { reports, records };
}

/** Go sends the entries of a map in any order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every record as text, with names in place of ids, and without times. */
export function withoutIds(snapshot: ReturnType<Sandbox["snapshot"]>): string[] {
  const all = Object.entries(snapshot).flatMap(([kind, records]) => records.map((record) => ({ kind, record })));
  const names = new Map<string, string>();
  for (const { kind, record } of all) {
    const { uid, name } = record as { uid?: string; name?: string };
    if (uid !== undefined && name !== undefined && kind !== "accountAssociations") {
      names.set(uid.slice(uid.lastIndexOf("/") + 1), `${kind} ${name}`);
    }
  }
  return all
    .map(({ kind, record }) => `${kind} ${JSON.stringify(record, sorted)}`)
    .map((text) => text.replaceAll(/\b(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{40})\b/g, (id) => names.get(id) ?? "id"))
    .map((text) => text.replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time"))
    .sort();
}

export const withoutTimes = (reports: readonly Report[]) =>
  reports.map(({ seconds: _seconds, slowestMs: _slowest, ...rest }) => rest);
