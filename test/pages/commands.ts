/** The commands of a page in their order, and the output that the page shows for each. */
import { spawnSync } from "node:child_process";
import { isExcepted } from "./excepted.ts";
import { type Block, isShell, type Page } from "./page.ts";

export interface Command {
  /** As it stands on the page; may have several lines. */
  readonly text: string;
  /** Where it begins. */
  readonly line: number;
  /** What the page shows behind it; undefined when it shows nothing. */
  readonly shows: readonly string[] | undefined;
  /** How it must end. */
  readonly exit: number;
  /** Its whole block is on the list of what is not run. */
  readonly excepted: boolean;
}

/** A file to be written, or a command to be run, in the order of the page. */
export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string; readonly line: number }
  | ({ readonly kind: "command" } & Command);

/** Languages whose blocks are files when a name follows. */
const FILES: ReadonlySet<string> = new Set("yaml json ini conf nginx dockerfile ts js mjs toml".split(" "));
const PROMPT = /^\$ /;

/** What a reader of the page does. Throws, with the place, for what is neither command nor output. */
export function stepsOf(page: Page): readonly Step[] {
  return page.blocks.flatMap((block, index): readonly Step[] => {
    if (FILES.has(block.language) && isFileName(block.rest)) {
      return [{ kind: "file", name: block.rest, text: `${block.lines.join("\n")}\n`, line: block.line }];
    }
    if (!isShell(block)) return [];
    const excepted = isExcepted(page.name, block.lines);
    if (block.language === "console") return dialogue(page, block).map((step) => ({ ...step, excepted }));
    const commands = split(page, block.lines, block.line + 1);
    const shows = outputBehind(page, block, page.blocks[index + 1]);
    return commands.map((command, at) => ({
      kind: "command" as const,
      ...command,
      excepted,
      ...(shows !== undefined && at === commands.length - 1 ? { shows } : {}),
    }));
  });
}

/** Something with an ending, in the folder or below it. */
function isFileName(text: string): boolean {
  return /^[\w][\w./-]*\.\w+$/.test(text) && !text.includes("..");
}

/** A block of `text`, `json` or `http` with nothing but empty lines between is what the last command prints. */
function outputBehind(page: Page, block: Block, next: Block | undefined): readonly string[] | undefined {
  if (next === undefined || !["text", "json", "http"].includes(next.language) || next.rest !== "") return undefined;
  const between = page.prose.slice(block.line + block.lines.length + 1, next.line - 1);
  return between.some((line) => line.trim() !== "") ? undefined : next.lines;
}

/** `$ command`, its output, `$ echo $?`, the exit. */
function dialogue(page: Page, block: Block): readonly Step[] {
  const first = block.lines[0] ?? "";
  if (!PROMPT.test(first)) {
    throw new Error(
      `${page.name}:${block.line}: a console block begins with "$ " and a command; without output write \`\`\`sh`,
    );
  }
  const steps: ({ kind: "command" } & Command)[] = [];
  let at = 0;
  while (at < block.lines.length) {
    const begin = at;
    const typed = [(block.lines[at] ?? "").replace(PROMPT, "")];
    at += 1;
    while (!isWhole(typed.join("\n")) && at < block.lines.length) {
      typed.push((block.lines[at] ?? "").replace(/^> /, ""));
      at += 1;
    }
    const until = block.lines.findIndex((line, index) => index >= at && PROMPT.test(line));
    const shows = block.lines.slice(at, until === -1 ? undefined : until);
    at = until === -1 ? block.lines.length : until;
    const before = steps.at(-1);
    if (typed.join("") === "echo $?" && before !== undefined) {
      steps[steps.length - 1] = { ...before, exit: Number(shows[0]) };
    } else
      steps.push({
        kind: "command",
        text: typed.join("\n"),
        line: block.line + 1 + begin,
        shows,
        exit: 0,
        excepted: false,
      });
  }
  return steps;
}

/** The commands of a script: as few lines each as the shell takes for a whole. */
function split(page: Page, lines: readonly string[], from: number): readonly Command[] {
  const commands: Command[] = [];
  let held: string[] = [];
  let begin = from;
  for (const [index, line] of lines.entries()) {
    if (held.length === 0) {
      begin = from + index;
      if (line.trim() === "" || line.trim().startsWith("#")) continue;
    }
    held.push(line);
    if (!isWhole(held.join("\n"))) continue;
    commands.push({ text: held.join("\n"), line: begin, shows: undefined, exit: 0, excepted: false });
    held = [];
  }
  if (held.length > 0) {
    throw new Error(
      `${page.name}:${begin}: no shell takes this for a whole command:\n${held.join("\n")}\n${judged(held.join("\n"))}`,
    );
  }
  return commands;
}

/** Whether bash would run this, or wait for more. */
function isWhole(text: string): boolean {
  return !/\\$/.test(text) && judged(text) === "";
}

function judged(text: string): string {
  const before = JUDGED.get(text);
  if (before !== undefined) return before;
  const { stderr } = spawnSync("bash", ["-n"], { input: `${text}\n`, encoding: "utf8" });
  // Of a here-document without its end there is a warning, and success.
  JUDGED.set(text, stderr);
  return stderr;
}

/** What bash said of a text: it is asked once. */
const JUDGED = new Map<string, string>();
