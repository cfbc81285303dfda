import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { writeHeaders } from "../../src/model/http.ts";
import type { PassThroughObserver } from "../../src/model/request.ts";
import { ask } from "./support/client.ts";
import { rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

function notebook() {
  const heard: string[] = [];
  let ended: (() => void) | undefined;
  const over = new Promise<void>((done) => {
    ended = done;
  });
  const watch: PassThroughObserver = {
    sent: (chunk) => heard.push(`sent ${Buffer.from(chunk)}`),
    head: (status, headers) => heard.push(`head ${status} ${writeHeaders(headers).join("|")}`),
    data: (chunk) => heard.push(`data ${Buffer.from(chunk)}`),
    over: (whole) => {
      heard.push(`over ${whole}`);
      ended?.();
    },
  };
  return { heard, watch, over };
}

const watched = (watch: PassThroughObserver, more: Parameters<typeof rig>[0] = {}) =>
  rig({ decide: ({ target }) => ({ kind: "pass", upstream: "v2", target, watch }), ...more });

describe("a watch", () => {
  it("hears the body, the answer and its end, as they came", async () => {
    const { heard, watch, over } = notebook();
    const { port } = await watched(watch, { script: "HTTP/1.1 201 Made\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok" });
    const answer = await ask(port, "POST /x", "Content-Length: 4\r\n", "body");
    await over;
    expect(answer.status).toBe(201);
    expect(heard).toEqual(["sent body", "head 201 X-A|b|Content-Length|2", "data ok", "over true"]);
  });

  it("hears that an answer broke off", async () => {
    const { heard, watch, over } = notebook();
    const { port } = await watched(watch, {
      script: (_request, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", () => socket.destroy());
      },
    });
    await ask(port, "GET /x").catch(() => undefined);
    await over;
    expect(heard.filter((line) => line.startsWith("over"))).toEqual(["over false"]);
  });

  it("hears that there was no answer at all", async () => {
    const { heard, watch, over } = notebook();
    const { port } = await watched(watch, { script: (_request, socket) => void socket.destroy() });
    expect((await ask(port, "POST /x", "Content-Length: 1\r\n", "b")).status).toBe(502);
    await over;
    expect(heard).toEqual(["sent b", "over false"]);
  });

  it("hears that the client left, once", async () => {
    const { heard, watch, over } = notebook();
    const { port, ended } = await watched(watch, {
      script: (_request, socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
    });
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
    socket.once("data", () => socket.destroy());
    await over;
    await ended(1);
    expect(heard.filter((line) => line.startsWith("over"))).toEqual(["over false"]);
  });

  it.each(["sent", "head", "data", "over"] as const)(
    "that throws in %s changes nothing for the client",
    async (where) => {
      const { watch } = notebook();
      const told: string[] = [];
      const failing = {
        ...watch,
        [where]: () => {
          throw new Error("no matter");
        },
      };
      const { port, ended } = await watched(failing, { log: (message) => told.push(message) });
      const answer = await ask(port, "POST /x", "Content-Length: 4\r\n", "body");
      await ended(1);
      expect([answer.status, answer.body]).toEqual([200, "ok"]);
      expect(told).toEqual(["a watch failed"]);
    },
  );
});

describe("fields of carryover's own", () => {
  it.each([
    ["stand behind those of the answer", "Link: </b>", ["link", "</a>; rel=x"], ["Link", "link"]],
    ["leave what the answer itself says of its end alone", "Sunset: theirs", ["sunset", "ours"], ["Sunset"]],
  ] as const)("%s", async (_, theirs, ours, names) => {
    const headers = [["carryover-mode", "native"], ours] as const;
    const { port } = await rig({
      decide: ({ target }) => ({ kind: "pass", upstream: "v2", target, headers }),
      script: `HTTP/1.1 200 OK\r\n${theirs}\r\nContent-Length: 0\r\n\r\n`,
    });
    const fields = (await ask(port, "GET /x")).fields.filter(([name]) =>
      /^(?:link|sunset|carryover-mode)$/i.test(name),
    );
    const all = [theirs.split(": "), ...headers];
    expect(fields).toEqual(names.length === 2 ? all : all.slice(0, 2));
  });
});
