import { createServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { describe, expect, test } from "vitest";
import { ask } from "../../../src/commands/report/ask.ts";
import type { InstanceResult } from "../../../src/fleet/merge.ts";
import { listening, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { admin, busy, nowhere } from "./support.ts";

takeDownAfterEach();

const TOKEN = "0123456789-admin-token";
const serving = async (server: Server) => `http://127.0.0.1:${await listening(server)}`;

/** Something that is no carryover. */
function stranger(status: number, body: string, headers: Record<string, string> = {}): Promise<string> {
  return serving(createServer((_request, response) => response.writeHead(status, headers).end(body)));
}

function asked(address: string, token?: string, timeoutMs = 5000): Promise<InstanceResult> {
  return ask(address, { token, timeoutMs, fetch });
}

const fault = async (address: string, token?: string, timeoutMs?: number) => {
  const told = await asked(address, token, timeoutMs);
  return "fault" in told ? told.fault : "heard";
};

describe("an admin port", () => {
  test("tells the progress of its instance, whatever a view lets out of it", async () => {
    const [first] = busy();
    const address = await admin(first);
    expect(await asked(address)).toEqual({ address, progress: first });
  });

  test("with a token wants the token, and says so", async () => {
    const address = await admin(busy()[0], TOKEN);
    expect(await fault(address, TOKEN)).toBe("heard");
    expect(await fault(address)).toBe(
      "answered 401: pass --token-file FILE (- is standard input) or set CARRYOVER_ADMIN_TOKEN",
    );
    expect(await fault(address, "another-token")).toBe("answered 401: the token is not the one of admin.tokenFile");
  });

  test("without a token answers to its own machine only, which no token of the caller's helps", async () => {
    const { port } = new URL(await admin(busy()[0]));
    const forwarding: typeof fetch = (input, init) =>
      fetch(input, {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), "x-forwarded-for": "10.0.0.1" },
      });
    const told = await ask(`http://127.0.0.1:${port}`, { token: undefined, timeoutMs: 5000, fetch: forwarding });
    expect(told).toMatchObject({ fault: expect.stringContaining("answered to the same machine only") });
  });

  test("that is older has no progress to tell", async () => {
    expect(await fault(await admin(undefined))).toContain("is an older version of carryover");
  });

  test("below a path is asked below it", async () => {
    const seen: (string | undefined)[] = [];
    const address = await serving(
      createServer((request, response) => {
        seen.push(request.url);
        response.end(JSON.stringify(busy()[0]));
      }),
    );
    expect(await fault(`${address}/carryover`)).toBe("heard");
    expect(seen).toEqual(["/carryover/progress?fleet=true"]);
  });
});

describe("what is no admin port", () => {
  test("but carryover's port for clients is told from it, with what to ask instead", async () => {
    const rig = await rigForTest();
    const told = await ask(rig.url, { token: undefined, timeoutMs: 5000, fetch });
    expect(told).toMatchObject({
      fault: "is carryover's port for clients: give the admin port (admin.port, 8081 unless it was set)",
    });
  });

  test("is named as such", async () => {
    expect(await fault(await stranger(200, "<html>hello</html>"))).toBe(
      "is no carryover admin port: it answered no JSON",
    );
    expect(await fault(await stranger(404, "not here"))).toBe("is no carryover admin port: it answered 404");
    expect(await fault(await stranger(401, '{"message":"who are you"}'))).toBe(
      "is no carryover admin port: it answered 401",
    );
    expect(await fault(await stranger(200, '{"version":7}'))).toContain(
      "answered what cannot be read: the instance is newer",
    );
    expect(await fault(await stranger(200, '{"a":1}'))).toContain("it is no progress of carryover");
  });

  test("does not get the token by leading elsewhere", async () => {
    const seen: (string | undefined)[] = [];
    const target = await serving(
      createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.end();
      }),
    );
    const address = await stranger(302, "", { location: `${target}/progress` });
    expect(await fault(address, TOKEN)).toBe("is no carryover admin port: it answered 302");
    expect(seen).toEqual([]);
  });

  test("that speaks another protocol, is not there, or never answers, is told apart", async () => {
    const gibberish = await serving(createTcpServer((socket) => void socket.end("SSH-2.0-x\r\n")));
    expect(await fault(gibberish)).toBe("does not speak HTTP");
    expect(await fault(await nowhere())).toBe("cannot be reached (ECONNREFUSED)");
    const silent = await serving(createTcpServer());
    expect(await fault(silent, undefined, 100)).toBe("did not answer within 0.1 s");
  });

  test("that begins an answer and never ends it is given up as well", async () => {
    const address = await serving(createServer((_request, response) => void response.write("{")));
    expect(await fault(address, undefined, 200)).toBe("did not answer within 0.2 s");
  });
});
