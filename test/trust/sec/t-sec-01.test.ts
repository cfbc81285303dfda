import { setTimeout as sleep } from "node:timers/promises";
import { createServer, type TlsOptions } from "node:tls";
import { describe, expect, it } from "vitest";
import { listening, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { figure } from "../../support/figures.ts";
import { BAD, type Identity, upstreamsAt } from "./upstreams.ts";

takeDownAfterEach();

const GOOD: Identity = ["right", LOCALHOST, LOCALHOST.cert];

interface Impostor {
  readonly url: string;
  /** Everything that came, as it was before it was encrypted. */
  received(): string;
  /** Attempts to connect. */
  attempts(): number;
}

async function impostor(shows: TlsOptions): Promise<Impostor> {
  let received = "";
  let attempts = 0;
  const server = createServer(shows, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    });
  });
  server.on("connection", () => attempts++);
  server.on("tlsClientError", () => {});
  return {
    url: `https://localhost:${await listening(server)}`,
    received: () => received,
    attempts: () => attempts,
  };
}

/** Carryover before `place` as the upstreams called `names`; others are the sandbox. */
async function inFrontOf(
  place: Impostor,
  trusted: string | undefined,
  names: readonly string[],
  flags: Record<string, string> = {},
): Promise<Rig> {
  return rigForTest({ flags: { ...flags, ...upstreamsAt(place.url, trusted, names) } });
}

const BODY = { body: '{"name":"a"}' };
const CALLS = [
  ["pass-through", "GET", "/iam/v2beta1/groups", {}],
  ["pass-through with a body", "POST", "/iam/v2beta1/groups/a", BODY],
  ["a translated read", "GET", "/iam/v1/groups?id=a", {}],
  ["a translated list", "GET", "/iam/v1/groups", {}],
  ["a joined list", "GET", "/iam/v1/rolebindings", {}],
  ["a create", "POST", "/iam/v1/groups/a", BODY],
  ["an update", "PUT", "/iam/v1/groups/a/b", BODY],
  ["a delete", "DELETE", "/iam/v1/groups/a/b", {}],
  ["the exchange of tokens", "GET", "/sts/exchange?aud=a&identity=b", {}],
] as const;

/** All at the same time, all with a token; gives how many were made. */
async function callAll(rig: Rig, calls: readonly (typeof CALLS)[number][] = CALLS): Promise<number> {
  const answers = await Promise.all(calls.map(([, method, target, more]) => rig.ask(method, target, more)));
  for (const [i, answer] of answers.entries()) {
    expect([calls[i]?.[0], answer.status, reasonOf(answer)]).toEqual([calls[i]?.[0], 502, "UPSTREAM_UNREACHABLE"]);
    expect(answer.json.details[0].metadata).toEqual({});
  }
  return calls.length;
}

const SHADOW = `version: carryover/v1
rules:
  - name: look
    mode: shadow
    match: {}
    shadow: { sample: 1 }
`;

async function failures(rig: Rig): Promise<number> {
  const text = await (await fetch(`${rig.adminUrl}/metrics`)).text();
  return [...text.matchAll(/^carryover_comparison_failures_total\{[^}]*reason="unreachable"[^}]*\} (\d+)$/gm)]
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0);
}

describe("T-SEC-01, T-FLT-17: a platform whose certificate is", () => {
  it.each(BAD)("%s sees no token, however it is called", async (_, shows, trusted) => {
    const place = await impostor(shows);
    let calls = await callAll(await inFrontOf(place, trusted, ["V2", "V1", "Sts"]));
    expect(place.attempts()).toBeGreaterThanOrEqual(calls);

    const native = await inFrontOf(place, trusted, ["V1"], { cutoverMode: "native" });
    calls += await callAll(
      native,
      CALLS.filter(([, , path]) => path.startsWith("/iam/v1")),
    );

    const rules = fileWith(SHADOW);
    const shadow = await inFrontOf(place, trusted, ["V2"], { cutoverRulesFile: rules, cutoverMode: "native" });
    expect((await shadow.ask("GET", "/iam/v1/groups")).status).toBe(200);
    while ((await failures(shadow)) === 0) await sleep(10);
    calls++;

    expect(place.received()).toBe("");
    figure("T-SEC-01", "calls with a token to a platform whose certificate does not hold", calls, "calls");
    figure("T-SEC-01", "bytes of these that it received", place.received().length, "bytes");
  });

  it("right sees it, so that the tests above would notice", async () => {
    const [, shows, trusted] = GOOD;
    const place = await impostor(shows);
    const rig = await inFrontOf(place, trusted, ["V2", "V1", "Sts"]);
    for (const [, method, target, more] of CALLS) expect((await rig.ask(method, target, more)).status).not.toBe(502);
    expect(place.received().match(/authorization: Bearer /gi)?.length).toBeGreaterThanOrEqual(CALLS.length);
  });
});
