/** Does the comparison notice somebody in between who gets things wrong? */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/model/message.ts";
import { at, type Call, get, idOf, post, put } from "./call.ts";
import { differences } from "./compare.ts";
import { directly, type StartFront, startPair } from "./harness.ts";
import { exchange, type Outgoing } from "./http.ts";
import { disappointments } from "./run.ts";

type Meddle = (call: Outgoing, pass: (call: Outgoing) => Promise<ApiResponse>) => Promise<ApiResponse>;

/** Serves what native v1 answers, but for what `meddle` does to it. */
function meddling(meddle: Meddle): StartFront {
  return async ({ v2Url }) => {
    const server = createServer(async (incoming, outgoing) => {
      const { status, headers, body } = await meddle(await outgoingOf(incoming, v2Url), exchange);
      outgoing.writeHead(
        status,
        headers.filter(([name]) => name === "content-type" || name.startsWith("grpc-")).flat(),
      );
      outgoing.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(() => resolve())) };
  };
}

async function outgoingOf(incoming: IncomingMessage, url: string): Promise<Outgoing> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const authorization = incoming.headers.authorization ?? "";
  return {
    method: incoming.method ?? "",
    url,
    target: incoming.url ?? "",
    headers: { authorization },
    body: chunks.length === 0 ? undefined : Buffer.concat(chunks),
  };
}

const below = at("/iam/v1/groups/", (seen) => seen.known.leaf);
const one = at("/iam/v1/groups/", idOf("one"));
const CALLS: readonly Call[] = [
  post("one", below, { name: "one", description: "d" }, 200),
  put("another name", one, { name: "two", description: "d" }, 200),
  put("no description", one, { name: "two" }, 200),
  get("it", at("/iam/v1/groups?id=", idOf("one")), 200),
];

async function noticed(start: StartFront): Promise<{ answers: string[]; stores: string[] }> {
  const pair = await startPair(start);
  const [answers, stores]: [string[], string[]] = [[], []];
  try {
    for (const call of CALLS) {
      const native = await pair.native.ask(call);
      answers.push(...differences(native, await pair.carried.ask(call)).map((line) => `${call.name}: ${line}`));
      stores.push(...pair.storeDifferences().map((line) => `${call.name}: ${line}`));
    }
  } finally {
    await pair.close();
  }
  return { answers, stores };
}

const asText = (answer: ApiResponse, change: (text: string) => string): ApiResponse => ({
  ...answer,
  body: new TextEncoder().encode(change(new TextDecoder().decode(answer.body))),
});

describe("what stands between", () => {
  test("nothing: nothing is noticed", async () => {
    expect(await noticed(directly)).toEqual({ answers: [], stores: [] });
    expect(await noticed(meddling((call, pass) => pass(call)))).toEqual({ answers: [], stores: [] });
  });

  test("one that renames a member of an answer", async () => {
    const found = await noticed(
      meddling(async (call, pass) =>
        asText(await pass(call), (text) => text.replaceAll('"description"', '"describes"')),
      ),
    );
    expect(found.stores).toEqual([]);
    expect(found.answers.join("\n")).toMatch(/^one: \/description: "d", \(absent\)$/m);
  });

  test("one that answers rightly and takes the write back", async () => {
    const found = await noticed(
      meddling(async (call, pass) => {
        if (call.method !== "PUT") return pass(call);
        const answer = await pass(call);
        await pass({ ...call, body: new TextEncoder().encode('{"name":"one","description":"d"}') });
        return answer;
      }),
    );
    expect(found.answers.filter((line) => !line.startsWith("it: "))).toEqual([]);
    expect(found.stores.join("\n")).toContain('name: "two", "one"');
  });

  test("one that writes twice", async () => {
    const found = await noticed(
      meddling(async (call, pass) => {
        if (call.method === "POST") await pass(call);
        return pass(call);
      }),
    );
    expect(found.stores).not.toEqual([]);
  });

  test("one that keeps what a client left out", async () => {
    const found = await noticed(
      meddling((call, pass) => {
        if (call.method !== "PUT") return pass(call);
        const asked = JSON.parse(new TextDecoder().decode(call.body)) as object;
        return pass({ ...call, body: new TextEncoder().encode(JSON.stringify({ description: "d", ...asked })) });
      }),
    );
    expect(found.answers).toContain('no description: /description: "", "d"');
    expect(found.stores.join("\n")).toMatch(/^no description: .*description: \(absent\), "d"$/m);
  });
});

describe("what native v1 owes a call", () => {
  test("every expectation can be disappointed", async () => {
    const pair = await startPair(directly);
    try {
      const list = get("root", (seen) => `/iam/v1/groups?id=${seen.known.root}`, 200);
      const bad = post("bad", below, { name: "NO" }, 400);
      const answers = { list: await pair.native.ask(list), bad: await pair.native.ask(bad) };
      const told = (call: Call, extra: Partial<Call>) =>
        disappointments({ ...call, ...extra }, call === list ? answers.list : answers.bad, pair.native.seen);
      expect(told(list, { items: 1, every: ({ known: { root } }) => ({ id: root }), shows: {} }).length).toBe(1);
      expect(told(list, { items: 1, every: { verified: true } })).toEqual([]);
      expect(told(list, { status: 201 })).toHaveLength(1);
      expect(told(list, { items: 0 })).toHaveLength(1);
      expect(told(list, { items: "over 200" })).toHaveLength(1);
      expect(told(list, { every: { name: "no" } })).toHaveLength(1);
      expect(told(bad, { code: 3, field: "name" })).toEqual([]);
      expect(told(bad, { code: 9 })).toHaveLength(1);
      expect(told(bad, { field: "description" })).toHaveLength(1);
      expect(told(bad, { items: "some" })).toHaveLength(1);
      expect(told(bad, { shows: { code: 5 } })).toHaveLength(1);
    } finally {
      await pair.close();
    }
  });
});
