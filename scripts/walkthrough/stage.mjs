/** What does the walkthrough run on? (A platform, carryover in front of it, clients, and a shell for the operator.) */

import { modulesOf } from "../build/modules.mjs";
import { freePorts } from "../free-ports.mjs";
import { createClients } from "./clients.mjs";
import { startPlatform } from "./platform.mjs";
import { readMetrics } from "./promql.mjs";
import { createShell } from "./shell.mjs";

/** Longest wait, with clients calling, until something is as the runbook says. */
export const PATIENCE_MS = 60_000;
/** The platform, as the runbook calls it. */
export const PLATFORM = "https://api.example.com";

/** Something is not as promised. */
export class Broken extends Error {}

/** Everything that a step needs; `dist`: the built carryover. */
export async function createStage(dist) {
  const { createSandbox } = await import(new URL("sandbox/sandbox.js", await modulesOf(dist)).href);
  const platform = await startPlatform(createSandbox);
  const [port, adminPort] = await freePorts(2);
  const urls = {
    platform: platform.url,
    carryover: `http://127.0.0.1:${port}`,
    admin: `http://127.0.0.1:${adminPort}`,
  };
  const shell = createShell(new URL("main.js", dist).pathname, {
    ADMIN: urls.admin,
    V1: urls.carryover,
    QUIET: "5s",
    TOKEN: platform.sandbox.token("admin#operator@example.com"),
    // What else is different in a walkthrough: addresses, and how long a file waits to be looked at.
    CARRYOVER_LISTEN_HOST: "127.0.0.1",
    CARRYOVER_LISTEN_PORT: String(port),
    CARRYOVER_ADMIN_PORT: String(adminPort),
    CARRYOVER_CUTOVER_RELOAD_SECONDS: "0.1",
  });
  const world = { platform, urls, shell, server: undefined, before: new Map(), sentBefore: 0, way: "carryover" };
  world.clients = await createClients({ sandbox: platform.sandbox, base: () => urls[world.way] });
  world.through = (way) => {
    world.way = way;
  };
  world.stop = async () => {
    await world.server?.stop();
    world.server = undefined;
  };
  world.close = async () => {
    await world.stop();
    world.clients.close();
    await platform.sandbox.close();
    shell.remove();
  };
  return world;
}

/** What `/metrics` says; nothing while carryover is stopped. */
export async function metricsOf({ urls, server }) {
  if (server === undefined) return new Map();
  return readMetrics(await (await fetch(`${urls.admin}/metrics`)).text());
}

/** From here on is counted. */
export async function mark(world) {
  world.before = await metricsOf(world);
  world.sentBefore = world.platform.sent.length;
  world.clients.state.seen.length = 0;
}

/** Lets clients call until `holds` gives something, which it gives; undefined when that takes too long. */
export async function calling(world, holds) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    await world.clients.round();
    noFaults(world);
    const found = await holds();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Throws when a client got an error. */
export function noFaults({ clients: { state } }) {
  if (state.faults.length > 0) throw new Broken(`a client got an error: ${state.faults[0]}`);
}
