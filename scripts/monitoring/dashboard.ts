/** The Grafana dashboard, `helm/files/dashboards/carryover.json`; a test keeps the file up to date. */
import { DATASOURCE, type Panel } from "./panels.ts";
import { cutover, shadow } from "./rows/cutover.ts";
import { lists, updates } from "./rows/lists.ts";
import { progress } from "./rows/progress.ts";
import { errors, instances, performance } from "./rows/running.ts";

/** Panels below one title. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const ROWS: readonly Row[] = [progress, cutover, shadow, lists, updates, errors, performance, instances];
const COLUMNS = 24;

/** The file's text. It asks for no input at import, so that a sidecar and provisioning take it as it is. */
export function dashboardFile(): string {
  return `${JSON.stringify(dashboard(), null, 2)}\n`;
}

function dashboard() {
  return {
    id: null,
    uid: "carryover",
    title: "carryover",
    description: "How far the migration from v1 to v2 is, what serves it, and how well.",
    tags: ["carryover", "migration"],
    schemaVersion: 42,
    version: 1,
    editable: true,
    graphTooltip: 1,
    timezone: "browser",
    time: { from: "now-6h", to: "now" },
    refresh: "1m",
    fiscalYearStartMonth: 0,
    links: [],
    annotations: { list: [rulesChanged] },
    templating: { list: variables() },
    panels: placed(ROWS),
  };
}

/** A line over every panel whenever other rules came into force. */
const rulesChanged = {
  name: "Rules changed",
  enable: true,
  hide: false,
  iconColor: "blue",
  datasource: DATASOURCE,
  expr: 'changes(carryover_config_hash{namespace=~"$namespace",job=~"$job",instance=~"$instance"}[1m]) > 0',
  titleFormat: "Rules changed",
  textFormat: "{{instance}}",
  step: "60s",
};

function variables() {
  const chosen = 'namespace=~"$namespace",job=~"$job"';
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
    // Only Kubernetes has namespaces: elsewhere nothing can be chosen, and "all" takes series without one, too.
    query("namespace", "Namespace", "label_values(carryover_build_info, namespace)", ".*"),
    query("job", "Job", 'label_values(carryover_build_info{namespace=~"$namespace"}, job)', ".+"),
    query("instance", "Instance", `label_values(carryover_build_info{${chosen}}, instance)`, ".+"),
    query("client", "Client", `label_values(carryover_client_requests_total{${chosen}}, client)`, ".+"),
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

/** Panels from left to right, as many as fit; numbers in their order. */
function placed(rows: readonly Row[]): unknown[] {
  const all: unknown[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    all.push({
      type: "row",
      id: all.length + 1,
      title,
      collapsed: false,
      gridPos: { h: 1, w: COLUMNS, x: 0, y },
      panels: [],
    });
    y += 1;
    let [x, tallest] = [0, 0];
    for (const { width: w, height: h, json } of panels) {
      if (x + w > COLUMNS || (x > 0 && h !== tallest)) {
        y += tallest;
        [x, tallest] = [0, 0];
      }
      all.push({ id: all.length + 1, gridPos: { h, w, x, y }, ...json });
      x += w;
      tallest = Math.max(tallest, h);
    }
    y += tallest;
  }
  return all;
}
