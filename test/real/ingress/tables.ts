/** Formats the tables of docs/ingress.md. */

/** A table of Markdown; `|` within a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

/** `page` with `content` between `<!-- name -->` and `<!-- end of name -->`. Throws when it has no such place. */
export function placed(page: string, name: string, content: string): string {
  const from = `<!-- ${name} -->\n`;
  const to = `\n<!-- end of ${name} -->`;
  const start = page.indexOf(from);
  const end = page.indexOf(to, start);
  if (start < 0 || end < 0) throw new Error(`the page has no place for ${name}`);
  return page.slice(0, start + from.length) + content + page.slice(end);
}
