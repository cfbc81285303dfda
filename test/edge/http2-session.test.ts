import type { ServerHttp2Session } from "node:http2";
import { expect, it } from "vitest";
import { endBetweenReads } from "../../src/edge/http2-session.ts";

it("a session ends only after the read that made it end", async () => {
  const seen: string[] = [];
  const session = { destroy: () => void seen.push("destroyed") } as unknown as ServerHttp2Session;
  endBetweenReads(session, () => seen.push("told"));
  session.destroy();
  expect(seen).toEqual(["told"]);
  await new Promise(setImmediate);
  expect(seen).toEqual(["told", "destroyed"]);
});
