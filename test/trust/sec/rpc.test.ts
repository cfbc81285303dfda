import { createSecureServer } from "node:http2";
import { createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { call } from "../../grpc/support/rpc.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { later, listening, takeDownAfterEach } from "../../support/take-down.ts";
import { BAD, type Identity, upstreamsAt } from "./upstreams.ts";

takeDownAfterEach();

const WITHOUT_HTTP2: Identity = [
  "right, without HTTP/2",
  { ...LOCALHOST, ALPNProtocols: ["http/1.1"] },
  LOCALHOST.cert,
];
const CALLS = [
  ["passed to v2", "acme.platform.iam.v2beta1.GroupsService/ListGroups", {}],
  ["translated", "acme.platform.iam.Groups/List", {}],
  ["passed to native v1", "acme.platform.tenant.Records/List", {}],
  ["the exchange of tokens", "acme.platform.oidc.SecurityTokenService/Exchange", {}],
] as const;

/** carryover before one place as every upstream, each call tried. */
async function inFrontOf(url: string, trusted: string | undefined): Promise<string> {
  const started = await startCarryover({
    v2Url: url,
    flags: {
      ...upstreamsAt(url, trusted, ["V2", "V1", "Sts"]),
      listenGrpcPort: "0",
      grpcDescriptors: fileWith(seededSandbox().descriptors()),
    },
  });
  later(started.close);
  return started.grpcUrl ?? "";
}

describe("T-RPC-12: over gRPC a platform whose certificate is", () => {
  it.each([...BAD, WITHOUT_HTTP2])("%s sees no token, however it is called", async (_, shows, trusted) => {
    let received = "";
    let attempts = 0;
    const server = createServer(shows, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1");
        socket.destroy();
      });
    });
    server.on("connection", () => attempts++).on("tlsClientError", () => {});
    const rpc = await inFrontOf(`https://localhost:${await listening(server)}`, trusted);
    const withToken = { authorization: "Bearer secret-token" };
    const calls = shows.ALPNProtocols === undefined ? CALLS : CALLS.filter(([what]) => what !== "translated");
    for (const [what, path] of calls) {
      expect([what, (await call(rpc, `/${path}`, undefined, withToken)).status]).toEqual([what, 14]);
    }
    expect(attempts).toBeGreaterThanOrEqual(calls.length);
    expect(received).not.toContain("secret-token");
    expect(received).toBe("");
    figure("T-RPC-12", "calls with a token to a platform whose certificate does not hold", calls.length, "calls");
    figure("T-RPC-12", "bytes of these that it received", received.length, "bytes");
  });

  it("right sees it, so that the tests above would notice", async () => {
    const seen: (string | undefined)[] = [];
    const server = createSecureServer({ ...LOCALHOST }, () => {});
    server.on("stream", (stream, headers) => {
      seen.push(headers.authorization);
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
    });
    const rpc = await inFrontOf(`https://localhost:${await listening(server)}`, LOCALHOST.cert);
    for (const [, path] of CALLS.filter(([what]) => what !== "translated")) {
      expect((await call(rpc, `/${path}`, undefined, { authorization: "Bearer secret-token" })).status).toBe(0);
    }
    expect(seen).toEqual(Array(3).fill("Bearer secret-token"));
  });
});
