/** What does the dashboard look like, where there is no Grafana to draw it? (Drawn from its own queries' answers.) */

export interface Drawn {
  readonly panels: readonly PanelFile[];
}

export interface PanelFile {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string; readonly custom?: unknown } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: number])[];
}

/** Answers by query. */
export type Answers = ReadonlyMap<string, readonly Series[]>;

const [COLUMN, LINE, GAP] = [50, 24, 6];
const COLOURS = [
  "#1f77b4",
  "#ff7f0e",
  "#2ca02c",
  "#d62728",
  "#9467bd",
  "#8c564b",
  "#e377c2",
  "#7f7f7f",
  "#bcbd22",
  "#17becf",
];
const MOST_LINES = 10;

/** As SVG; `span` in seconds since 1970. */
export function picture(
  dashboard: Drawn,
  answers: Answers,
  span: { readonly from: number; readonly to: number },
): string {
  const height = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h)) * LINE + 40;
  const panels = dashboard.panels.map((panel) => (panel.type === "row" ? title(panel) : box(panel, answers, span)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 ${height}" font-family="sans-serif" font-size="9">
<rect width="1200" height="${height}" fill="#f4f5f5"/>
<text x="8" y="16" font-size="11">carryover: drawn from the dashboard's queries, not by Grafana; ${Math.round((span.to - span.from) / 60)} minutes of a test in which everything goes wrong</text>
<g transform="translate(0 24)">
${panels.join("\n")}
</g>
</svg>
`;
}

function title({ title: text, gridPos }: PanelFile): string {
  return `<text x="8" y="${gridPos.y * LINE + 17}" font-size="13" font-weight="bold">${escaped(text)}</text>`;
}

function box(panel: PanelFile, answers: Answers, span: { readonly from: number; readonly to: number }): string {
  const { x, y, w, h } = panel.gridPos;
  const [width, height] = [w * COLUMN - GAP, h * LINE - GAP];
  const all = panel.targets.flatMap(({ expr, legendFormat }) =>
    (answers.get(expr) ?? []).map((series) => ({
      name: named(legendFormat, series.metric),
      values: finite(series.values),
    })),
  );
  const shown = all.filter(({ values }) => values.length > 0);
  const inside =
    panel.type === "timeseries" ? lines(shown, panel, { width, height, ...span }) : words(panel, answers, height);
  return `<g transform="translate(${x * COLUMN + GAP / 2} ${y * LINE})"><rect width="${width}" height="${height}" fill="#fff" stroke="#ddd"/><text x="5" y="12" font-weight="bold">${escaped(panel.title)}</text>${inside}</g>`;
}

interface Line {
  readonly name: string;
  readonly values: readonly (readonly [at: number, value: number])[];
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
}

function lines(all: readonly Line[], panel: PanelFile, { width, height, from, to }: Frame): string {
  const { unit } = panel.fieldConfig.defaults;
  const shown = all.toSorted((a, b) => top(b) - top(a)).slice(0, MOST_LINES);
  const most = Math.max(...shown.map(top), 0) || 1;
  const [left, right, above, below] = [44, width - 6, 20, height - 34];
  const place = ([at, value]: readonly [number, number]) =>
    `${(left + ((at - from) / (to - from)) * (right - left)).toFixed(0)},${(below - (value / most) * (below - above)).toFixed(0)}`;
  const drawn = shown.map(({ values }, index) => {
    // A line of one point is none.
    const points =
      values.length === 1
        ? [...values, [(values[0]?.[0] ?? 0) + (to - from) / 60, values[0]?.[1] ?? 0] as const]
        : values;
    return `<polyline fill="none" stroke="${COLOURS[index % COLOURS.length]}" points="${points.map(place).join(" ")}"/>`;
  });
  const legend = shown.map(({ name }, index) => {
    const [column, row] = [index % 3, Math.floor(index / 3)];
    return row > 1
      ? ""
      : `<text x="${8 + (column * (width - 8)) / 3}" y="${height - 16 + row * 11}" fill="${COLOURS[index % COLOURS.length]}">${escaped(name.slice(0, width / 18))}</text>`;
  });
  return `<path d="M${left} ${above}V${below}H${right}" fill="none" stroke="#bbb"/><text x="${left - 4}" y="${above + 6}" text-anchor="end">${number(most, unit)}</text><text x="${left - 4}" y="${below}" text-anchor="end">0</text>${drawn.join("")}${legend.join("")}`;
}

/** A number for each series; a table as rows of labels and values. */
function words({ type, targets, fieldConfig }: PanelFile, answers: Answers, height: number): string {
  const { unit } = fieldConfig.defaults;
  if (type === "stat") {
    const values = targets.flatMap(({ expr, legendFormat }) =>
      (answers.get(expr) ?? []).map(
        ({ metric, values: all }) => `${number(all.at(-1)?.[1] ?? 0, unit)} ${named(legendFormat, metric)}`,
      ),
    );
    return values
      .slice(0, 4)
      .map((text, at) => `<text x="8" y="${32 + at * 14}" font-size="12">${escaped(text)}</text>`)
      .join("");
  }
  const rows = new Map<string, string[]>();
  for (const { expr } of targets) {
    for (const { metric, values } of answers.get(expr) ?? []) {
      const [key = "", ...rest] = Object.values(metric);
      rows.set(key, [...(rows.get(key) ?? [key]), ...rest, number(values.at(-1)?.[1] ?? 0, unit)]);
    }
  }
  return [...rows.values()]
    .slice(0, Math.floor((height - 20) / 13))
    .map((cells, at) => `<text x="8" y="${28 + at * 13}">${escaped(cells.join("   "))}</text>`)
    .join("");
}

const top = ({ values }: Line): number => Math.max(...values.map(([, value]) => value));

function finite(values: Series["values"]): Series["values"] {
  return values.filter(([, value]) => Number.isFinite(value));
}

function named(legend: string, metric: Readonly<Record<string, string>>): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? "");
}

function number(value: number, unit: string): string {
  if (unit === "percentunit") return `${(value * 100).toPrecision(3)} %`;
  if (unit === "s" && value < 1) return `${(value * 1000).toPrecision(3)} ms`;
  if (unit === "bytes" || unit === "Bps") return `${(value / 1024 / 1024).toPrecision(3)} MiB`;
  return `${Number(value.toPrecision(3)).toLocaleString("en-US")}${unit === "s" ? " s" : ""}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
