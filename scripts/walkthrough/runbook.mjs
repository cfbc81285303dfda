/** Reads the steps and code blocks of docs/runbook.md, as the walkthrough runs them. */

/**
 * @typedef {{ kind: "command" | "file" | "meanwhile", text: string, says: readonly string[], back: boolean, line: number }} Action
 * `text`: the command, the name of the file, or what happens; `says`: what the command prints, or what the file holds.
 * @typedef {{ id: string, title: string, actions: readonly Action[] }} Step
 */

/**
 * The sections that carry `<!-- step: ID -->`, in order; `before`: what the section with `<!-- before -->` asks for. Each line of a
 * block of sh is a command, as is each line with `$ ` of a console block, which shows below what it prints. A block whose second
 * word is a name is that file. What follows **Back** at the beginning of a line is a section's way back, and
 * `<!-- meanwhile: NAME -->` says what happens in the world at that place. Blocks of other languages, and those with the second word
 * `note`, are for people only. Throws for two sections of one id, and for a block outside of any.
 */
export function readRunbook(text) {
  const steps = [];
  const before = [];
  let title = "";
  let actions;
  let back = false;
  let block;
  text.split("\n").forEach((content, index) => {
    const line = index + 1;
    if (block !== undefined) {
      if (content === "```") block = undefined;
      else block(content, line);
      return;
    }
    const heading = /^##+ (.*)/.exec(content)?.[1];
    if (heading !== undefined) {
      title = heading;
      actions = undefined;
      back = false;
    }
    if (content === "<!-- before -->") actions = before;
    const [, mark, id] = /^<!-- (step|meanwhile): ([a-z0-9-]+) -->$/.exec(content) ?? [];
    if (mark === "step") {
      if (steps.some((one) => one.id === id)) throw new Error(`line ${line}: a second ${id}`);
      actions = [];
      steps.push({ id, title, actions });
    }
    const add = (kind, what, at = line) => {
      if (actions === undefined) throw new Error(`line ${line}: a block outside of every step`);
      const action = { kind, text: what, says: [], back, line: at };
      actions.push(action);
      return action;
    };
    if (mark === "meanwhile") add(mark, id);
    if (/^\*\*Back\b/.test(content)) back = true;
    const [, language, name] = /^```(\w+)(?: (\S+))?$/.exec(content) ?? [];
    if (language !== undefined) block = reader({ language, name }, add);
  });
  return { steps, before };
}

/** Takes the lines of one block. */
function reader({ language, name }, add) {
  if (name === "note" || !["sh", "console", "yaml"].includes(language)) return () => {};
  if (name !== undefined) {
    const file = add("file", name);
    return (content) => file.says.push(content);
  }
  let command;
  return (content, line) => {
    const [, typed] = language === "sh" ? [content, content] : (/^\$ (.*)/.exec(content) ?? []);
    if (typed === undefined) command.says.push(content);
    else if (typed !== "") command = add("command", typed, line);
  };
}

/** The queries of the table for Prometheus. */
export function expressionsOf(text) {
  return [...text.matchAll(/^\|.* `(.*\bcarryover_.*)` \|$/gm)].map(([, expression]) => expression);
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
