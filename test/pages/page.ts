/** Parses a page of Markdown: its blocks, headings, links and inline code, each with its line. */

export interface Block {
  /** The word behind the backticks; empty when there is none. */
  readonly language: string;
  /** What follows that word: the name of a file, or `note`. */
  readonly rest: string;
  readonly lines: readonly string[];
  /** Of the opening backticks, from 1. */
  readonly line: number;
}

export interface Placed {
  readonly text: string;
  readonly line: number;
}

export interface Page {
  /** From the root of the checkout. */
  readonly name: string;
  readonly blocks: readonly Block[];
  readonly headings: readonly Placed[];
  /** What stands in the parentheses of links and images, and in `href`, `src` and `id` of HTML. */
  readonly links: readonly Placed[];
  readonly ids: readonly string[];
  /** Inline code. */
  readonly code: readonly Placed[];
  /** Each line that is in no block, blocks left empty, so that line numbers stay. */
  readonly prose: readonly string[];
}

const FENCE = /^( *)(`{3,}|~{3,})\s*([^\s`{]*)\s*([^`]*)$/;
const INLINE_CODE = /(`+)([^`]|[^`].*?[^`])\1(?!`)/g;
const LINK = /\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^ {0,3}\[[^\]^]+\]:\s+<?(\S+?)>?(?:\s+"[^"]*")?\s*$/;
const ATTRIBUTE = /\b(?:href|src|srcset)="([^"]*)"/g;
const ID = /\b(?:id|name)="([^"]*)"/g;

/** Reads a page; throws for a block that never ends. */
export function readPage(name: string, text: string): Page {
  const { blocks, prose } = divide(name, text.split("\n"));
  const bare = prose.map((line) => line.replace(INLINE_CODE, (all) => " ".repeat(all.length)));
  return {
    name,
    blocks,
    prose,
    headings: found(prose, /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/g),
    links: [...found(bare, LINK), ...found(bare, new RegExp(REFERENCE, "g")), ...found(bare, ATTRIBUTE)],
    ids: found(bare, ID).map(({ text: id }) => id),
    code: prose.flatMap((line, index) =>
      [...line.matchAll(INLINE_CODE)].map((match) => ({ text: (match[2] ?? "").trim(), line: index + 1 })),
    ),
  };
}

function divide(name: string, lines: readonly string[]): { blocks: readonly Block[]; prose: readonly string[] } {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open:
    | { readonly end: string; readonly indent: number; readonly block: Block; readonly lines: string[] }
    | undefined;
  for (const [index, line] of lines.entries()) {
    if (open !== undefined) {
      prose.push("");
      if (line.trim().startsWith(open.end) && /^[`~]+$/.test(line.trim())) {
        blocks.push(open.block);
        open = undefined;
      } else open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
      continue;
    }
    const [all, indent = "", end = "", language = "", rest = ""] = FENCE.exec(line) ?? [];
    prose.push(all === undefined ? line : "");
    if (all === undefined) continue;
    const own: string[] = [];
    open = {
      end,
      indent: indent.length,
      lines: own,
      block: { language, rest: rest.trim(), lines: own, line: index + 1 },
    };
  }
  if (open !== undefined)
    throw new Error(`${name}:${open.block.line}: a block that never ends; close it with ${open.end}`);
  return { blocks, prose };
}

function found(lines: readonly string[], pattern: RegExp): readonly Placed[] {
  return lines.flatMap((line, index) =>
    [...line.matchAll(pattern)].map((match) => ({ text: match[1] ?? "", line: index + 1 })),
  );
}

const SHELL: ReadonlySet<string> = new Set(["sh", "bash", "console", "shell", "zsh", "shell-session"]);

/** True for a block that people paste into a shell. */
export function isShell({ language }: Block): boolean {
  return SHELL.has(language);
}

/** How GitHub calls the headings of a page in links to them. */
export function anchorsOf({ headings, ids }: Page): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = headings.map(({ text }) => {
    const slug = slugOf(text);
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set([...anchors, ...ids]);
}

function slugOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]+>/g, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}
