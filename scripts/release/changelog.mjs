/** What does the changelog say of the next version, and how does it read once that is released? (Pure: text in, text out.) */

const NEXT = /^## Next *$/m;

/**
 * `text` with its section `## Next` become that of `version`, and that section's own text and entries. Throws where there is
 * none, or nothing in it.
 */
export function released(text, version, date) {
  const start = text.search(NEXT);
  if (start < 0)
    throw new Error('CHANGELOG.md: there is no section "## Next"; write down what changed under that heading');
  const body = text.slice(start).replace(NEXT, "");
  const end = body.search(/^## /m);
  const section = (end < 0 ? body : body.slice(0, end)).trim();
  const entries = entriesOf(section);
  if (entries.length === 0) throw new Error('CHANGELOG.md: the section "## Next" has no entry; begin each with "- "');
  return { text: text.replace(NEXT, `## ${version} - ${date}`), section, entries };
}

/** Each list item as one line of plain text. */
function entriesOf(section) {
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) => item.split(/\n\s*\n/)[0] ?? "")
    .map((item) =>
      item
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .filter((item) => item !== "");
}
