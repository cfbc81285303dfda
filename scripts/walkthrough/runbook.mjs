/** Reads the steps and code blocks of docs/runbook.md, as the walkthrough runs them. */

/**
 * @typedef {{ kind: "sh" | "yaml" | "text" | "promql" | "meanwhile", file: string, lines: readonly string[], back: boolean, line: number }} Block
 * `file`: the second word behind the backticks; of `meanwhile` its name.
 * @typedef {{ id: string, title: string, blocks: readonly Block[] }} Step
 */

const KINDS = new Set(["sh", "yaml", "text", "promql"]);

/**
 * The sections that carry `<!-- step: ID -->`, in order; those that carry `<!-- every: ID -->` are what each step repeats. What
 * follows **Back** at the beginning of a line is a section's way back, and `<!-- meanwhile: NAME -->` says what happens in the
 * world at that place. Blocks of other languages, and those with the second word `note`, are for people only. Throws for two
 * sections of one id, and for a block outside of any.
 */
export function readRunbook(text) {
  const steps = [];
  const every = new Map();
  let title = "";
  let step;
  let back = false;
  let block;
  text.split("\n").forEach((line, index) => {
    if (block !== undefined) {
      if (line === "```") block = undefined;
      else block.lines.push(line);
      return;
    }
    const heading = /^##+ (.*)/.exec(line)?.[1];
    if (heading !== undefined) {
      title = heading;
      step = undefined;
      back = false;
    }
    const [, mark, id] = /^<!-- (step|every|meanwhile): ([a-z0-9-]+) -->$/.exec(line) ?? [];
    if (mark === "meanwhile") step.blocks.push({ kind: mark, file: id, lines: [], back, line: index + 1 });
    else if (mark !== undefined) {
      if (every.has(id) || steps.some((one) => one.id === id)) throw new Error(`line ${index + 1}: a second ${id}`);
      step = { id, title, blocks: [] };
      if (mark === "step") steps.push(step);
      else every.set(id, step);
    }
    if (/^\*\*Back\b/.test(line)) back = true;
    const fence = /^```(\w+)(?: (\S+))?$/.exec(line);
    if (fence === null) return;
    const [, kind, file = ""] = fence;
    block = { kind, file, lines: [], back, line: index + 1 };
    if (!KINDS.has(kind) || file === "note") return;
    if (step === undefined) throw new Error(`line ${index + 1}: a block outside of every step`);
    step.blocks.push(block);
  });
  return { steps, every };
}

/** `text` has each of `lines` in this order; `…` in a line stands for anything, blanks for any number of them. */
export function says(text, lines) {
  const given = text.split("\n");
  let at = 0;
  for (const line of lines.filter((one) => one.trim() !== "" && one.trim() !== "…")) {
    const pattern = new RegExp(`^${line.trim().split("…").map(literal).join(".*")}$`);
    while (at < given.length && !pattern.test(given[at].trim())) at += 1;
    if (at === given.length) return line;
    at += 1;
  }
  return undefined;
}

function literal(part) {
  return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+");
}
