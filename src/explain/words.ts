/** Which words does a shell make of a pasted line? (Only quoting is done: nothing is expanded and nothing is run.) */
import { unclear } from "./request.ts";
import { MASKED } from "./secrets.ts";

export interface Words {
  readonly words: readonly string[];
  /** What stood behind the command (`| jq .`), and expansions that were left as they are. */
  readonly notes: readonly string[];
}

/** Where the reading of a line stands. */
interface Reader {
  readonly text: string;
  at: number;
  /** Undefined between words; `''` is a word, though an empty one. */
  word: string | undefined;
  readonly words: string[];
  readonly notes: string[];
}

/** Begin another command, or tell where the output of this one goes. */
const ENDS = new Set(["|", ";", ">", "<"]);
const SPACE = /\s/;
/** What a backslash takes the meaning of inside double quotes (POSIX shell, section 2.2.3). */
const SPECIAL_IN_QUOTES = new Set(["$", "`", '"', "\\"]);

/**
 * Splits `text` as a POSIX shell would: quotes, backslashes, a backslash at the end of a line. `$NAME` and `$(…)` stay as
 * text. Reading ends at `|`, `;` and redirections. Throws `Problem` INVALID_REQUEST for `$'…'`, a bare `&`, and quotes
 * that nobody closed.
 */
export function splitWords(text: string): Words {
  const reader: Reader = { text, at: 0, word: undefined, words: [], notes: [] };
  while (reader.at < text.length) {
    if (!readNext(reader)) break;
  }
  endWord(reader);
  return { words: reader.words, notes: [...new Set(reader.notes)] };
}

/** Reads on by one character or one quoted part; false at the end of the command. */
function readNext(reader: Reader): boolean {
  const char = reader.text.charAt(reader.at);
  if (SPACE.test(char)) {
    // A line of its own is a command of its own, but what was pasted may begin with empty ones.
    if (char === "\n" && (reader.words.length > 0 || reader.word !== undefined)) return endsHere(reader, char);
    endWord(reader);
    reader.at += 1;
    return true;
  }
  if (ENDS.has(char)) return endsHere(reader, char);
  switch (char) {
    case "&":
      throw unclear('a bare "&" ends the command in a shell: put quotes around the URL');
    case "'":
      readSingle(reader);
      return true;
    case '"':
      readDouble(reader);
      return true;
    case "\\":
      readEscaped(reader);
      return true;
    case "$":
    case "`":
      readExpansion(reader);
      return true;
    case "#":
      if (reader.word === undefined) return endsHere(reader, char);
      break;
    default:
  }
  add(reader, char);
  reader.at += 1;
  return true;
}

/** What follows is not part of this command. `2>` is a redirection, so its number is no word. */
function endsHere(reader: Reader, char: string): boolean {
  if ((char === ">" || char === "<") && /^\d$/.test(reader.word ?? "")) reader.word = undefined;
  endWord(reader);
  const rest = reader.text.slice(reader.at).trim();
  if (rest !== "") reader.notes.push(`ignored what follows the command: ${char === "\n" ? "further lines" : char}`);
  return false;
}

function endWord(reader: Reader): void {
  if (reader.word !== undefined) reader.words.push(reader.word);
  reader.word = undefined;
}

function add(reader: Reader, text: string): void {
  reader.word = (reader.word ?? "") + text;
}

function readSingle(reader: Reader): void {
  const end = reader.text.indexOf("'", reader.at + 1);
  if (end < 0) throw unclear("a single quote is never closed");
  add(reader, reader.text.slice(reader.at + 1, end));
  reader.at = end + 1;
}

function readDouble(reader: Reader): void {
  const { text } = reader;
  add(reader, "");
  reader.at += 1;
  while (reader.at < text.length) {
    const char = text.charAt(reader.at);
    if (char === '"') {
      reader.at += 1;
      return;
    }
    if (char === "$" || char === "`") readExpansion(reader, "quoted");
    else if (char === "\\") {
      const next = text.charAt(reader.at + 1);
      if (next !== "\n") add(reader, SPECIAL_IN_QUOTES.has(next) ? next : `\\${next}`);
      reader.at += 2;
    } else {
      add(reader, char);
      reader.at += 1;
    }
  }
  throw unclear("a double quote is never closed");
}

function readEscaped(reader: Reader): void {
  const { text } = reader;
  const next = text.startsWith("\\\r\n", reader.at) ? "\r\n" : text.charAt(reader.at + 1);
  if (next !== "\n" && next !== "\r\n" && next !== "") add(reader, next);
  reader.at += 1 + next.length;
}

/** `$NAME`, `${NAME}`, `$(command)` and backquotes: kept as text, because only the shell that they were written for knows them. */
function readExpansion(reader: Reader, where: "bare" | "quoted" = "bare"): void {
  const rest = reader.text.slice(reader.at);
  if (where === "bare" && (rest.startsWith("$'") || rest.startsWith('$"'))) {
    throw unclear(`${rest.slice(0, 2)}… is a quoting that is not read here: write it with plain quotes`);
  }
  const found = expansionAt(rest);
  if (found !== "$") reader.notes.push(`${withoutDefault(found)} is left as it is: nothing is expanded here`);
  add(reader, found);
  reader.at += found.length;
}

/** What a variable is when it is not set may be a secret. */
function withoutDefault(expansion: string): string {
  return expansion.replace(/^(\$\{\w+)[^\w}].*\}$/s, `$1${MASKED}}`);
}

function expansionAt(rest: string): string {
  if (rest.startsWith("$(")) return rest.slice(0, closing(rest));
  const simple = /^(?:\$\{[^}]*\}|\$[A-Za-z_]\w*|`[^`]*`)/.exec(rest)?.[0];
  if (simple === undefined && rest.startsWith("`")) throw unclear("a backquote is never closed");
  // Also because each one would be looked for to the end of the text.
  if (simple === undefined && rest.startsWith("${")) throw unclear("${ is never closed");
  return simple ?? "$";
}

/** Where the `)` of `$(` stands, nested ones counted. */
function closing(rest: string): number {
  let depth = 0;
  for (let at = 1; at < rest.length; at += 1) {
    if (rest[at] === "(") depth += 1;
    else if (rest[at] === ")") depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw unclear("$( is never closed");
}
