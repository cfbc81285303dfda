/** Reads a dashboard, and fills in its variables as Grafana does. */

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant: boolean;
  readonly format: string;
  readonly datasource: { readonly uid: string };
}

export interface PanelFile {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource: { readonly uid: string };
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly decimals?: number;
      readonly noValue?: string;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
      readonly custom?: { readonly stacking?: { readonly mode: string } };
    };
    readonly overrides?: readonly {
      readonly matcher: { readonly id: string; readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
  readonly options?: { readonly sortBy?: readonly { readonly displayName: string }[] };
  readonly transformations?: readonly {
    readonly id: string;
    readonly options: {
      readonly indexByName?: Readonly<Record<string, number>>;
      readonly renameByName?: Readonly<Record<string, string>>;
    };
  }[];
  readonly targets: readonly Target[];
}

/** A row of panels; what is not closed has none of its own. */
export interface RowFile {
  readonly id: number;
  readonly type: "row";
  readonly title: string;
  readonly collapsed: boolean;
  readonly gridPos: PanelFile["gridPos"];
  readonly panels: readonly PanelFile[];
}

export interface Dashboard {
  readonly id: null;
  readonly uid: string;
  readonly panels: readonly (PanelFile | RowFile)[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: string | { readonly query: string };
    }[];
  };
}

const isRow = (panel: PanelFile | RowFile): panel is RowFile => panel.type === "row";

/** What shows when the dashboard is opened, and each of its rows. */
export const firstScreenOf = ({ panels }: Dashboard): readonly PanelFile[] =>
  panels.filter((panel): panel is PanelFile => !isRow(panel));
export const rowsOf = ({ panels }: Dashboard): readonly RowFile[] => panels.filter(isRow);

export function panelsOf(dashboard: Dashboard): readonly PanelFile[] {
  return [...firstScreenOf(dashboard), ...rowsOf(dashboard).flatMap(({ panels }) => panels)];
}

export function queriesOf(dashboard: Dashboard): readonly string[] {
  const asked = panelsOf(dashboard).flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...asked, ...dashboard.annotations.list.map(({ expr }) => expr)];
}

/** As Grafana does: a variable of several values is a regular expression, its own ones are spans. */
export function filledIn(expr: string, values: Readonly<Record<string, string>>): string {
  // `$1` belongs to label_replace.
  return expr.replaceAll(
    /\$([a-z_]\w*)|\$\{(\w+)\}/g,
    (whole, plain: string | undefined, braced: string | undefined) => {
      const value = new Map(Object.entries(values)).get(plain ?? braced ?? "");
      if (value === undefined) throw new Error(`nothing says what ${whole} is: ${expr}`);
      return value;
    },
  );
}
