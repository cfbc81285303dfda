/** An infrastructure-as-code provider with generated Go clients, through real proxies, while a hostile client shares their connections to carryover. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { header, type SendLayer } from "../../../sandbox/src/http.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import type { Exchange } from "../../../src/model/exchange.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ALIKE } from "../../grpc/clients/same.ts";
import { translating } from "../../grpc/support/translating.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { later } from "../../support/take-down.ts";
import { STEPS, sequence, withoutIds, withoutTimes } from "../grpc/sequence.ts";
import { startHostile } from "./hostile.ts";
import { PROGRAMS } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

/** The same on native v1, with no other client. */
async function runOnNative() {
  const sandbox = seededSandbox(ALIKE);
  const { url } = await sandbox.listen();
  later(sandbox.close);
  return sequence(url, sandbox);
}
let onNative: ReturnType<typeof runOnNative> | undefined;

/** The platform takes its time for the hostile client, so that its cancels find calls in progress. */
const SLOW_MS = 900;
const slowFor =
  (tokens: readonly string[]): SendLayer =>
  (next) =>
  async (request, options) => {
    const authorization = header(request.headers, "authorization") ?? "";
    if (tokens.includes(authorization.replace("Bearer ", ""))) await wait(SLOW_MS);
    return next(request, options);
  };

/** How the calls of an attack end for its client, each at least once. */
const ENDS: Readonly<Record<string, string>> = {
  "invented tokens": "status 16",
  "refused before they are whole": "status 12",
  "refused early, with a large body": "status 12",
  "larger than allowed": "status 8",
  "messages that never come": "connection ended",
  "rapid cancels": "cancelled",
  "resets after the head of a response": "cancelled",
  "readers that read nothing": "connection ended",
  "invented names": "status 12",
  // Most programs refuse some of it themselves.
  "huge metadata": "",
  "messages in crumbs": "connection ended",
  "cut connections": "connection ended",
};

/**
 * With these programs, cancels of one client would end a connection of all, unless carryover refused its calls. With HAProxy, each client has
 * its own connections to carryover, and with nginx each call.
 */
const WEAR_OUT: ReadonlySet<string> = new Set(["envoy", "caddy", "caddy-debian"]);

/** How often carryover refused calls of the hostile client, by the reason, and how often that client left. */
function treated(exchanges: readonly Exchange[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { reason, notes, aborted, client } of exchanges) {
    if (client === "grpc-go") continue;
    const shed = notes.find((note) => note.startsWith("shed"));
    const what = shed ?? reason ?? (aborted ? "left" : "served, or refused by the platform");
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

describe.each(PROGRAMS)("$title", (program) => {
  it("creates, lists, changes, imports and destroys records as native v1 does, with a hostile client on the same proxy", async () => {
    onNative ??= runOnNative();
    const native = await onNative;
    const nothing = { create: 0, update: 0, remove: 0, failures: [], wrong: [] };
    expect(withoutTimes(native.reports)).toMatchObject(STEPS.map(([step, did]) => ({ step, ...nothing, ...did })));

    const flags = { listenTrustedProxies: "127.0.0.0/8" };
    const { token } = seededSandbox(ALIKE);
    const tokens = [token("viewer#hostile"), token("viewer#cancelling")] as const;
    const platform = { ...ALIKE, faults: slowFor(tokens) };
    const { carryover, sandbox, sandboxUrl, rpc, exchanges } = await translating(flags, { platform });
    const { url: carryoverUrl, adminUrl } = carryover;
    const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl: rpc });
    const before = withoutIds(sandbox.snapshot());
    const hostile = startHostile({ url: proxy.tlsUrl, ca: LOCALHOST.cert, tokens });
    const { reports, records } = await sequence(proxy.tlsUrl, sandbox);
    const attacks = await hostile.stop();

    const calls = sum(reports.map((report) => report.calls));
    const seconds = sum(reports.map((report) => report.seconds));
    const failures = reports.flatMap(({ step, failures: some }) => some.map((failure) => ({ step, failure })));
    const hostileCalls = sum(Object.values(attacks.outcomes).flatMap((some) => Object.values(some)));
    const treatment = treated(exchanges);
    console.log(
      `${program.title}: ${calls} calls in ${seconds.toFixed(1)} s, ${failures.length} kinds of failures; ${hostileCalls} hostile calls, ${Math.round(hostileCalls / attacks.seconds)} a second\n${JSON.stringify(attacks.outcomes)}\n${JSON.stringify(treatment)}`,
    );
    expect(failures).toEqual([]);
    expect(withoutTimes(reports)).toEqual(withoutTimes(native.reports));
    expect(records).toEqual(native.records);
    expect(records.at(-1)).toEqual(before);

    // The hostile client got through, and was dealt with.
    expect(hostileCalls).toBeGreaterThan(calls);
    expect(Object.keys(attacks.outcomes)).toEqual(Object.keys(ENDS));
    for (const [attack, some] of Object.entries(attacks.outcomes)) {
      expect(Object.entries(some), attack).toContainEqual([
        expect.stringContaining(ENDS[attack] ?? ""),
        expect.any(Number),
      ]);
    }
    const reasons = ["left", "METHOD_NOT_ALLOWED", "NOT_TRANSLATABLE", "MESSAGE_TOO_LARGE"];
    if (WEAR_OUT.has(program.name)) reasons.push("OVERLOADED");
    expect(Object.keys(treatment)).toEqual(expect.arrayContaining(reasons));
    // Calls that are whole are not broken by the refused ones before them on a connection.
    if (program.name === "nginx") expect(attacks.outcomes["invented tokens"]).not.toHaveProperty("status HTTP 502");
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
