import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { later, type Rig, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

/** An ingress that sends everything to carryover, which has it for its platform. */
async function roundabout(): Promise<{ readonly rig: Rig; readonly passed: () => number }> {
  let behind = "";
  let passed = 0;
  const ingress = createServer((incoming, answer) => {
    passed += 1;
    const { method, url, headers } = incoming;
    const onward = request(`${behind}${url}`, { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => ingress.listen(0, "127.0.0.1", resolve));
  later(async () => {
    ingress.closeAllConnections();
    await new Promise((resolve) => ingress.close(resolve));
  });
  const front = `http://127.0.0.1:${(ingress.address() as AddressInfo).port}`;
  const rig = await rigForTest({ v2Url: front, native: false, flags: { upstreamV1Url: front } });
  behind = rig.url;
  return { rig, passed: () => passed };
}

describe("a request that comes back to carryover", () => {
  it("is refused after one round, passed through, translated or native", async () => {
    const { rig, passed } = await roundabout();
    for (const [at, target] of [
      "/iam/v2beta1/groups?page_size=1",
      "/iam/v1/groups",
      "/iam/v1/externalGroupRoleMappings",
    ].entries()) {
      const answer = await rig.ask("GET", target);
      expect([target, answer.status, passed()]).toEqual([target, 508, at + 1]);
      expect(answer.json).toMatchObject({
        code: 9,
        message: expect.stringContaining(
          "come through carryover before: upstreams must be addresses that do not lead to",
        ),
        details: [{ reason: "LOOP_DETECTED", domain: "carryover" }],
      });
    }
  });

  it("is no request that went through another proxy, whatever its name begins with", async () => {
    const rig = await rigForTest();
    for (const via of ["1.1 nginx", "1.1 carryover-ingress", "1.1 vegur, 1.0 fred (carryover)"]) {
      expect((await rig.ask("GET", "/iam/v1/groups", { headers: { via } })).status).toBe(200);
    }
    for (const via of ["1.1 carryover", "1.1 nginx, 1.1 carryover, 1.1 nginx", "HTTP/1.1 Carryover (x)"]) {
      expect((await rig.ask("GET", "/iam/v1/groups", { headers: { via } })).status).toBe(508);
    }
  });
});
