/** What served requests over time, with the events of the migration marked on it. */
import { SERIES_KINDS, type Series } from "../history/series.ts";
import type { PageData, PageEvent } from "./data.ts";
import { type Html, html, link } from "./html.ts";
import { nothing, type Section, scrolling } from "./parts.ts";
import { KIND_NAMES, type PlotMark, plot, plotTable } from "./plot.ts";
import { type PageQuery, queryParameters } from "./query.ts";

/** Draws the plot and its table: by far the longest part of the page. */
export type Draw = (series: Series, events: readonly PageEvent[], span: string) => Html;

export const draw: Draw = (
  series,
  events,
  span,
) => html`<figure>${plot(series, marksOf(events), `Requests over ${span}, by what served them. The table below has the numbers.`)}
<figcaption>Requests over ${span}; times in UTC.</figcaption></figure>
<details id="progress-table"><summary>The same as a table</summary>${scrolling(`Requests over ${span}`, plotTable(series))}</details>`;

/** `draw`, which draws the same again only if the series is another one or something has happened. */
export function createDraw(): Draw {
  const drawn = new Map<string, { readonly series: Series; readonly last: string | undefined; readonly found: Html }>();
  return (series, events, span) => {
    const before = drawn.get(span);
    const last = events.at(-1)?.id;
    if (before?.series === series && before.last === last) return before.found;
    const found = draw(series, events, span);
    // Two spans at most.
    drawn.set(span, { series, last, found });
    return found;
  };
}

export function progress(data: PageData, query: PageQuery, drawn: Draw = draw): Section {
  const series = query.span === "days" ? data.days : data.hours;
  const span = query.span === "days" ? "180 days, by day" : "14 days, by hour";
  const isEmpty = series.points.every(
    ({ counts }) => counts === undefined || SERIES_KINDS.every((kind) => counts[kind] === 0),
  );
  const to = (asked: PageQuery["span"]) => link("/", { ...queryParameters({ ...query, span: asked }) }, "progress");
  const tab = (asked: PageQuery["span"], text: string) =>
    html`<a href="${to(asked)}" ${query.span === asked ? html`aria-current="true"` : ""}>${text}</a>`;
  return {
    id: "progress",
    title: "Progress over time",
    aside: html`<nav class="tabs" aria-label="Time shown">${tab("hours", "14 days")}${tab("days", "180 days")}</nav>`,
    body: isEmpty
      ? nothing("No request was counted in this time. The plot fills as clients call.")
      : html`<p class="legend">${SERIES_KINDS.toReversed().map((kind) => html`<span class="key kind-${kind}"><i></i>${KIND_NAMES[kind]}</span>`)}
<span class="key mark-bad"><i></i>rollback or alarm</span><span class="key mark-good"><i></i>moved on</span><span class="key mark-note"><i></i>changed by hand</span></p>
${drawn(series, data.events, span)}`,
  };
}

const TONES: ReadonlyMap<string, PlotMark["tone"]> = new Map([
  ["stepped-back", "bad"],
  ["alarm", "bad"],
  ["failing", "bad"],
  ["breaker-opened", "bad"],
  ["promoted", "good"],
  ["returned", "good"],
  ["guard-cleared", "good"],
  ["forced", "note"],
  ["rules", "note"],
  ["confirmed", "note"],
]);

export function toneOf(kind: string): PlotMark["tone"] | undefined {
  return TONES.get(kind);
}

function marksOf(events: readonly PageEvent[]): readonly PlotMark[] {
  return events.flatMap(({ at, kind, rule, reason }) => {
    const tone = TONES.get(kind);
    return tone === undefined ? [] : [{ at, tone, text: `${kind}${rule === undefined ? "" : ` ${rule}`}: ${reason}` }];
  });
}
