/** The Grafana dashboards below `helm/files/dashboards`; a test keeps the files up to date. */
import { DATASOURCE, type Panel } from "./panels.ts";
import { perPod } from "./queries.ts";
import { cutover, shadow } from "./rows/cutover.ts";
import { firstScreen } from "./rows/first-screen.ts";
import { lists, updates } from "./rows/lists.ts";
import { processes, queue, time } from "./rows/performance.ts";
import { progress } from "./rows/progress.ts";
import { errors, instances } from "./rows/running.ts";

/** Panels below one title, shown when somebody opens it. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

interface Screen {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Without a title, and always shown. */
  readonly first: readonly Panel[];
  readonly rows: readonly Row[];
  readonly variables: readonly unknown[];
}

const COLUMNS = 24;
const CHOSEN = 'cluster=~"$cluster",namespace=~"$namespace",job=~"$job"';

/** The file's text. It asks for no input at import, so that a sidecar and provisioning take it as it is. */
export function dashboardFile(): string {
  return fileOf({
    uid: "carryover",
    title: "carryover",
    description: "How far the migration from v1 to v2 is, what serves it, which client breaks, and who is left.",
    first: firstScreen,
    rows: [progress, cutover, shadow, lists, updates, errors, instances],
    variables: [
      ...variables(),
      query("client", "Client", `label_values(carryover_client_requests_total{${CHOSEN}}, client)`, ".+"),
    ],
  });
}

export function performanceFile(): string {
  return fileOf({
    uid: "carryover-performance",
    title: "carryover: performance",
    description: "Where the time of requests goes, what waits, and what the processes use.",
    first: time.panels,
    rows: [queue, processes],
    variables: variables(),
  });
}

function fileOf({ uid, title, description, first, rows, variables: list }: Screen): string {
  const dashboard = {
    id: null,
    uid,
    title,
    description,
    tags: ["carryover", "migration"],
    schemaVersion: 42,
    version: 1,
    editable: true,
    graphTooltip: 1,
    timezone: "browser",
    time: { from: "now-24h", to: "now" },
    refresh: "1m",
    fiscalYearStartMonth: 0,
    links: [others],
    annotations: { list: [rulesChanged] },
    templating: { list },
    panels: placed(first, rows),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

/** From one dashboard to the other, with what is chosen. */
const others = {
  type: "dashboards",
  title: "carryover",
  tags: ["carryover"],
  asDropdown: false,
  icon: "external link",
  includeVars: true,
  keepTime: true,
  targetBlank: false,
  tooltip: "",
  url: "",
};

/** A line over every panel whenever other rules came into force. */
const rulesChanged = {
  name: "Rules changed",
  enable: true,
  hide: false,
  iconColor: "blue",
  datasource: DATASOURCE,
  expr: `${perPod(`changes(carryover_config_hash{${CHOSEN},instance=~"$instance"}[1m])`)} > 0`,
  titleFormat: "Rules changed",
  textFormat: "{{pod}}",
  step: "60s",
};

function variables(): readonly unknown[] {
  return [
    {
      name: "datasource",
      label: "Data source",
      type: "datasource",
      query: "prometheus",
      refresh: 1,
      hide: 0,
      includeAll: false,
      multi: false,
      options: [],
      regex: "",
    },
    // Only some Prometheus have clusters, and only Kubernetes has namespaces: elsewhere nothing can be chosen, and "all" takes series
    // without one, too.
    query("cluster", "Cluster", "label_values(carryover_build_info, cluster)", ".*"),
    query("namespace", "Namespace", 'label_values(carryover_build_info{cluster=~"$cluster"}, namespace)', ".*"),
    query("job", "Job", 'label_values(carryover_build_info{cluster=~"$cluster",namespace=~"$namespace"}, job)', ".+"),
    query("instance", "Instance", `label_values(carryover_build_info{${CHOSEN}}, instance)`, ".+"),
  ];
}

function query(name: string, label: string, asked: string, allValue: string) {
  return {
    name,
    label,
    type: "query",
    datasource: DATASOURCE,
    query: { query: asked, refId: `${name}Values` },
    refresh: 2,
    sort: 1,
    hide: 0,
    includeAll: true,
    multi: true,
    allValue,
    current: { selected: true, text: ["All"], value: ["$__all"] },
    options: [],
    regex: "",
  };
}

/** The first screen, then the rows, closed; numbers in their order. Grafana moves the rows down as one of them is opened. */
function placed(first: readonly Panel[], rows: readonly Row[]): unknown[] {
  let id = 0;
  let y = 0;
  /** Panels from left to right, as many as fit. */
  const place = (panels: readonly Panel[]): readonly unknown[] => {
    let [x, tallest] = [0, 0];
    const all = panels.map(({ width: w, height: h, json }) => {
      if (x + w > COLUMNS || (x > 0 && h !== tallest)) {
        y += tallest;
        [x, tallest] = [0, 0];
      }
      const at = { id: ++id, gridPos: { h, w, x, y }, ...json };
      x += w;
      tallest = Math.max(tallest, h);
      return at;
    });
    y += tallest;
    return all;
  };
  const row = ({ title, panels }: Row): unknown => {
    const head = { type: "row", id: ++id, title, collapsed: true, gridPos: { h: 1, w: COLUMNS, x: 0, y: y++ } };
    const below = y;
    const inside = place(panels);
    // Closed, it takes one line.
    y = below;
    return { ...head, panels: inside };
  };
  return [...place(first), ...rows.map(row)];
}
