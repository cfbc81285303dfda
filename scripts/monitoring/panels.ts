/** The kinds of panels of the dashboard, written for Grafana. */

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
  /** Shows a span of its own, whatever the dashboard shows. */
  readonly span?: string;
}

/** PromQL and the legend of its series (`{{label}}` is the label's value). */
export type Query = readonly [expr: string, legend: string];
export type Step = readonly [from: number | null, colour: "green" | "yellow" | "orange" | "red" | "blue" | "text"];

/** A panel without its place. */
export interface Panel {
  readonly width: number;
  readonly height: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;
const PLAIN: readonly Step[] = [[null, "green"]];

/** Lines over time. `stacked`: parts of a whole. */
export function lines(text: PanelText, style: { readonly stacked?: boolean; readonly max?: number } = {}): Panel {
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
  return panel(
    "timeseries",
    text,
    { defaults, height: 8, width: 8 },
    {
      legend: { displayMode: "table", placement: "bottom", showLegend: true, calcs: ["lastNotNull", "max"] },
      tooltip: { mode: "multi", sort: "desc" },
    },
  );
}

/** One number, or one for each series; the colour says whether it is good. */
export function stat(text: PanelText, words: ReadonlyMap<number, string> = new Map()): Panel {
  const mappings = [...words].map(([value, shown], index) => ({
    type: "value",
    options: { [String(value)]: { text: shown, index } },
  }));
  return panel(
    "stat",
    text,
    { defaults: { mappings }, height: 4, width: 4, instant: true },
    {
      colorMode: "value",
      graphMode: "none",
      justifyMode: "auto",
      orientation: "auto",
      percentChangeColorMode: "standard",
      reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
      showPercentChange: false,
      textMode: "auto",
      wideLayout: true,
    },
  );
}

/** A row for each label set, a column for each query. `columns`: the heads of labels and of queries, in their order. */
export function table(
  text: PanelText,
  columns: Readonly<Record<string, string>>,
  units: Readonly<Record<string, string>> = {},
): Panel {
  const names = Object.keys(columns);
  const transformations = [
    { id: "merge", options: {} },
    {
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(names.map((name, at) => [name, at])),
        renameByName: columns,
      },
    },
  ];
  const overrides = Object.entries(units).map(([name, unit]) => ({
    matcher: { id: "byName", options: columns[name] ?? name },
    properties: [{ id: "unit", value: unit }],
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
        ...form.defaults,
      },
      overrides: form.overrides ?? [],
    },
    options,
    targets: text.queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + at),
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
