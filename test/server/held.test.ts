import { expect, it } from "vitest";
import { createMemoryBudget } from "../../src/model/memory-budget.ts";
import { dial } from "./support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const MIB = 1024 * 1024;
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const answering = (body: Buffer) => () => ({
  kind: "answer" as const,
  respond: async () => ({ status: 200, headers: [["content-type", "application/json"]] as const, body }),
});

it("a response that its client does not take counts until it leaves", async () => {
  const memory = createMemoryBudget(64 * MIB);
  const { port } = await rig({ memory, decide: answering(Buffer.alloc(30 * MIB, "a")) });
  const client = await dial(port);
  client.socket.pause();
  client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => memory.held() > 10 * MIB);
  client.leave();
  await until(() => memory.held() === 0);
});

it("a response that its client takes is not held any more", async () => {
  const memory = createMemoryBudget(64 * MIB);
  const { port } = await rig({ memory, decide: answering(Buffer.alloc(5 * MIB, "a")) });
  const client = await dial(port);
  client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until((text) => text.length > 5 * MIB);
  await until(() => memory.held() === 0);
  client.leave();
});

it("a long body of a request waits unread until there is memory for all of it, and is counted while it is used", async () => {
  const memory = createMemoryBudget(2 * MIB);
  const held: number[] = [];
  const { port } = await rig({
    memory,
    limits: { ...LIMITS, bodyBytes: MIB },
    decide: () => ({
      kind: "answer",
      respond: async (body) => {
        held.push(memory.held());
        return { status: 200, headers: [], body: Buffer.from(String(body.length)) };
      },
    }),
  });
  const other = memory.tryReserve("", MIB);
  const client = await dial(port);
  client.send(`PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n${"x".repeat(900_000)}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(held).toEqual([]);
  other?.resize(0);
  expect(await client.until((text) => text.endsWith("900000"))).toContain("200 OK");
  expect(held).toEqual([900_000]);
  await until(() => memory.held() === 0);
  client.leave();
});

it("a body that passes through counts while it is gathered", async () => {
  const memory = createMemoryBudget(64 * MIB);
  const { port } = await rig({ memory });
  const client = await dial(port);
  client.send(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n${"x".repeat(500_000)}`);
  await until(() => memory.held() === 900_000);
  client.send("x".repeat(400_000));
  await client.until((text) => text.endsWith("ok"));
  await until(() => memory.held() === 0);
  client.leave();
});
