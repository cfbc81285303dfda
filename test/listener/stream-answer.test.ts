import { describe, expect, it } from "vitest";
import type { Decide } from "../../src/model/plan.ts";
import { ask } from "./support/client.ts";
import { rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const PAGE = Buffer.from(Array.from({ length: 400 }, (_, i) => `{"id":"record-${i}","name":"n"}`).join(","));
const bytes = (text: string) => Buffer.from(text);

function list(pages: number): Uint8Array[] {
  const pieces: Uint8Array[] = [bytes('{"items":[')];
  for (let i = 0; i < pages; i++) pieces.push(...(i === 0 ? [PAGE] : [bytes(","), PAGE]));
  return [...pieces, bytes("]}")];
}

function streaming(pieces: () => AsyncGenerator<Uint8Array>): Decide {
  return () => ({
    kind: "answer",
    respond: async () => ({ status: 200, headers: [["content-type", "application/json"]], body: pieces() }),
  });
}

describe("an answer in pieces", () => {
  it("arrives whole, in chunks, and is counted", async () => {
    const { port, ended } = await rig({
      decide: streaming(async function* () {
        yield* list(50);
      }),
    });
    const answer = await ask(port, "GET /x");
    const sent = Buffer.concat(list(50));
    expect(answer.body).toBe(sent.toString());
    expect([answer.field("transfer-encoding"), answer.field("content-length")]).toEqual(["chunked", undefined]);
    expect(await ended(1)).toMatchObject({ status: 200, responseBytes: sent.length, aborted: false });
  });
});
