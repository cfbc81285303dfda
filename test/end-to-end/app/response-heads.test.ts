import { describe, expect, it } from "vitest";
import { ask } from "../../server/support/client.ts";
import { createDouble, ok } from "../../server/support/double.ts";
import { later, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUP = "/iam/v1/groups/abc/def";
const RECORD = '{"uid":"abc/def","name":"a","description":"","kind":"ORG_KIND_CUSTOMER","status":"ORG_STATUS_READY"}';

describe("the head of a response", () => {
  const fields = (count: number, bytes: number) => `X-Long: ${"a".repeat(bytes / count)}\r\n`.repeat(count);
  const longHead = async (response: string, flags: Readonly<Record<string, string>> = {}) => {
    const double = await createDouble(response);
    later(double.close);
    return rigForTest({ v2Url: double.url, native: false, flags });
  };

  it("may have hundreds of fields and far more than 16 KiB, and early hints and trailers around it", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n";
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${fields(300, 48_000)}Trailer: X-T\r\n`;
    const body = `Transfer-Encoding: chunked\r\n\r\n${RECORD.length.toString(16)}\r\n${RECORD}\r\n0\r\nX-T: 1\r\n\r\n`;
    const rig = await longHead(hints + head + body);
    for (const target of [GROUP, GROUP.replace("v1", "v2beta1")]) {
      const got = await ask(Number(new URL(rig.url).port), `GET ${target}`);
      expect([got.status, got.fields.filter(([name]) => /^x-long$/i.test(name)).length]).toEqual([200, 300]);
    }
  });

  it("is 502 beyond limits.responseHeaderBytes, which the error names, and says of a write that its outcome is unknown", async () => {
    const response = ok(RECORD, fields(10, 20_000));
    const rig = await longHead(response, { limitsResponseHeaderBytes: "16KiB" });
    for (const [method, target] of [
      ["GET", GROUP],
      ["PUT", GROUP],
      ["PATCH", GROUP.replace("v1", "v2beta1")],
    ] as const) {
      const got = await rig.ask(method, target, method === "GET" ? {} : { body: { name: "n" } });
      const { reason, metadata } = got.json.details[0];
      expect([method, got.status, reason, metadata.option]).toEqual([
        ...[method, 502, "UPSTREAM_INVALID", "limits.responseHeaderBytes"],
      ]);
      expect([method, metadata.state]).toEqual([method, method === "GET" ? undefined : "unknown"]);
    }
  });
});
