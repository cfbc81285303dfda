/** What happened to the migration, latest first. */
import type { PageData } from "./data.ts";
import { html, link } from "./html.ts";
import { badge, nothing, pageOf, pager, type Section } from "./parts.ts";
import { toneOf } from "./progress.ts";
import { type PageQuery, queryParameters } from "./query.ts";
import { count, time } from "./words.ts";

const EVENTS_ON_PAGE = 20;
const TONES = { bad: "bad", good: "good", note: "translate" } as const;

export function events(data: PageData, query: PageQuery): Section {
  const kinds = [...new Set(data.events.map(({ kind }) => kind))].sort();
  const found = data.events.filter(({ kind }) => query.kind === "" || kind === query.kind).toReversed();
  const shown = pageOf(found, query.eventsPage, EVENTS_ON_PAGE);
  const to = (kind: string) => link("/", queryParameters({ ...query, kind, eventsPage: 1 }), "events");
  const chip = (kind: string, text: string) =>
    html`<a href="${to(kind)}" ${query.kind === kind ? html`aria-current="true"` : ""}>${text}</a>`;
  return {
    id: "events",
    title: "Events",
    aside: html`${count(data.events.length)} since ${time(data.eventsSince)}`,
    body:
      data.events.length === 0
        ? nothing("Nothing has happened yet.")
        : html`<nav class="tabs chips" aria-label="Kinds of events">${chip("", "all")}${kinds.map((kind) => chip(kind, kind.replaceAll("-", " ")))}</nav>
${
  shown.items.length === 0
    ? nothing("No event of this kind.")
    : html`<ul class="events">${shown.items.map((event) => {
        const tone = toneOf(event.kind);
        return html`<li><span class="when">${time(event.at)}</span><span class="what">${badge(event.kind.replaceAll("-", " "), tone === undefined ? "plain" : TONES[tone])}${event.rule === undefined ? "" : html` <strong>${event.rule}</strong>`}${event.client === undefined ? "" : html` client ${event.client}`}${event.from === undefined || event.to === undefined ? "" : html` <small>${event.from} → ${event.to}</small>`}</span>
<span class="why">${event.reason}${event.by === undefined ? "" : html` <small>by ${event.by}</small>`}${event.on === undefined ? "" : html` <small>on ${event.on.join(", ")}</small>`}</span></li>`;
      })}</ul>`
}
${pager(shown, query, { name: "events", place: "events", what: "events" })}`,
  };
}
