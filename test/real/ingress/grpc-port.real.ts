import { describe, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { call, framed, platform, unary } from "../../grpc/support/rpc.ts";
import { type Translating, translating } from "../../grpc/support/translating.ts";
import { later } from "../../support/take-down.ts";
import { ask } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

/** What the ingress is told of carryover: HTTP and gRPC on one host. */
function inFront(program: Program, { carryover, sandboxUrl, rpc }: Translating) {
  const { url: carryoverUrl, adminUrl } = carryover;
  return startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl: rpc });
}

describe.each(PROGRAMS)("$title", (program) => {
  it("serves v1 over HTTP and over gRPC on one host, errors with their details included", async () => {
    const all = await translating();
    const { sandbox, exchanges } = all;
    const { url, h2Url } = await inFront(program, all);
    const client = grpcClient(sandbox, h2Url);
    later(async () => client.close());

    const overGrpc = await client.call("iam.Groups/List", {});
    expect(overGrpc.code).toBe(0);
    expect(overGrpc.headers["carryover-mode"]).toBe("translate");
    const headers = ["Authorization", `Bearer ${sandbox.token("admin")}`];
    const overHttp = await ask(url, { target: "/iam/v1/groups", headers });
    expect(overGrpc.json.items.map(({ id }: { id: string }) => id)).toEqual(
      JSON.parse(overHttp.text).items.map(({ id }: { id: string }) => id),
    );
    const refused = await client.call("iam.Groups/Delete", { id: sandbox.wellKnown.rootGroup });
    expect(refused.code).toBe(9);
    expect(refused.details.map((one: { "@type": string }) => one["@type"])).toContain(
      "type.googleapis.com/google.rpc.PreconditionFailure",
    );
    expect(exchanges.map(({ apiVersion, mode, rpc }) => [apiVersion, mode, rpc?.method])).toEqual([
      ["v1", "translate", "List"],
      ["v1", "translate", undefined],
      ["v1", "translate", "Delete"],
    ]);
  });

  it("passes v2 on, and lets no client say where it comes from", async () => {
    const v2 = await platform(unary((request) => [request]));
    const all = await translating({ upstreamV2GrpcUrl: v2.url, listenTrustedProxies: "127.0.0.0/8" });
    const { h2Url } = await inFront(program, all);
    const path = `/${VENDOR_TYPES}.iam.v2beta1.GroupsService/ListGroups`;
    const message = framed(Buffer.from("bytes"));
    const answer = await call(h2Url, path, message, {
      "x-forwarded-for": "203.0.113.6",
      "x-forwarded-user": "root",
      "x-real-ip": "203.0.113.6",
      forwarded: "for=203.0.113.6",
    });
    expect([answer.status, answer.body]).toEqual([0, message]);
    const [arrived] = v2.heads;
    expect(arrived?.headers["x-forwarded-for"]).toBe("127.0.0.1, 127.0.0.1");
    expect(JSON.stringify(arrived?.headers)).not.toMatch(/203\.0\.113\.6|root/);
  });

  it("says that carryover is unavailable when it is gone", async () => {
    const all = await translating();
    const { h2Url } = await inFront(program, all);
    await all.carryover.close();
    const { head, status } = await call(h2Url, `/${VENDOR_TYPES}.iam.Groups/List`);
    // Clients take 502, 503 and 504 without `grpc-status` for UNAVAILABLE.
    expect(status ?? head[":status"]).toSatisfy((code) => [14, 502, 503, 504].includes(code));
  });
});
