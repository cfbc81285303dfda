/** A Fastify app with carryover in front of a sandbox. */
import { type FastifyInstance, type FastifyServerOptions, fastify } from "fastify";
import type { SandboxOptions } from "../../sandbox/src/options.ts";
import type { Sandbox } from "../../sandbox/src/sandbox.ts";
import { recordingSandbox } from "../../sandbox/test/seeded.ts";
import carryover, { type CarryoverConfig, type CarryoverPluginOptions } from "../../src/fastify/plugin.ts";
import type { ApiRequest } from "../../src/model/http.ts";
import { type Answer, type Ask, later, send } from "../end-to-end/app/rig.ts";

export { later, listening, reasonOf, takeDownAfterEach } from "../end-to-end/app/rig.ts";

export interface FastifyRig {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly sandbox: Sandbox;
  /** What arrived at the platform. */
  readonly arrived: ApiRequest[];
  /** Sends `target` byte for byte. */
  ask(method: string, target: string, ask?: Ask): Promise<Answer>;
}

export interface FastifyChoices {
  readonly app?: FastifyServerOptions;
  readonly plugin?: Omit<Partial<CarryoverPluginOptions>, "config">;
  readonly config?: Partial<CarryoverConfig>;
  readonly sandbox?: SandboxOptions;
  /** Serves v2 instead of the sandbox. */
  readonly v2Url?: string;
  /** Before the plugin is registered. */
  readonly before?: (app: FastifyInstance) => unknown;
}

export async function platform(options?: SandboxOptions) {
  const made = recordingSandbox(options);
  const { url } = await made.sandbox.listen(0);
  later(() => made.sandbox.close());
  return { ...made, url };
}

/** Closed after the test. */
export function appForTest(options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true, ...options }) as unknown as FastifyInstance;
  later(async () => void (await app.close()));
  return app;
}

/** It listens until the test is over. */
export async function fastifyRig(choices: FastifyChoices = {}): Promise<FastifyRig> {
  const { sandbox, arrived, url: sandboxUrl } = await platform(choices.sandbox);
  const app = appForTest(choices.app);
  await choices.before?.(app);
  const config = { upstream: { v2: { url: choices.v2Url ?? sandboxUrl } }, ...choices.config };
  app.register(carryover, { ...choices.plugin, config });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { app, url, sandbox, arrived, ask: (method, target, ask = {}) => send(url, sandbox, method, target, ask) };
}
