/** Pieces that several sections share. */
import { type Child, type Html, html, link } from "./html.ts";
import { type PageQuery, queryParameters } from "./query.ts";

export type Tone = "plain" | "good" | "warn" | "bad" | "native" | "shadow" | "translate";

export interface Section {
  /** Its place in the page: `#rules`. */
  readonly id: string;
  readonly title: string;
  readonly body: Html;
  /** Next to the title. */
  readonly aside?: Html | string | undefined;
}

export function badge(text: string, tone: Tone = "plain"): Html {
  return html`<span class="badge badge-${tone}">${text}</span>`;
}

/** Where there is nothing to show, and why. */
export function nothing(text: Child): Html {
  return html`<p class="nothing">${text}</p>`;
}

/** A figure with its name. */
export function figure(name: string, value: Child, note?: Child): Html {
  return html`<div class="figure"><dt>${name}</dt><dd>${value}${note === undefined ? "" : html`<small>${note}</small>`}</dd></div>`;
}

export function figures(all: readonly Child[]): Html {
  return html`<dl class="figures">${all}</dl>`;
}

/** Scrolls by itself where the screen is narrow. */
export function scrolling(label: string, table: Html): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${table}</div>`;
}

/** The page of `all` that was asked for, or the last one. */
export function pageOf<T>(all: readonly T[], asked: number, size: number) {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const page = Math.min(asked, pages);
  return { page, pages, items: all.slice((page - 1) * size, page * size), first: (page - 1) * size };
}

/** Links to the pages before and after. `name`: the parameter that has the number. */
export function pager(
  { page, pages }: { readonly page: number; readonly pages: number },
  query: PageQuery,
  { name, place, what }: { readonly name: string; readonly place: string; readonly what: string },
): Html | "" {
  if (pages === 1) return "";
  const to = (number: number) => link("/", { ...queryParameters(query), [name]: number }, place);
  return html`<nav class="pager" aria-label="Pages of ${what}">
${page > 1 ? html`<a href="${to(page - 1)}">← Previous</a>` : html`<span aria-hidden="true">← Previous</span>`}
<span>Page ${page} of ${pages}</span>
${page < pages ? html`<a href="${to(page + 1)}">Next →</a>` : html`<span aria-hidden="true">Next →</span>`}</nav>`;
}
