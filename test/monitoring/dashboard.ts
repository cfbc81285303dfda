/** Reads the dashboard, and fills in its variables as Grafana does. */

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
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly Target[];
}

export interface Dashboard {
  readonly id: null;
  readonly uid: string;
  readonly panels: readonly PanelFile[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: string | { readonly query: string };
    }[];
  };
}

/** Without the titles of rows. */
export function panelsOf({ panels }: Dashboard): readonly PanelFile[] {
  return panels.filter(({ type }) => type !== "row");
}

export function queriesOf(dashboard: Dashboard): readonly string[] {
  const asked = panelsOf(dashboard).flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...asked, ...dashboard.annotations.list.map(({ expr }) => expr)];
}

/** As Grafana does: a variable of several values is a regular expression, its own ones are spans. */
export function filledIn(expr: string, values: Readonly<Record<string, string>>): string {
  return expr.replaceAll(/\$(\w+)|\$\{(\w+)\}/g, (whole, plain: string | undefined, braced: string | undefined) => {
    const value = new Map(Object.entries(values)).get(plain ?? braced ?? "");
    if (value === undefined) throw new Error(`nothing says what ${whole} is: ${expr}`);
    return value;
  });
}
