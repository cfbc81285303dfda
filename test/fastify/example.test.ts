import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { later, platform, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const FOLDER = resolve(import.meta.dirname, "../../examples/fastify");

it("the example gateway does what its page shows", async () => {
  const { sandbox, url } = await platform();
  const gateway = spawn(process.execPath, [join(FOLDER, "gateway.mjs"), url, "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(gateway, "exit");
  later(async () => {
    gateway.kill();
    expect(await ended).toEqual([0, null]);
  });
  const [line] = (await once(createInterface(gateway.stdout), "line")) as [string];
  const env = { ...process.env, GATEWAY: line.replace("gateway at ", ""), TOKEN: sandbox.token("admin") };
  const [, transcript = ""] =
    /^```console\n([\s\S]*?)^```$/m.exec(readFileSync(join(FOLDER, "README.md"), "utf8")) ?? [];
  const commands = transcript.match(/^\$ .*$/gm) ?? [];
  expect(commands.length).toBeGreaterThan(5);
  let shown = "";
  for (const command of commands) {
    const { stdout } = await promisify(execFile)("bash", ["-c", command.slice(2)], { env });
    shown += `${command}\n${stdout}${stdout.endsWith("\n") ? "" : "\n"}`;
  }
  expect(shown).toBe(transcript);
});
