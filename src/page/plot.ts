/** Requests over time as SVG: stacked areas, with the events of the migration above them. Geometry only, since the page's policy forbids style attributes. */
import { scaleLinear, scaleUtc } from "d3-scale";
import { area, curveStepAfter, stack, stackOrderNone } from "d3-shape";
import { SERIES_KINDS, type Series, type SeriesKind, type SeriesPoint } from "../history/series.ts";
import { DAY_MS } from "../ledger/days.ts";
import { geometry, type Html, html } from "./html.ts";
import { count, day, minute, short } from "./words.ts";

export const KIND_NAMES: Readonly<Record<SeriesKind, string>> = {
  translated: "translated to v2",
  shadow: "native v1, compared",
  native: "native v1",
  v2: "v2 direct",
};

/** Something that happened, marked above the plot. */
export interface PlotMark {
  readonly at: number;
  readonly tone: "bad" | "good" | "note";
  readonly text: string;
}

/** Units of the drawing; it is stretched to the width of the page. */
const WIDTH = 1000;
const HEIGHT = 220;
/** Pixels above the areas, for marks, and below, for times. */
const [ABOVE, BELOW] = [26, 24];
const MOST_MARKS = 60;

export function plot(series: Series, marks: readonly PlotMark[], label: string): Html {
  const { ms, points } = series;
  const known = points.filter(({ counts }) => counts !== undefined);
  const [from, to] = [points[0]?.at ?? 0, (points.at(-1)?.at ?? 0) + ms];
  const x = scaleUtc([from, to], [0, WIDTH]);
  const most = Math.max(1, ...known.map(sumOf));
  const y = scaleLinear([0, most], [HEIGHT, 0]).nice(4);
  const layers = stack<SeriesPoint, SeriesKind>()
    .keys(SERIES_KINDS)
    .order(stackOrderNone)
    .value(({ counts }, kind) => counts?.[kind] ?? 0)(closed(known, ms));
  const shape = area<(typeof layers)[number][number]>()
    .x(({ data }) => rounded(x(data.at)))
    .y0((one) => rounded(y(one[0])))
    .y1((one) => rounded(y(one[1])))
    .curve(curveStepAfter);
  const part = (at: number): string => `${rounded((x(at) / WIDTH) * 100)}%`;
  const height = ABOVE + HEIGHT + BELOW;
  const shown = marks.filter(({ at }) => at >= from && at < to).slice(-MOST_MARKS);
  return html`<svg class="plot" width="100%" height="${height}" role="img" aria-label="${label}">
<g class="grid">${y.ticks(4).map((tick) => line(ABOVE + y(tick), tick))}</g>
<svg y="${ABOVE}" width="100%" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
${layers.map((layer) => html`<path class="kind-${layer.key}" d="${geometry(shape(layer) ?? "")}"/>`)}
</svg>
<g class="labels">${y.ticks(4).map((tick) => (tick === 0 ? "" : html`<text x="4" y="${rounded(ABOVE + y(tick)) - 4}">${short(tick)}</text>`))}</g>
<g class="labels times">${x.ticks(8).map((tick, at) => {
    const place = x(tick) / WIDTH;
    if (place < 0.01 || place > 0.96) return "";
    return html`<text class="${at % 2 === 0 ? "" : "wide-only"}" x="${part(+tick)}" y="${height - 7}">${day(+tick)}</text>`;
  })}</g>
<g class="marks">${shown.map(
    ({ at, tone, text }) =>
      html`<g class="mark-${tone}"><line x1="${part(at)}" x2="${part(at)}" y1="16" y2="${ABOVE + HEIGHT}"/><circle cx="${part(at)}" cy="11" r="5"/><title>${minute(at)}: ${text}</title></g>`,
  )}</g>
</svg>`;
}

function line(at: number, tick: number): Html {
  return html`<line class="${tick === 0 ? "base" : ""}" x1="0" x2="100%" y1="${rounded(at)}" y2="${rounded(at)}"/>`;
}

function sumOf({ counts }: SeriesPoint): number {
  return counts === undefined ? 0 : SERIES_KINDS.reduce((sum, kind) => sum + counts[kind], 0);
}

/** A step needs an end. */
function closed(points: readonly SeriesPoint[], ms: number): SeriesPoint[] {
  const last = points.at(-1);
  return last === undefined ? [] : [...points, { ...last, at: last.at + ms }];
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A bar that is `part` full, 0 to 1. The text next to it says the same. */
export function bar(part: number, tone: "plain" | "good" | "warn" | "bad" = "plain"): Html {
  const full = rounded(Math.min(1, Math.max(0, part)) * 100);
  return html`<svg class="bar bar-${tone}" width="100%" height="8" aria-hidden="true"><rect class="track" width="100%" height="8" rx="4"/><rect class="fill" width="${full}%" height="8" rx="4"/></svg>`;
}

/** Counts of days as thin columns, oldest first. */
export function columns(values: readonly number[], label: string, kind: SeriesKind = "native"): Html {
  const most = Math.max(1, ...values);
  const width = 100 / Math.max(1, values.length);
  return html`<svg class="columns" width="100%" height="64" viewBox="0 0 100 64" preserveAspectRatio="none" role="img" aria-label="${label}">${values.map(
    (value, at) => {
      const height = value === 0 ? 0 : Math.max(1.5, rounded((value / most) * 62));
      return html`<rect class="kind-${kind}" x="${rounded(at * width + width * 0.1)}" y="${64 - height}" width="${rounded(width * 0.8)}" height="${height}"/>`;
    },
  )}</svg>`;
}

/** Shares of days as a line without axes. */
export function sparkline(values: readonly (number | undefined)[], label: string): Html {
  const step = 100 / Math.max(1, values.length - 1);
  const runs: string[] = [];
  let isOpen = false;
  for (const [at, value] of values.entries()) {
    if (value !== undefined) runs.push(`${isOpen ? "L" : "M"}${rounded(at * step)} ${rounded(30 - value * 28)}`);
    isOpen = value !== undefined;
  }
  return html`<svg class="sparkline" width="100%" height="32" viewBox="0 0 100 32" preserveAspectRatio="none" role="img" aria-label="${label}"><path d="${geometry(runs.join("") || "M0 30")}"/></svg>`;
}

/** The points of a plot as rows, latest first, for readers who cannot see it. */
export function plotTable({ ms, points }: Series): Html {
  const isDays = ms >= DAY_MS;
  const rows = points.toReversed().flatMap(({ at, counts }) => (counts === undefined ? [] : [{ at, counts }]));
  return html`<table><thead><tr><th scope="col">${isDays ? "Day" : "Hour"} (UTC)</th>${SERIES_KINDS.map((kind) => html`<th scope="col" class="number">${KIND_NAMES[kind]}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ at, counts }) =>
      html`<tr><th scope="row">${isDays ? minute(at).slice(0, 10) : minute(at)}</th>${SERIES_KINDS.map((kind) => html`<td class="number">${count(counts[kind])}</td>`)}</tr>`,
  )}</tbody></table>`;
}
