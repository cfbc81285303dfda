/**
 * Draws the dashboard's first screen from the answers to its queries. There is no Grafana to be had where the tests run, so a charting
 * library draws each kind of panel that the first screen has.
 */
import { type EChartsOption, init } from "echarts";
import { type Dashboard, firstScreenOf, type PanelFile } from "../../test/real/monitoring/dashboard.ts";
import type { Series } from "../../test/real/monitoring/processes.ts";
import { asked, type Weeks } from "../../test/real/monitoring/weeks.ts";

const WIDTH = 1500;
const COLUMN = WIDTH / 24;
const LINE = 38;
const GAP = 8;
const FONT = "DejaVu Sans, Verdana, sans-serif";
const COLOURS: ReadonlyMap<string, string> = new Map([
  ["green", "#3a9a3a"],
  ["yellow", "#d9a800"],
  ["orange", "#e8781e"],
  ["red", "#d62f45"],
  ["blue", "#2f6fd0"],
  ["text", "#8a8f98"],
]);
const PALETTE = [
  "#d62f45",
  "#2f6fd0",
  "#e8781e",
  "#3a9a3a",
  "#8e5bb5",
  "#d9a800",
  "#1d9aa8",
  "#8a5a3c",
  "#c2528b",
  "#666",
];

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}
/** A target's series, each with its legend. */
type Answer = readonly (Series & { readonly legend: string })[];
type Part = Record<string, unknown>;
interface Drawing {
  readonly graphics: Part[];
  readonly grids: Part[];
  readonly xAxes: Part[];
  readonly yAxes: Part[];
  readonly series: Part[];
}

/** The picture as SVG: the last 24 hours. */
export async function drawFirstScreen(dashboard: Dashboard, { prometheus, now }: Weeks): Promise<string> {
  const panels = firstScreenOf(dashboard);
  const height = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) * LINE + GAP;
  const drawing: Drawing = { graphics: [], grids: [], xAxes: [], yAxes: [], series: [] };
  for (const panel of panels) {
    const { gridPos: at, targets } = panel;
    const box = { x: at.x * COLUMN + GAP / 2, y: at.y * LINE + GAP, w: at.w * COLUMN - GAP, h: at.h * LINE - GAP };
    const answers = await Promise.all(
      targets.map(async ({ expr, instant, legendFormat }) => {
        const found = instant
          ? await prometheus.query(asked(expr), now)
          : await prometheus.queryRange(asked(expr), now - 24 * 3600, now, 600);
        return found.map((one) => ({ ...one, legend: filled(legendFormat, one.metric) }));
      }),
    );
    frame(drawing, box, panel.title);
    if (panel.type === "stat") drawStat(drawing, box, panel, answers.flat());
    else if (panel.type === "timeseries") drawLines(drawing, box, panel, answers.flat());
    else drawTable(drawing, box, panel, answers, now);
  }
  const { graphics, grids, xAxes, yAxes, series } = drawing;
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption({
    backgroundColor: "#eef0f3",
    animation: false,
    useUTC: true,
    textStyle: { fontFamily: FONT },
    graphic: graphics,
    grid: grids,
    xAxis: xAxes,
    yAxis: yAxes,
    series,
  } as EChartsOption);
  const svg = chart.renderToSVGString();
  chart.dispose();
  // Its styles are for a pointer over a line.
  return svg
    .replace(/<style.*?<\/style>\n?/gs, "")
    .replace(/^(<svg[^>]*>)/, "$1\n<title>The first screen of the dashboard on a calm day</title>")
    .concat("\n");
}

const filled = (legend: string, labels: Readonly<Record<string, string>>): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? "");

function frame({ graphics }: Drawing, { x, y, w, h }: Box, title: string): void {
  graphics.push({
    type: "rect",
    shape: { x, y, width: w, height: h, r: 3 },
    style: { fill: "#fff", stroke: "#d8dce2" },
    z: -1,
  });
  write(graphics, title, x + 10, y + 9, { size: 13, bold: true });
}

interface Look {
  readonly size?: number;
  readonly bold?: boolean;
  readonly colour?: string;
  readonly align?: "left" | "center" | "right";
}

function write(graphics: Part[], text: string, x: number, y: number, look: Look = {}): void {
  const { size = 12, bold = false, colour = "#24292f", align = "left" } = look;
  const font = `${bold ? "bold " : ""}${size}px ${FONT}`;
  graphics.push({ type: "text", style: { text, x, y, font, fill: colour, align } });
}

function drawStat({ graphics }: Drawing, { x, y, w, h }: Box, panel: PanelFile, found: Answer): void {
  const { noValue = "no data" } = panel.fieldConfig.defaults;
  const numbers = found.filter(({ values }) => Number.isFinite(values[0]?.[1]));
  if (numbers.length === 0) write(graphics, noValue, x + w / 2, y + h / 2, { size: 20, align: "center" });
  for (const [at, { values, legend }] of numbers.entries()) {
    const value = values[0]?.[1] ?? 0;
    const middle = x + (w / numbers.length) * (at + 0.5);
    const colour = COLOURS.get(colourOf(panel, value)) ?? "#24292f";
    const size = numbers.length === 1 ? 40 : 32;
    write(graphics, shown(panel, value), middle, y + h / 2 - size / 2 + 6, {
      size,
      bold: true,
      colour,
      align: "center",
    });
    if (panel.targets.length > 1) write(graphics, legend, middle, y + h - 24, { colour: "#57606a", align: "center" });
  }
}

function colourOf({ fieldConfig }: PanelFile, value: number): string {
  const { steps = [] } = fieldConfig.defaults.thresholds ?? {};
  return steps.findLast((step) => step.value === null || value >= step.value)?.color ?? "text";
}

