/** How does a check write down the configuration that it found right? */
import { writeFileSync } from "node:fs";
import { ConfigError } from "../config/fault.ts";
import { FILE_VARIABLE } from "../config/sources.ts";
import { writtenConfig } from "../config/write.ts";
import { type ConfigInput, configOptions } from "../config.ts";
import type { Finding } from "./finding.ts";

/** The process, as far as this needs it. */
interface WriteIo {
  readonly readFile: ConfigInput["readFile"];
  warn(text: string): void;
  writeFile?(path: string, text: string, replace: boolean): void;
}

/** Throws ConfigError for a file that is there, unless it may be replaced: asked before anything is sent. */
export function refuseReplacing(file: string, readFile: ConfigInput["readFile"]): void {
  try {
    readFile(file);
  } catch {
    return;
  }
  throw new ConfigError([alreadyThere(file)]);
}

function alreadyThere(file: string) {
  return { where: "--write-config", what: `${file} is there already`, remedy: "name another file, or add --force" };
}

/** The configuration that was given, with what findings set. Throws ConfigError for a file that cannot be written. */
export function writeConfig(
  file: string,
  replace: boolean,
  input: ConfigInput,
  findings: readonly Finding[],
  io: WriteIo,
): void {
  const named = input.flags["config"] ?? input.env[FILE_VARIABLE];
  const name = typeof named === "string" && named !== "" ? named : undefined;
  const sources = {
    flags: input.flags,
    env: input.env,
    file: name === undefined ? undefined : { name, text: new TextDecoder().decode(io.readFile(name)) },
  };
  const text = writtenConfig(
    sources,
    configOptions(),
    findings.flatMap(({ set }) => set ?? []),
  );
  const write = io.writeFile ?? ((path, content, over) => writeFileSync(path, content, { flag: over ? "w" : "wx" }));
  try {
    write(file, text, replace);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const what = `${file} cannot be written (${String(error.code)})`;
    throw new ConfigError([
      error.code === "EEXIST"
        ? alreadyThere(file)
        : { where: "--write-config", what, remedy: "name a file that can be written" },
    ]);
  }
  io.warn(`written: ${file}`);
}
