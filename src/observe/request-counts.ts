/** How much of each kind of request was there? (Summed per request in one look-up, exported when somebody asks.) */
import { Counter, Histogram, type Registry } from "prom-client";
import type { Exchange } from "../model/exchange.ts";
import { apiVersionLabel, codeLabel, modeLabel, type resourceLabels } from "./labels.ts";
import { createSeries, OTHER, type Series } from "./series.ts";

/** Kinds of requests, and of durations (a histogram each), whatever is sent; beyond them resource, operation and code are `other`. */
const MAX_KINDS = 1000;
const MAX_DURATIONS = 200;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50];

type DurationLabels = Readonly<Record<"api_version" | "resource" | "operation" | "mode", string>>;

/** All that is counted of the requests of one kind: one look-up for each request, sums made when somebody asks. */
interface Requests {
  readonly duration: DurationLabels;
  count: number;
  requestBytes: number;
  responseBytes: number;
  upstreamSeconds: number;
  ownSeconds: number;
  aborted: number;
}

/** Counts requests and their time in `registry`; the function given back takes each finished one, with its seconds. */
export function createRequestCounts(
  registry: Registry,
  labels: ReturnType<typeof resourceLabels>,
): (exchange: Exchange, seconds: number) => void {
  const requests = requestSeries();
  exportRequests(registry, requests);
  const durations = new Histogram({
    name: "carryover_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its answer",
    labelNames: ["api_version", "resource", "operation", "mode"],
    buckets: SECONDS,
    registers: [registry],
  });
  return (exchange, seconds) => {
    const resource = labels.resource(exchange.resource);
    const row = requests.at([
      apiVersionLabel(exchange.apiVersion),
      resource,
      labels.operation(resource, exchange.operation),
      modeLabel(exchange.mode),
      codeLabel(exchange.status),
    ]);
    addTo(row, exchange, seconds);
    durations.observe(row.duration, seconds);
  };
}

function addTo(row: Requests, exchange: Exchange, seconds: number): void {
  const upstream = Math.max(0, exchange.upstreamMs) / 1000;
  row.count++;
  row.requestBytes += Math.max(0, exchange.requestBytes);
  row.responseBytes += Math.max(0, exchange.responseBytes);
  row.upstreamSeconds += upstream;
  // Overlapping calls add up to more than the time that passed: own time is then counted as none.
  row.ownSeconds += Math.max(0, seconds - upstream);
  if (exchange.aborted) row.aborted++;
}

function requestSeries(): Series<Requests> {
  const durations = createSeries<DurationLabels>(
    MAX_DURATIONS,
    ([api_version = OTHER, resource = OTHER, operation = OTHER, mode = OTHER]) => ({
      api_version,
      resource,
      operation,
      mode,
    }),
    ([version = OTHER, , , mode = OTHER]) => [version, OTHER, OTHER, mode],
  );
  return createSeries<Requests>(
    MAX_KINDS,
    (values) => ({
      duration: durations.at(values.slice(0, 4)),
      count: 0,
      requestBytes: 0,
      responseBytes: 0,
      upstreamSeconds: 0,
      ownSeconds: 0,
      aborted: 0,
    }),
    ([version = OTHER, , , mode = OTHER]) => [version, OTHER, OTHER, mode, OTHER],
  );
}

function exportRequests(registry: Registry, requests: Series<Requests>): void {
  new Counter({
    name: "carryover_requests_total",
    help: "Requests answered, refused or abandoned",
    labelNames: ["api_version", "resource", "operation", "mode", "code"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [
        [api_version = OTHER, resource = OTHER, operation = OTHER, mode = OTHER, code = OTHER],
        row,
      ] of requests.rows()) {
        this.inc({ api_version, resource, operation, mode, code }, row.count);
      }
    },
  });
  byVersion(registry, requests, "request_bytes_total", "Bytes of request bodies", (row) => row.requestBytes);
  byVersion(registry, requests, "response_bytes_total", "Bytes of answers' bodies", (row) => row.responseBytes);
  byVersion(
    registry,
    requests,
    "upstream_seconds_total",
    "Time spent waiting for upstreams",
    (row) => row.upstreamSeconds,
  );
  byVersion(registry, requests, "own_seconds_total", "Time spent in carryover itself", (row) => row.ownSeconds);
  byVersion(registry, requests, "aborted_requests_total", "Requests whose client left early", (row) => row.aborted);
}

function byVersion(
  registry: Registry,
  requests: Series<Requests>,
  name: string,
  help: string,
  read: (row: Requests) => number,
): void {
  new Counter({
    name: `carryover_${name}`,
    help,
    labelNames: ["api_version"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [[version = OTHER], row] of requests.rows()) this.inc({ api_version: version }, read(row));
    },
  });
}
