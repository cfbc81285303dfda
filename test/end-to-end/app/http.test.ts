import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { reasonOf, scripted, sharedRig } from "./rig.ts";

const GROUPS = "/iam/v1/groups";

/** Before the sandbox alone. */
const sandboxed = sharedRig({ native: false });
const inFrontOf = scripted();

const group = () => `${GROUPS}/${sandboxed().sandbox.wellKnown.someGroup}`;

function http(status: number, body: string | Uint8Array, fields = ""): Buffer {
  const head = `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}

it("an answer in zstd is read where this Node can, and 502 elsewhere", async () => {
  // A frame with one raw block.
  const record = '{"uid":"abc","name":"ä"}';
  const block = Buffer.alloc(3);
  block.writeUIntLE((Buffer.byteLength(record) << 3) | 1, 0, 3);
  const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, Buffer.byteLength(record)]);
  const bytes = Buffer.concat([frame, block, Buffer.from(record)]);
  const { rig } = inFrontOf(http(200, bytes, "Content-Encoding: zstd\r\n"));
  const answer = await rig.ask("GET", `${GROUPS}/abc`);
  if ("zstdDecompress" in zlib) expect([answer.status, answer.json.name]).toEqual([200, "ä"]);
  else expect([answer.status, reasonOf(answer)]).toEqual([502, "UPSTREAM_INVALID"]);
});

describe("the body of a request", () => {
  it("is read as it is, whatever Content-Encoding says, as v1's gateway did", async () => {
    const headers = { "content-encoding": "gzip" };
    const answer = await sandboxed().ask("PUT", group(), { body: '{"name":"plain"}', headers });
    expect([answer.status, answer.json.name]).toEqual([200, "plain"]);
    const packed = await sandboxed().ask("PUT", group(), { body: zlib.gzipSync('{"name":"packed"}'), headers });
    expect([packed.status, reasonOf(packed)]).toEqual([400, "INVALID_BODY"]);
  });
});
