/** What every Send promises, whatever its implementation. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRequest, Send } from "../../src/model/http.ts";

/** A Send and three requests with known results. */
export interface SendSubject {
  readonly send: Send;
  /** Answered 200 with a JSON body; the same each time. */
  readonly found: ApiRequest;
  /** Answered with an error status and a body. */
  readonly refused: { readonly request: ApiRequest; readonly status: number };
  close?(): Promise<void>;
}

const HOP_BY_HOP = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate"];

/** Registers the suite; `make` is called once, before the first test. */
export function sendContract(name: string, make: () => Promise<SendSubject>): void {
  describe(`${name} is a Send`, () => {
    let subject: SendSubject;
    const ask = (request: ApiRequest) => subject.send(request, { signal: new AbortController().signal });

    beforeAll(async () => {
      subject = await make();
    });
    afterAll(async () => {
      await subject.close?.();
    });

    it("an answer is its status and all bytes of its body", async () => {
      const answer = await ask(subject.found);
      expect(answer.status).toBe(200);
      expect(answer.body).toBeInstanceOf(Uint8Array);
      const text = new TextDecoder("utf-8", { fatal: true }).decode(answer.body);
      expect(() => JSON.parse(text)).not.toThrow();
      expect(Buffer.from((await ask(subject.found)).body).equals(Buffer.from(answer.body))).toBe(true);
    });

    it("an error of the other side is an answer like any other", async () => {
      const answer = await ask(subject.refused.request);
      expect(answer.status).toBe(subject.refused.status);
      expect(answer.body.length).toBeGreaterThan(0);
    });

    it("fields are pairs with lower-case names, and none belongs to a connection", async () => {
      const { headers, body } = await ask(subject.found);
      expect(headers.length).toBeGreaterThan(0);
      for (const pair of headers) {
        expect(pair).toHaveLength(2);
        expect(pair[0]).toBe(pair[0].toLowerCase());
        expect(HOP_BY_HOP).not.toContain(pair[0]);
      }
      expect(headers.find(([name]) => name === "content-type")?.[1]).toMatch(/^application\/json/);
      const length = headers.find(([name]) => name === "content-length")?.[1];
      if (length !== undefined) expect(Number(length)).toBe(body.length);
    });

    it("a request is only read", async () => {
      const { found } = subject;
      const frozen: ApiRequest = Object.freeze({ ...found, headers: Object.freeze([...found.headers]) });
      await expect(ask(frozen)).resolves.toMatchObject({ status: 200 });
    });

    it("many at a time do not get each other's answers", async () => {
      const calls = Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0 ? subject.found : subject.refused.request));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses).toEqual(statuses.map((_, i) => (i % 2 === 0 ? 200 : subject.refused.status)));
    });

    it("a caller who has given up gets the reason, before or while it is sent", async () => {
      const reason = new Error("gave up");
      await expect(subject.send(subject.found, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const call = subject.send(subject.found, { signal: controller.signal });
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect((await ask(subject.found)).status).toBe(200);
    });
  });
}
