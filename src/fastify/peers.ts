/** The packages that an app brings: its own copies are used. */
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";

export type HttpProxy = typeof import("@fastify/http-proxy");

const FASTIFY_MAJOR = "5";
const PROXY = "@fastify/http-proxy";
const PROXY_MAJOR = "11";

/** Throws Error for another version. */
export function requireFastify({ version }: Pick<FastifyInstance, "version">): void {
  if (version.startsWith(`${FASTIFY_MAJOR}.`)) return;
  const remedy = `npm install fastify@${FASTIFY_MAJOR}`;
  throw new Error(`carryover/fastify needs Fastify ${FASTIFY_MAJOR}, and this app has ${version}: ${remedy}`);
}

/** The copy that a module at the URL `from` sees. Throws Error if it is missing, or another version. */
export function loadProxy(from: string): HttpProxy {
  const needs = `carryover/fastify needs ${PROXY} ${PROXY_MAJOR}`;
  const remedy = `npm install ${PROXY}@${PROXY_MAJOR}`;
  const load = createRequire(from);
  const { version } = orThrow<{ readonly version: string }>(() => load(`${PROXY}/package.json`));
  if (!version.startsWith(`${PROXY_MAJOR}.`)) throw new Error(`${needs}, and this app has ${version}: ${remedy}`);
  return orThrow<HttpProxy>(() => load(PROXY));

  function orThrow<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      throw new Error(`${needs}, which cannot be loaded: ${remedy}`, { cause });
    }
  }
}
