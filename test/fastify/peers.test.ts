import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { loadProxy, requireFastify } from "../../src/fastify/peers.ts";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

/** A module's URL in a project that has the proxy in `version`, as `text`. */
function projectWith(version?: string, text = ""): string {
  const folder = mkdtempSync(join(tmpdir(), "carryover-peers-"));
  later(async () => rmSync(folder, { recursive: true }));
  if (version !== undefined) {
    const proxy = join(folder, "node_modules/@fastify/http-proxy");
    mkdirSync(proxy, { recursive: true });
    writeFileSync(join(proxy, "package.json"), JSON.stringify({ version }));
    writeFileSync(join(proxy, "index.js"), text);
  }
  return pathToFileURL(join(folder, "app.js")).href;
}

describe("the packages of the app", () => {
  it("are its own copies", () => {
    const proxy = loadProxy(projectWith("11.99.0", "module.exports = { of: 'the app' };"));
    expect(proxy).toEqual({ of: "the app" });
  });

  it.each([
    ["without the proxy", undefined, "which cannot be loaded"],
    ["with a proxy that cannot be loaded", "11.6.3", "which cannot be loaded"],
    ["with an older proxy", "10.0.2", "and this app has 10.0.2"],
    ["with a newer proxy", "110.0.0", "and this app has 110.0.0"],
  ])("are named with their version to an app %s", (_, version, says) => {
    const from = projectWith(version, "require('no-such-package');");
    expect(() => loadProxy(from)).toThrow(
      `carryover/fastify needs @fastify/http-proxy 11, ${says}: npm install @fastify/http-proxy@11`,
    );
  });

  it.each(["4.29.1", "6.0.0", "50.0.0"])("include Fastify 5, and not %s", (version) => {
    expect(() => requireFastify({ version: "5.0.0" })).not.toThrow();
    expect(() => requireFastify({ version })).toThrow(
      `carryover/fastify needs Fastify 5, and this app has ${version}: npm install fastify@5`,
    );
  });
});
