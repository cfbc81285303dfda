/** The page as a whole: sections in order, and the document around them. */
import { brownouts } from "./brownouts.ts";
import { clients } from "./clients.ts";
import type { PageData } from "./data.ts";
import { differences } from "./differences.ts";
import { type Document, documentOf } from "./document.ts";
import { events } from "./events.ts";
import { logoutForm } from "./forms.ts";
import { headline } from "./headline.ts";
import { type Html, html, link } from "./html.ts";
import { cost, fleet, load } from "./machine.ts";
import { badge, type Section } from "./parts.ts";
import { type Draw, progress } from "./progress.ts";
import { type PageQuery, queryParameters, readQuery } from "./query.ts";
import { rules } from "./rules.ts";
import { share, time } from "./words.ts";

const SECTIONS: readonly ((data: PageData, query: PageQuery, draw?: Draw) => Section)[] = [
  headline,
  progress,
  rules,
  clients,
  brownouts,
  differences,
  events,
  load,
  cost,
  fleet,
];

/** Sections that show what was before the start. */
const WITH_PAST: ReadonlySet<string> = new Set(["headline", "progress", "rules", "events"]);

/** `id` and content of a part that changes. */
export type LivePart = readonly [id: string, content: string];

/** The line of the header, then each section; each is made when it is asked for, so that other work can go on between. */
export function* liveParts(data: PageData, parameters: URLSearchParams, draw?: Draw): Generator<LivePart> {
  const query = readQuery(parameters);
  yield ["state", stateLine(data).toString()];
  for (const make of SECTIONS) {
    const section = make(data, query, draw);
    yield [section.id, sectionBody(section, data).toString()];
  }
}

/** The document of `GET /`. */
export function renderPage(
  data: PageData,
  parameters: URLSearchParams,
  look: Omit<Document, "title" | "body"> & { readonly draw?: Draw; readonly formToken?: string | undefined },
): string {
  const query = readQuery(parameters);
  const sections = SECTIONS.map((section) => section(data, query, look.draw));
  const shareNow = data.status.standing?.translatedShare ?? undefined;
  const title = `${shareNow === undefined ? "" : `${share(shareNow)} translated · `}carryover`;
  const body = html`<header class="top"><div class="bar-in">
<h1><a href="/"><span class="logo" aria-hidden="true"></span>carryover</a></h1>
<nav class="sections" aria-label="Sections">${sections.slice(1).map(({ id, title: name }) => html`<a href="#${id}">${name}</a>`)}</nav>
<div class="state" id="state" data-part>${stateLine(data)}</div></div></header>
<main id="main" data-live="${link("/page/live", queryParameters(query))}">
${sections.map((section) => html`<section id="${section.id}" class="panel panel-${section.id}" aria-labelledby="${section.id}-title" data-part>${sectionBody(section, data)}</section>`)}
</main>
<footer><p>Times are UTC. Figures cover all replicas unless a panel names one instance. <a href="/page/force">Force native v1</a></p>${look.formToken === undefined ? "" : logoutForm(look.formToken)}<p>carryover ${data.version}</p></footer>`;
  return documentOf({ assets: look.assets, title, body });
}

function sectionBody({ id, title, aside, body }: Section, { isMadeUp }: PageData): Html {
  return html`<div class="panel-head"><h2 id="${id}-title">${title}</h2>${aside === undefined || aside === "" ? "" : html`<div class="aside">${aside}</div>`}${isMadeUp ? html`<span class="badge badge-demo">${WITH_PAST.has(id) ? "demo, its past is made up" : "demo"}</span>` : ""}</div>
${body}`;
}

function stateLine({ force, at, status }: PageData): Html {
  const troubles = status.attention.length;
  return html`${force === "none" ? "" : badge(`forced: ${force}`, "bad")}${troubles === 0 ? badge("calm", "good") : html`<a href="#headline">${badge(`${troubles} to look at`, "warn")}</a>`}
<span class="as-of">as of ${time(at, `${new Date(at).toISOString().slice(11, 16)}Z`)}</span>`;
}
