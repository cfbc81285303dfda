/** How do texts of strangers stand in Markdown so that they are only text? */

/** `text` as code, whatever it holds; a backquote, which would end it, is shown as an apostrophe. */
export function code(text: string): string {
  return `\`${text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�").replaceAll("`", "'")}\``;
}

/** A table with a head; nothing when it has no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [row(head), row(head.map(() => "---")), ...rows.map(row), ""];
}

/** Also in code a bar would end the cell. */
function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** `text` set apart as code in `language`, with an empty line behind it. */
export function block(language: string, text: string): readonly string[] {
  return [`\`\`\`${language}`, ...text.split("\n"), "```", ""];
}

/** Each one as code, with commas. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(", ");
}
