/** An infrastructure-as-code provider with generated Go clients, through real proxies, while a hostile client shares their connections to carryover. */
import { describe, expect, it } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { ALIKE } from "../grpc/clients/same.ts";
import { STEPS, sequence, withoutIds, withoutTimes } from "../grpc/clients/sequence.ts";
import { translating } from "../grpc/support/translating.ts";
import { LOCALHOST } from "../server/support/certificates.ts";
import { later } from "../support/take-down.ts";
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

describe.each(PROGRAMS)("$title", (program) => {
  it("creates, lists, changes, imports and destroys records as native v1 does, with a hostile client on the same proxy", async () => {
    onNative ??= runOnNative();
    const native = await onNative;
    const nothing = { create: 0, update: 0, remove: 0, failures: [], wrong: [] };
    expect(withoutTimes(native.reports)).toMatchObject(STEPS.map(([step, did]) => ({ step, ...nothing, ...did })));

    const flags = { listenTrustedProxies: "127.0.0.0/8" };
    const { carryover, sandbox, sandboxUrl, rpc } = await translating(flags, { platform: ALIKE });
    const { url: carryoverUrl, adminUrl } = carryover;
    const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl: rpc });
    const before = withoutIds(sandbox.snapshot());
    const hostile = startHostile({ url: proxy.tlsUrl, ca: LOCALHOST.cert, token: sandbox.token("viewer#hostile") });
    const { reports, records } = await sequence(proxy.tlsUrl, sandbox);
    const attacks = await hostile.stop();

    const calls = reports.reduce((sum, report) => sum + report.calls, 0);
    const seconds = reports.reduce((sum, report) => sum + report.seconds, 0);
    const hostileCalls = Object.values(attacks).reduce((sum, some) => sum + some, 0);
    const failed = reports.flatMap(({ failures }) => failures).length;
    console.log(
      `${program.title}: ${calls} calls in ${seconds.toFixed(1)} s, ${failed} kinds of failures; ${hostileCalls} hostile calls`,
    );
    expect(withoutTimes(reports)).toEqual(withoutTimes(native.reports));
    expect(records).toEqual(native.records);
    expect(records.at(-1)).toEqual(before);
    for (const [attack, some] of Object.entries(attacks)) expect(some, attack).toBeGreaterThan(0);
    expect(Object.keys(attacks)).toHaveLength(11);
  });
});
