/** The parts of the page as server-sent events: whole, or only the lines that changed. */

/** Of one query, what its viewers have. */
export type PageLines = ReadonlyMap<string, readonly string[]>;

export function linesOf(parts: Iterable<readonly [id: string, html: string]>): PageLines {
  return new Map(Array.from(parts, ([id, html]) => [id, html.split("\n")]));
}

export function wholeEvents(parts: PageLines): string {
  return Array.from(parts, ([id, lines]) => wholeEvent(id, lines)).join("");
}

/** What makes `before` into `parts`; empty if nothing changed. */
export function changeEvents(before: PageLines, parts: PageLines): string {
  return Array.from(parts, ([id, lines]) => {
    const old = before.get(id);
    // Lines are identified by number, and an added or removed line shifts all after it.
    if (old?.length !== lines.length) return wholeEvent(id, lines);
    const changed = lines.flatMap((line, at) => (line === old[at] ? [] : [[at, line] as const]));
    return changed.length === 0 ? "" : eventOf("lines", { id, lines: changed });
  }).join("");
}

function wholeEvent(id: string, lines: readonly string[]): string {
  return eventOf("part", { id, html: lines.join("\n") });
}

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