function shown({ fieldConfig: { defaults } }: PanelFile, value: number): string {
  const share = defaults.unit === "percentunit";
  const number = share ? value * 100 : value;
  const digits = defaults.decimals ?? (Number.isInteger(number) ? 0 : 2);
  const text = number.toLocaleString("en", { maximumFractionDigits: digits }).replace(/^-0$/, "0");
  return share ? `${text} %` : text;
}

function drawLines(drawing: Drawing, { x, y, w, h }: Box, panel: PanelFile, found: Answer): void {
  const { graphics, grids, xAxes, yAxes, series } = drawing;
  const index = grids.length;
  const stacked = panel.fieldConfig.defaults.custom?.stacking?.mode === "normal";
  const rows = Math.ceil(found.length / 2);
  grids.push({ left: x + 52, top: y + 40, width: w - 68, height: h - 74 - rows * 18 });
  const line = { lineStyle: { color: "#d8dce2" } };
  const label = { color: "#57606a", fontSize: 11 };
  xAxes.push({
    type: "time",
    gridIndex: index,
    axisLine: line,
    axisTick: { show: false },
    splitNumber: 6,
    axisLabel: { ...label, hideOverlap: true, formatter: "{HH}:{mm}" },
  });
  yAxes.push({ type: "value", gridIndex: index, min: 0, splitNumber: 4, splitLine: line, axisLabel: label });
  for (const [at, { legend, values }] of found.entries()) {
    const colour = fixedColour(panel, legend) ?? PALETTE[at % PALETTE.length] ?? "#666";
    series.push({
      type: "line",
      name: legend,
      xAxisIndex: index,
      yAxisIndex: index,
      showSymbol: false,
      data: values.map(([time, value]) => [time * 1000, Number(value.toPrecision(4))]),
      lineStyle: { width: 1.6, color: colour },
      itemStyle: { color: colour },
      ...(stacked ? { stack: String(index), areaStyle: { color: colour, opacity: 0.35 } } : {}),
    });
    const [left, top] = [x + 14 + (at % 2) * (w / 2), y + h - 10 - (rows - Math.floor(at / 2)) * 18];
    graphics.push({ type: "rect", shape: { x: left, y: top + 4, width: 14, height: 4 }, style: { fill: colour } });
    const last = values.at(-1)?.[1] ?? 0;
    write(graphics, `${legend}  ${last.toLocaleString("en", { maximumFractionDigits: 2 })}`, left + 20, top);
  }
}

function fixedColour({ fieldConfig }: PanelFile, legend: string): string | undefined {
  const own = fieldConfig.overrides?.find(({ matcher: { id, options } }) =>
    id === "byRegexp" ? new RegExp(options.slice(1, -1)).test(legend) : options === legend,
  );
  const value = own?.properties.find(({ id }) => id === "color")?.value as { fixedColor?: string } | undefined;
  return COLOURS.get(value?.fixedColor ?? "");
}

/** As Grafana's transformations "merge" and "organize" make it. */
function drawTable(
  { graphics }: Drawing,
  { x, y, w, h }: Box,
  panel: PanelFile,
  answers: readonly Answer[],
  now: number,
): void {
  const { indexByName = {}, renameByName = {} } =
    panel.transformations?.find(({ id }) => id === "organize")?.options ?? {};
  const names = Object.keys(indexByName);
  const rows: Record<string, string | number>[] = [];
  for (const [at, answer] of answers.entries()) {
    for (const { metric, values } of answer) {
      const value = values[0]?.[1] ?? 0;
      const column = answers.length === 1 ? "Value" : `Value #${panel.targets[at]?.refId}`;
      const same = rows.filter((row) =>
        Object.entries(metric).every(([name, label]) => (row[name] ?? label) === label),
      );
      if (same.length === 0) rows.push({ ...metric, [column]: value });
      for (const row of same) Object.assign(row, metric, { [column]: value });
    }
  }
  const [sorted] = panel.options?.sortBy ?? [];
  const by = names.find((name) => renameByName[name] === sorted?.displayName) ?? names[0] ?? "";
  if (sorted !== undefined) rows.sort((a, b) => Number(b[by]) - Number(a[by]));
  const widths = names.map((_, at) => (at === 0 ? 1.3 : 1));
  const total = widths.reduce((sum, one) => sum + one, 0);
  const left = (at: number): number =>
    x + 14 + (w - 28) * (widths.slice(0, at).reduce((sum, one) => sum + one, 0) / total);
  for (const [at, name] of names.entries())
    write(graphics, renameByName[name] ?? name, left(at), y + 34, { bold: true, colour: "#2f6fd0" });
  const fitting = Math.floor((h - 58) / 21);
  for (const [line, row] of rows.slice(0, fitting).entries()) {
    const top = y + 56 + line * 21;
    graphics.push({
      type: "line",
      shape: { x1: x + 10, y1: top - 4, x2: x + w - 10, y2: top - 4 },
      style: { stroke: "#e6e9ee" },
    });
    for (const [at, name] of names.entries())
      write(graphics, cell(panel, renameByName[name] ?? name, row[name], now), left(at), top);
  }
}

function cell(panel: PanelFile, title: string, value: string | number | undefined, now: number): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  const own = panel.fieldConfig.overrides?.find(({ matcher }) => matcher.options === title);
  const of = (id: string) => own?.properties.find((one) => one.id === id)?.value;
  const mappings = (of("mappings") ?? []) as { options: Record<string, { text: string }> }[];
  const word = mappings.find(({ options }) => options[String(value)] !== undefined)?.options[String(value)];
  if (word !== undefined) return word.text;
  return of("unit") === "dateTimeFromNow" ? ago(now - value / 1000) : shown(panel, value);
}

function ago(seconds: number): string {
  if (seconds < 90) return "a minute ago";
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}
