/** Reads the tables of a page. */

/** The cells of a table's lines, its head left out. */
export function cellsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const rows = lines.filter((line) => /^\| (?!-)/.test(line));
  if (rows.length < 2) throw new Error(`no table: ${lines[0]}`);
  return rows.slice(1).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Those of the table behind `<!-- name -->`. */
export function tableOf(page: string, name: string): readonly (readonly string[])[] {
  return cellsOf((page.split(`<!-- ${name} -->\n`)[1]?.split("<!-- end -->")[0] ?? "").split("\n"));
}
