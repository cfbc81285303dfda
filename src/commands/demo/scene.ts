/** One scene of the tour: what happens, what a user types, what is printed, and what it means. */
import { Command } from "commander";
import { OurHeader } from "../../model/http.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { addGate, addStatus } from "../status/command.ts";

export interface Scene {
  /** What happens, in one sentence. */
  readonly title: string;
  readonly steps: readonly SceneStep[];
  readonly means: string;
  /** Whether it happened as `title` and `means` say. */
  readonly isTold: boolean;
}

export interface SceneStep {
  /** For a shell in which TOKEN is set. */
  readonly command: string;
  readonly output: string;
}

export function sceneText({ title, steps, means, isTold }: Scene): string {
  const lines = steps.flatMap(({ command, output }) => [
    `  $ ${command}`,
    ...output.split("\n").map((line) => `    ${line}`.trimEnd()),
  ]);
  const warning = isTold ? [] : ["  THIS DID NOT HAPPEN AS IT IS TOLD HERE"];
  return [`== ${title}`, ...lines, `  => ${means}`, ...warning, ""].join("\n");
}

/** Sends a request of this client and shows what is worth seeing of the response. */
export async function callAs(
  { name, token }: { readonly name: string; readonly token: string },
  url: string,
  io: Pick<CommandIo, "fetch">,
): Promise<SceneStep & { readonly status: number; readonly mode: string | null }> {
  const response = await io.fetch(url, { headers: { authorization: `Bearer ${token}`, "user-agent": name } });
  const body = await response.text();
  const { status, statusText, headers } = response;
  const mode = headers.get(OurHeader.MODE);
  return {
    command: `curl -si -A ${name} -H "Authorization: Bearer $TOKEN" '${url}' | grep -E '^(HTTP|carryover-mode|\\{"code)'`,
    output: [
      `HTTP/1.1 ${status} ${statusText}`,
      ...(mode === null ? [] : [`carryover-mode: ${mode}`]),
      ...(body.startsWith('{"code') ? [body] : []),
    ].join("\n"),
    status,
    mode,
  };
}

/** Reads a page of the admin port, and keeps what `filter` leaves of it. */
export async function readAdmin(
  url: string,
  filter: { readonly shell: string; apply(text: string): readonly string[] },
  io: Pick<CommandIo, "fetch">,
): Promise<SceneStep> {
  const response = await io.fetch(url);
  const output = filter.apply(await response.text()).join("\n");
  return { command: `curl -s '${url}' | ${filter.shell}`, output };
}

/** Runs `carryover status` or `carryover gate`, as a shell would. */
export async function runCommand(
  words: readonly string[],
  io: CommandIo,
): Promise<SceneStep & { readonly code: number | undefined }> {
  const outcome: Outcome = { code: undefined };
  const printed: string[] = [];
  const own: CommandIo = { ...io, env: {}, print: (text) => printed.push(text) };
  const program = new Command().exitOverride();
  addStatus(program, own, outcome);
  addGate(program, own, outcome);
  await program.parseAsync(words, { from: "user" });
  const { code } = outcome;
  return {
    command: `npx carryover ${words.join(" ")}; echo "exit code $?"`,
    output: [...printed, `exit code ${code}`].join("\n"),
    code,
  };
}
