import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { type Front, front, ok, serving, TOKEN, V1, V2 } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());
takeDownAfterEach();

const BREAKS = ["%0d%0aX-Evil:%201", "%0aX-Evil:1", "%0d", "%E2%80%A8", "%00", "%1b[31m", "%22%7d%0a%7b%22evil%22:1"];
const PRINTABLE = /^[^\p{Control}\u2028\u2029]*$/u;
const NO_BREAK = /^[\x20-\x7e\x80-\xff]*$/;

describe("T-SMG-35: a line end that a client writes", () => {
  it("ends no field of an answer and no line of the log", async () => {
    const echo = await front(({ line }, socket) => {
      if (!line.includes("broken")) return serving({ line }, socket);
      // A platform that puts into its own fields and errors what it was asked.
      const target = line.split(" ")[1] ?? "";
      const message = JSON.stringify(`no ${decodeURIComponent(target)}`);
      const error = ok(`{"code":5,"message":${message}}`, `Location: ${target}\r\n`);
      socket.write(error.replace("200 OK", "404 Not Found"));
    });
    later(echo.close);
    for (const text of BREAKS) {
      for (const [line, fields] of [
        [`GET ${V1}/${text}`, ""],
        [`GET ${V1}/a?x=${text}`, ""],
        [`GET ${V1}?name=${text}broken`, ""],
        [`PUT ${V1}/${text}`, "Content-Length: 2\r\n"],
        [`GET ${V2}/${text}broken`, ""],
        [`GET /x/${text}`, ""],
        [`GET ${V2}`, `X-Request-Id: ${text}\r\nUser-Agent: ${text}\r\n`],
        [`GET ${V2}`, `X-Request-Id: a\tb\r\n`],
      ] as const) {
        const { answer } = await echo.ask(line, TOKEN + fields, line.startsWith("PUT") ? "{}" : "");
        expect([line, answer.field("x-evil")]).toEqual([line, undefined]);
        for (const [name, value] of answer.fields)
          expect([line, name, NO_BREAK.test(value)]).toEqual([line, name, true]);
      }
    }
    for (const line of echo.lines) {
      expect(line.trimEnd()).toMatch(PRINTABLE);
      expect(JSON.parse(line)).not.toHaveProperty("evil");
    }
    const metrics = await (await fetch(`${echo.adminUrl}/metrics`)).text();
    for (const line of metrics.split("\n"))
      expect(line).toMatch(/^(?:#.*|carryover_[\x20-\x7e]*|[a-z_]+[\x20-\x7e]*|)$/);
    expect(metrics).not.toMatch(/evil/i);
  });
});
