/** The kinds of panels of the dashboards, written for Grafana. */

/** What is said of a panel; where it stands and which number it has follows from its place among the others. */
export interface PanelText {
  readonly title: string;
  /** What it shows, when that is bad, and where to look next. */
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Value from which on a colour holds; the first holds from the beginning. */
  readonly steps?: readonly Step[];
  readonly width?: number;
  readonly decimals?: number;
  /** Shown instead of numbers. */
  readonly words?: ReadonlyMap<number, string>;
  /** Shown where there is no series. */
  readonly noValue?: string;
  /** Shows a span of its own, whatever the dashboard shows. */
  readonly span?: string;
}

/** PromQL and the legend of its series (`{{label}}` is the label's value). */
export type Query = readonly [expr: string, legend: string];
export type Colour = "green" | "yellow" | "orange" | "red" | "blue" | "text";
export type Step = readonly [from: number | null, colour: Colour];

/** A panel without its place. */
export interface Panel {
  readonly width: number;
  readonly height: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;
const PLAIN: readonly Step[] = [[null, "green"]];

export const NO_YES: ReadonlyMap<number, string> = new Map([
  [0, "no"],
  [1, "yes"],
]);

interface LineStyle {
  /** Parts of a whole. */
  readonly stacked?: boolean;
  readonly max?: number;
  /** By legend, or by a regular expression between slashes. */
  readonly colours?: Readonly<Record<string, Colour>>;
}

/** Lines over time. */
export function lines(text: PanelText, style: LineStyle = {}): Panel {
  const { steps } = text;
  const custom = {
    drawStyle: "line",
    lineInterpolation: "linear",
    lineWidth: 1,
    fillOpacity: style.stacked === true ? 30 : 8,
    gradientMode: "none",
    showPoints: "never",
    spanNulls: false,
    axisPlacement: "auto",
    axisSoftMin: 0,
    stacking: { mode: style.stacked === true ? "normal" : "none", group: "A" },
    thresholdsStyle: { mode: steps === undefined ? "off" : "line" },
  };
  const defaults = { custom, min: 0, ...(style.max === undefined ? {} : { max: style.max }) };
  const overrides = Object.entries(style.colours ?? {}).map(([legend, fixedColor]) => ({
    matcher: { id: legend.startsWith("/") ? "byRegexp" : "byName", options: legend },
    properties: [{ id: "color", value: { mode: "fixed", fixedColor } }],
  }));
  return panel(
    "timeseries",
    text,
    { defaults, overrides, height: 8, width: 8 },
    {
      legend: { displayMode: "table", placement: "bottom", showLegend: true, calcs: ["lastNotNull", "max"] },
      tooltip: { mode: "multi", sort: "desc" },
    },
  );
}

/** One number, or one for each series; the colour says whether it is good. */
export function stat(text: PanelText): Panel {
  return panel(
    "stat",
    text,
    { defaults: {}, height: 4, width: 4, instant: true },
    {
      colorMode: "value",
      graphMode: "none",
      justifyMode: "auto",
      orientation: "auto",
      percentChangeColorMode: "standard",
      reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
      showPercentChange: false,
      textMode: text.queries.length > 1 ? "value_and_name" : "auto",
      wideLayout: true,
    },
  );
}

/** A row for each label set, a column for each query. `columns`: the heads of labels and of queries, in their order; others are hidden. `units`: a unit of its own, or words, by column. */
export function table(
  text: PanelText & { readonly sortBy?: string },
  columns: Readonly<Record<string, string>>,
  units: Readonly<Record<string, string | ReadonlyMap<number, string>>> = {},
): Panel {
  const names = Object.keys(columns);
  const values = text.queries.length === 1 ? ["Value"] : text.queries.map((_, at) => `Value #${letter(at)}`);
  const transformations = [
    { id: "merge", options: {} },
    {
      id: "organize",
      options: {
        excludeByName: Object.fromEntries(
          ["Time", ...values.filter((name) => !names.includes(name))].map((name) => [name, true]),
        ),
        indexByName: Object.fromEntries(names.map((name, at) => [name, at])),
        renameByName: columns,
      },
    },
  ];
  const overrides = Object.entries(units).map(([name, unit]) => ({
    matcher: { id: "byName", options: columns[name] ?? name },
    properties: [typeof unit === "string" ? { id: "unit", value: unit } : { id: "mappings", value: mappingsOf(unit) }],
  }));
  const defaults = { custom: { align: "auto", cellOptions: { type: "auto" }, filterable: true, inspect: false } };
  const made = panel(
    "table",
    text,
    { defaults, overrides, height: 8, width: 12, instant: true, format: "table" },
    {
      cellHeight: "sm",
      frameIndex: 0,
      showHeader: true,
      ...(text.sortBy === undefined ? {} : { sortBy: [{ displayName: text.sortBy, desc: true }] }),
    },
  );
  return { ...made, json: { ...made.json, transformations } };
}

interface Form {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly overrides?: readonly unknown[];
  readonly width: number;
  readonly height: number;
  readonly instant?: boolean;
  readonly format?: "table" | "time_series";
}

const letter = (at: number): string => String.fromCharCode("A".charCodeAt(0) + at);

function panel(type: string, text: PanelText, form: Form, options: Readonly<Record<string, unknown>>): Panel {
  const steps = (text.steps ?? PLAIN).map(([value, color]) => ({ value, color }));
  const json = {
    type,
    title: text.title,
    description: text.description,
    datasource: DATASOURCE,
    ...(text.span === undefined ? {} : { timeFrom: text.span }),
    fieldConfig: {
      defaults: {
        unit: text.unit,
        color: { mode: type === "timeseries" ? "palette-classic" : "thresholds" },
        thresholds: { mode: "absolute", steps },
        ...(text.decimals === undefined ? {} : { decimals: text.decimals }),
        ...(text.noValue === undefined ? {} : { noValue: text.noValue }),
        ...(text.words === undefined ? {} : { mappings: mappingsOf(text.words) }),
        ...form.defaults,
      },
      overrides: form.overrides ?? [],
    },
    options,
    targets: text.queries.map(([expr, legendFormat], at) => ({
      refId: letter(at),
      datasource: DATASOURCE,
      editorMode: "code",
      expr,
      legendFormat: form.format === "table" ? "__auto" : legendFormat,
      instant: form.instant === true,
      range: form.instant !== true,
      format: form.format ?? "time_series",
    })),
  };
  return { width: text.width ?? form.width, height: form.height, json };
}

function mappingsOf(words: ReadonlyMap<number, string>): readonly unknown[] {
  return [...words].map(([value, shown], index) => ({
    type: "value",
    options: { [String(value)]: { text: shown, index } },
  }));
}
