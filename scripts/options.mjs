/** The command-line options of scripts for developers. The commands for users are in src. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";

/** How a program ends that was asked for something that it does not know: it has done nothing. */
export const USAGE = 2;

/**
 * The values of `options`, as `parseArgs` takes and gives them. `wrong` says what is wrong with values that the script cannot use,
 * or gives undefined. A word that is not known, or a wrong value, ends the process with 2: one line says what, the next is `usage`.
 */
export function optionsOf(options, usage, wrong = () => undefined) {
  const { values, fault } = read(options);
  const why = fault ?? noBuild(values) ?? wrong(values);
  if (why === undefined) return values;
  console.error(`${why}\nusage: ${usage}`);
  process.exit(USAGE);
}

function read(options) {
  try {
    return parseArgs({ options });
  } catch (error) {
    if (!error.code?.startsWith("ERR_PARSE_ARGS")) throw error;
    return { fault: error.message };
  }
}

/** Folders that other builds are said to be in. */
function noBuild({ dist, before }) {
  const missing = [dist, before].find((folder) => folder !== undefined && !existsSync(folder));
  return missing === undefined ? undefined : `${missing} is not there`;
}
