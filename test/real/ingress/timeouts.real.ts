import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask } from "./ask.ts";
import { PROGRAMS, RECIPES } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { serve } from "./standin.ts";

takeDownAfterEach();

/** Beyond the 15 s that Envoy waits when nothing is said. */
const PAUSE_MS = 16_000;

/** What says how long an answer may take, in the words of each recipe. */
const WAITS =
  /(?:proxy_read_timeout|timeout server|route: \{ cluster: (?:carryover|platform), timeout:|response_header_timeout) (\d+)s/g;

describe.each(PROGRAMS)("$title", (program) => {
  it("waits longer than carryover's own limit, and less than twice as long", () => {
    const { config } = loadConfig({
      flags: { upstreamV2Url: "http://127.0.0.1:1" },
      env: {},
      readFile: () => new Uint8Array(),
    });
    const recipe = readFileSync(join(RECIPES, program.recipe), "utf8");
    const waits = [...recipe.matchAll(WAITS)].map(([, seconds]) => Number(seconds));
    expect(waits.length).toBeGreaterThan(0);
    for (const seconds of waits) {
      expect(seconds).toBeGreaterThan(config.limits.requestSeconds);
      expect(seconds).toBeLessThan(2 * config.limits.requestSeconds);
    }
  });
});

it("each passes on an answer that is long in coming", { timeout: 90_000 }, async () => {
  const slow = await serve(async (request, response) => {
    if (request.url === "/readyz") return void response.end();
    await wait(PAUSE_MS);
    response.end("late");
  });
  const late = async (program: (typeof PROGRAMS)[number]): Promise<unknown[]> => {
    const proxy = await startProxy(program, { carryoverUrl: slow, platformUrl: slow });
    const { status, text, whole } = await ask(proxy.url, { target: "/iam/v1/groups" });
    return [program.name, status, text, whole];
  };
  expect(await Promise.all(PROGRAMS.map(late))).toEqual(PROGRAMS.map(({ name }) => [name, 200, "late", true]));
});
