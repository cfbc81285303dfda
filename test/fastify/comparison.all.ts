/**
 * The comparison of native v1 with carryover over v2, through a Fastify app. No difference is excused. (The long scenarios run elsewhere: the plugin
 * translates nothing.)
 */
import { Agent } from "node:http";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createServerAround } from "../../sandbox/src/http.ts";
import { settingsOf } from "../../sandbox/src/options.ts";
import carryover from "../../src/fastify/plugin.ts";
import type { Send } from "../../src/model/http.ts";
import type { StartFront } from "../end-to-end/comparison/harness.ts";
import { exchange } from "../end-to-end/comparison/http.ts";
import { expectNone, record, replay } from "../end-to-end/comparison/replay.ts";
import { isLong, scenarios } from "../end-to-end/comparison/scenarios.ts";

const current: { send: Send } = { send: () => Promise.reject(new Error("the platform is not ready yet")) };
const platform = createServerAround((request, options) => current.send(request, options), settingsOf({}).maxBodyBytes);
const app = fastify({ forceCloseConnections: true });
const agent = new Agent({ keepAlive: true });
const shared: { url: string } = { url: "" };

/** As `startWhole`, with the app in front. */
const front: StartFront = async ({ send }) => {
  current.send = send;
  return ({ method, target, headers, body }) =>
    exchange({ method, url: shared.url, target, headers: Object.fromEntries(headers), body, agent });
};

beforeAll(async () => {
  const { url } = await platform.listen();
  app.register(carryover, { config: { upstream: { v2: { url } } } });
  shared.url = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  agent.destroy();
  await app.close();
  await platform.close();
});

describe("a v1 client of a Fastify app cannot tell native v1 from carryover", () => {
  test.each(scenarios.filter((one) => !isLong(one)).map((one) => [one.name, one] as const))(
    "%s",
    async (_, scenario) => {
      expectNone("through the plugin", await replay(await record(scenario), front));
    },
  );
});
