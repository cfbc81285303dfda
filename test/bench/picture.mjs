/** Draws memory over time as SVG, readable on light and dark backgrounds. */
import { mib } from "./tables.mjs";

const [WIDTH, HEIGHT] = [760, 380];
const PLOT = { left: 64, right: 744, top: 64, bottom: 316 };
const LIMIT_MIB = 48;
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 16px; font-weight: 600; }
  .axis { stroke: #57606a; }
  .grid { stroke: #d0d7de; }
  .limit { stroke: #57606a; stroke-dasharray: 6 4; }
  .during { fill: #ddf4ff; }
  .held { stroke: #0969da; }
  .rss { stroke: #bc4c00; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .held-word { fill: #0969da; }
  .rss-word { fill: #bc4c00; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .axis, .limit { stroke: #9198a1; }
    .grid { stroke: #3d444d; }
    .during { fill: #12263f; }
    .held { stroke: #4493f8; }
    .rss { stroke: #f0883e; }
    .held-word { fill: #4493f8; }
    .rss-word { fill: #f0883e; }
    .ground { fill: #0d1117; }
  }`;

/**
 * `points`: `ms`, and bytes above idle as `held` (heap + external) and `rss`; `from` and `to`: when the list was asked for
 * and there; `got`: what it was.
 */
export function memoryPicture({ points, from, to, got }) {
  const lastMs = points.at(-1).ms;
  const values = points.flatMap(({ held, rss }) => [inMib(held), inMib(rss)]);
  const step = niceAbove(Math.max(LIMIT_MIB, ...values) / 5);
  const top = Math.ceil((Math.max(LIMIT_MIB, ...values) + step / 4) / step) * step;
  const bottom = Math.floor((Math.min(0, ...values) + 1) / step) * step;
  const x = (ms) => round(PLOT.left + (ms / lastMs) * (PLOT.right - PLOT.left));
  const y = (value) => round(PLOT.bottom - ((value - bottom) / (top - bottom)) * (PLOT.bottom - PLOT.top));
  const line = (name) => points.map((point) => `${x(point.ms)},${y(inMib(point[name]))}`).join(" ");
  const title = `Memory of carryover while a v1 list of ${got.records.toLocaleString("en")} records (${mib(got.bytes)} MiB) is read`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>
<text class="title" x="${PLOT.left}" y="26">${title}</text>
<text x="${PLOT.left}" y="48">MiB above idle: <tspan class="held-word">heap + external</tspan>, <tspan class="rss-word">resident set</tspan>; shaded: from the request to its last byte</text>
<rect class="during" x="${x(from)}" y="${PLOT.top}" width="${round(x(to) - x(from))}" height="${PLOT.bottom - PLOT.top}"/>
${valueAxis({ bottom, top, step }, y)}
${timeAxis(lastMs, x)}
<line class="limit" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(LIMIT_MIB)}" y2="${y(LIMIT_MIB)}"/>
<text x="${PLOT.right}" y="${y(LIMIT_MIB) + 17}" text-anchor="end">heap + external: at most ${LIMIT_MIB} MiB</text>
<polyline class="line rss" points="${line("rss")}"/>
<polyline class="line held" points="${line("held")}"/>
</svg>
`;
}

function valueAxis({ bottom, top, step }, y) {
  const values = [];
  for (let value = bottom; value <= top; value += step) values.push(value);
  return values
    .map(
      (value) =>
        `<line class="${value === 0 ? "axis" : "grid"}" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(value)}" y2="${y(value)}"/>` +
        `<text x="${PLOT.left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
    )
    .join("\n");
}

function timeAxis(lastMs, x) {
  const step = niceAbove(lastMs / 10_000);
  const seconds = [];
  for (let second = 0; second * 1000 <= lastMs; second += step) seconds.push(second);
  const words = seconds.map((second) => {
    const text = String(round(second));
    return `<text x="${x(second * 1000)}" y="${PLOT.bottom + 20}" text-anchor="middle">${text}</text>`;
  });
  const middle = (PLOT.left + PLOT.right) / 2;
  return `${words.join("")}\n<text x="${middle}" y="${PLOT.bottom + 44}" text-anchor="middle">seconds</text>`;
}

/** The next of 1, 2, 5, 10, 20 …, or of their tenths, that is not below `value`. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value * 0.999);
}

const inMib = (bytes) => bytes / 2 ** 20;
const round = (value) => Math.round(value * 100) / 100;
