/** HTML templates that escape every text by default. Nothing in this folder may bypass them (test/page/escaping.test.ts). */
import { raw, html as template } from "hono/html";
import { replaceUnprintable } from "../model/text.ts";

/** Finished HTML, which another template takes as it is. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

export type Child = string | number | false | null | undefined | Html | readonly Child[];

/** Longer texts are cut: a page is for people. */
const LONGEST = 2_000;

/** The template tag. Unprintable characters become U+FFFD, so that no text can reorder or hide what surrounds it. */
export function html(strings: TemplateStringsArray, ...values: readonly Child[]): Html {
  // Without promises among the values, the result is not a promise.
  return template(strings, ...values.map(shown)) as unknown as Html;
}

function shown(value: Child): unknown {
  if (typeof value === "string") return replaceUnprintable(cut(value, LONGEST));
  return Array.isArray(value) ? value.map(shown) : value;
}

/** At most `most` UTF-16 units, and never half of a surrogate pair. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A path of SVG of any length. Throws for anything else: it is not cut and not escaped. */
export function geometry(path: string): Html {
  if (!/^[MLHVCZ0-9., e-]*$/i.test(path)) throw new Error("a path has letters that are not geometry");
  return raw(path) as unknown as Html;
}

/** Lines of a text, each a child. */
export function lines(all: readonly string[]): readonly Html[] {
  return all.map(
    (line) => html`${line}
`,
  );
}

/** A path of the admin port with a query. */
export function link(
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
  place = "",
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as [string, string]],
  );
  const text = new URLSearchParams(given).toString();
  return `${path}${text === "" ? "" : `?${text}`}${place === "" ? "" : `#${place}`}`;
}
