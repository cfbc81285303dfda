import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask, askH2 } from "./ask.ts";
import { callGrpc, startGrpcPlatform } from "./grpc.ts";
import { PROGRAMS } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

describe.each(PROGRAMS)("$title", (program) => {
  it("hands a call in both directions to the platform message by message, trailers included, whatever its path", async () => {
    const { url: carryoverUrl, adminUrl, sandboxUrl, exchanges } = await rigForTest();
    const platform = await startGrpcPlatform();
    const grpcUrl = platform.url;
    const { h2Url } = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl });
    for (const path of ["/platform.iam.v2.Groups/Watch", "/iam/v2beta1/groups"]) {
      const answer = await callGrpc(h2Url, path, ["one", "two", "three"]);
      expect(answer).toMatchObject({ status: 200, echoes: ["one", "two", "three"] });
      expect(answer.trailers).toMatchObject({ "grpc-status": "0", "grpc-message": "said" });
      expect(platform.calls.at(-1)).toMatchObject({
        ":path": path,
        "content-type": "application/grpc+proto",
        te: "trailers",
        "grpc-timeout": "20S",
        "x-trace": "a",
      });
    }
    expect(exchanges).toEqual([]);
  });

  it("serves v1 on HTTP/2 as on HTTP/1.1", async () => {
    const { url: carryoverUrl, adminUrl, sandboxUrl, sandbox, exchanges } = await rigForTest();
    const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl });
    const authorization = `Bearer ${sandbox.token("admin")}`;
    expect(
      (await askH2(proxy.h2Url, { target: "/iam/v1/roles", headers: ["Authorization", authorization] })).status,
    ).toBe(200);
    const direct = await ask(proxy.url, { target: "/iam/v1/roles", headers: ["Authorization", authorization] });
    expect(direct.status).toBe(200);
    expect(exchanges.map(({ mode, apiVersion }) => [mode, apiVersion])).toEqual([
      ["translate", "v1"],
      ["translate", "v1"],
    ]);
  });
});
