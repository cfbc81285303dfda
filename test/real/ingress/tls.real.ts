import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { Agent, fetch } from "undici";
import { describe, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { grpcJs, readDescriptors } from "../../grpc/clients/clients.ts";
import { fileWith, translating } from "../../grpc/support/translating.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { later } from "../../support/take-down.ts";
import { ask, askH2 } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { startStandIn } from "./standin.ts";

takeDownAfterEach();

/** Calls at a time on one connection. */
const PARALLEL = 40;
/** What `scripts/install-grpc-tools.sh` puts there is built with grpc-go. */
const GRPCURL = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/grpc/bin/grpcurl");

async function behindTls(program: Program) {
  const { sandbox, sandboxUrl, carryover, rpc, exchanges } = await translating();
  const { url: carryoverUrl, adminUrl } = carryover;
  const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl: rpc });
  return { url: proxy.tlsUrl, sandbox, exchanges };
}

/** The protocol of a client that offers `protocols`; empty when it gets none of them. */
function negotiated(url: string, protocols: readonly string[]): Promise<string> {
  const { port } = new URL(url);
  return new Promise((done) => {
    const socket = connect({
      ...{ host: "127.0.0.1", port: Number(port), servername: "localhost", ca: LOCALHOST.cert },
      ALPNProtocols: [...protocols],
    });
    const over = (protocol: string) => {
      socket.destroy();
      done(protocol);
    };
    socket.once("secureConnect", () => over(socket.alpnProtocol || ""));
    socket.once("error", () => over(""));
  });
}

describe.each(PROGRAMS)("$title", (program) => {
  it("serves v1 over HTTP/1.1, over HTTP/2 and over gRPC on one port with TLS", async () => {
    const { url, sandbox, exchanges } = await behindTls(program);
    const authorization = `Bearer ${sandbox.token("admin")}`;
    for (const allowH2 of [false, true]) {
      const dispatcher = new Agent({ allowH2, connect: { ca: LOCALHOST.cert } });
      later(() => dispatcher.destroy());
      const response = await fetch(`${url}/iam/v1/roles`, { dispatcher, headers: { authorization } });
      expect([response.status, response.headers.get("carryover-mode")]).toEqual([200, "translate"]);
    }
    const headers = ["Authorization", authorization];
    expect((await askH2(url, { target: "/iam/v1/roles", headers })).status).toBe(200);

    const client = grpcJs(url, readDescriptors(sandbox.descriptors()), LOCALHOST.cert);
    later(client.close);
    const token = sandbox.token("admin");
    const lists = Array.from({ length: PARALLEL }, () => client.call({ rpc: "iam.Roles/List", request: {}, token }));
    expect(new Set((await Promise.all(lists)).map(({ code }) => code))).toEqual(new Set([0]));
    const root = { id: sandbox.wellKnown.rootGroup };
    const refused = await client.call({ rpc: "iam.Groups/Delete", request: root, token });
    expect(refused).toMatchObject({ code: 9, details: [{}, { violations: [{ type: "RESOURCE_NOT_EMPTY" }] }] });
    const served = exchanges.map(({ mode, rpc }) => `${mode} ${rpc?.method ?? "over HTTP"}`);
    const ofLists = Array.from({ length: PARALLEL }, () => "translate List");
    expect(served.toSorted()).toEqual([
      "translate Delete",
      ...ofLists,
      ...["over HTTP", "over HTTP", "over HTTP"].map((how) => `translate ${how}`),
    ]);
  });

  it("serves a client of grpc-go over TLS, v2 included", async () => {
    const { url, sandbox } = await behindTls(program);
    const authorization = `authorization: Bearer ${sandbox.token("admin")}`;
    for (const method of ["iam.Roles/List", "iam.v2beta1.RolesService/ListRoles"]) {
      const words = ["-cacert", fileWith(LOCALHOST.cert), "-H", authorization, new URL(url).host];
      const { stdout } = await promisify(execFile)(GRPCURL, [...words, `${VENDOR_TYPES}.${method}`]);
      expect(stdout).toContain("viewer");
    }
  });

  it(`gives a client that offers HTTP/2 and HTTP/1.1 ${program.prefers}, and each to one that offers no other`, async () => {
    const { url } = await behindTls(program);
    const both = await negotiated(url, ["h2", "http/1.1"]);
    expect([both, await negotiated(url, ["h2"]), await negotiated(url, ["http/1.1"])]).toEqual([
      program.prefers === "HTTP/2" ? "h2" : "http/1.1",
      "h2",
      "http/1.1",
    ]);
  });

  it("says over TLS that the client came by https, whatever the client says", async () => {
    const carryover = await startStandIn("carryover");
    const proxy = await startProxy(program, { carryoverUrl: carryover.url, platformUrl: carryover.url });
    const headers = ["X-Forwarded-Proto", "http", "X-Forwarded-User", "root", "X-Forwarded-For", "203.0.113.6"];
    for (const send of [ask, askH2]) {
      expect((await send(proxy.tlsUrl, { target: "/iam/v1/roles", headers })).status).toBe(200);
      const said = new Map(carryover.arrived.at(-1)?.headers.filter(([name]) => name.startsWith("x-forwarded-")));
      expect(Object.fromEntries(said)).toEqual({
        "x-forwarded-for": expect.stringMatching(/^(?:127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/),
        "x-forwarded-proto": "https",
        "x-forwarded-host": new URL(proxy.tlsUrl).host,
      });
    }
  });
});
