/** Finds the programs that the commands of a page need. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Step } from "./commands.ts";

/** What every machine has on which this project is worked on. */
const COMMON: ReadonlySet<string> = new Set([
  ..."carryover npx node curl jq openssl envsubst git cat cd chmod cp cut date diff echo export false for".split(" "),
  ..."grep head if install kill ls mkdir mktemp mv printf rm sed seq sleep sort tail tar tee test touch tr".split(" "),
  ..."true umask uniq until unset wait wc while xargs [ ] do done then else fi ss pwd".split(" "),
]);

export interface Program {
  readonly name: string;
  readonly path: string;
  /** Where its libraries are, when it is only unpacked; else empty. */
  readonly libraries: readonly string[];
}

/** What scripts of this project put into the cache; those of a page come before the machine's own. */
export function programsInCache(): readonly Program[] {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci");
  const found = entries(cache).flatMap((tool) => {
    const base = join(cache, tool);
    const libraries = [...entries(join(base, "usr/lib")), ...entries(join(base, "lib"))].filter((name) =>
      name.endsWith("-linux-gnu"),
    );
    const own = libraries.flatMap((name) => [join(base, "usr/lib", name), join(base, "lib", name)]);
    return ["bin", "pypi", "usr/bin", "usr/sbin"].flatMap((part) =>
      entries(join(base, part)).map((name) => ({
        name,
        path: join(base, part, name),
        libraries: part.startsWith("usr/") ? own : [],
      })),
    );
  });
  return [...new Map(found.toReversed().map((program) => [program.name, program])).values()];
}

function entries(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The first word of each simple command; what only a shell says is left out. */
function programsOf(steps: readonly Step[]): ReadonlySet<string> {
  const commands = steps.flatMap((step) => (step.kind === "command" ? [step.text] : []));
  return new Set(
    commands.flatMap((text) =>
      text
        .replaceAll(/\\\n/g, " ")
        .replaceAll(/<<-?\s*'?(\w+)'?[\s\S]*?\n\1$/gm, "")
        .replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "''")
        .replaceAll(/(^|\s)#[^\n]*/g, "")
        .split(/\n|&&|\|\|?|;|\$\(|&(?!\d|>)|\bdo\b|\bthen\b/)
        .map((part) => part.trim().replace(/^(?:[A-Z_][A-Z0-9_]*=\S*\s*)+/, ""))
        .map((part) => /^(?:sudo |exec |! )?([\w./[\]-]+)/.exec(part)?.[1] ?? "")
        .filter((word) => word !== ""),
    ),
  );
}

/** Whether a page can be tried with what every machine has: then it is part of `npm test`, else of `npm run real -- pages`. */
export function isPlain(steps: readonly Step[]): boolean {
  const commands = steps.flatMap((step) => (step.kind === "command" ? [step.text] : []));
  // It installs packages, from a registry.
  if (commands.some((text) => /\bnpm (?:ci|install|i|pack|exec)\b/.test(text))) return false;
  return [...programsOf(steps)].every((word) => COMMON.has(word) || word === "npm");
}
