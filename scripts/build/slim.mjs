/**
 * What of the packages is left out of `dist`, and why: an esbuild plugin. Each of these is loaded by a package that carryover uses, for
 * something that carryover does not use. Whoever uses it all the same gets an error that names this file.
 */
import { join } from "node:path";

const LEFT_OUT = new Map([
  ["@fastify/ajv-compiler", "no route has a schema"],
  ["@fastify/fast-json-stringify-compiler", "no route has a schema"],
  ["light-my-request", "nothing is injected"],
  ["thread-stream", "the log is written by this thread"],
  ["../web/fetch/body.js", "no body that undici sends is a form"],
]);
const UNDICI = join(import.meta.dirname, "undici.mjs");
const REDIS = join(import.meta.dirname, "redis.mjs");

export function slimPackages() {
  return {
    name: "slim-packages",
    setup(build) {
      build.onResolve({ filter: /^undici$/ }, () => ({ path: UNDICI, sideEffects: false }));
      build.onResolve({ filter: /^@redis\/client$/ }, () => ({ path: REDIS, sideEffects: false }));
      build.onResolve({ filter: /^\.\.\/commands$|\/command-metadata-data$/ }, ({ path, importer }) =>
        importer.includes("/@redis/client/") ? { path, namespace: "no-commands" } : undefined,
      );
      build.onLoad({ filter: /./, namespace: "no-commands" }, () => ({
        contents: "exports.default = {}; exports.COMMAND_METADATA = {};",
      }));
      build.onResolve({ filter: /./ }, ({ path, importer }) => {
        const isLeftOut = LEFT_OUT.has(path) && importer.includes("node_modules");
        return isLeftOut ? { path, namespace: "left-out" } : undefined;
      });
      build.onLoad({ filter: /./, namespace: "left-out" }, ({ path }) => ({ contents: stubOf(path) }));
    },
  };
}

/** A module that can be loaded, and fails when it is used. */
function stubOf(name) {
  const message = `${name} is not in this build: ${LEFT_OUT.get(name)} (scripts/build/slim.mjs)`;
  return `const fail = () => { throw new Error(${JSON.stringify(message)}); };
module.exports = new Proxy(fail, { get: fail, construct: fail });`;
}
