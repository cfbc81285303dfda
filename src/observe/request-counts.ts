/** How much of each kind of request was there? (Summed per request in one look-up, exported when somebody asks.) */
import type { Exchange } from "../model/exchange.ts";
import { apiVersionLabel, codeLabel, modeLabel, type resourceLabels } from "./labels.ts";
import type { Maker, Reading } from "./maker.ts";
import { createSeries, OTHER, type Series } from "./series.ts";
import { METRICS } from "./table/metrics.ts";

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

/** Counts requests and their time; the function given back takes each finished one, with its seconds. */
export function createRequestCounts(
  make: Maker,
  labels: ReturnType<typeof resourceLabels>,
): (exchange: Exchange, seconds: number) => void {
  const requests = requestSeries();
  exportRequests(make, requests);
  const durations = make.histogram("request_duration_seconds", SECONDS);
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
    for (let i = exchange.times ?? 1; i > 0; i--) durations.observe(row.duration, seconds);
  };
}

function addTo(row: Requests, exchange: Exchange, seconds: number): void {
  const upstream = Math.max(0, exchange.upstreamMs) / 1000;
  row.count += exchange.times ?? 1;
  row.requestBytes += Math.max(0, exchange.requestBytes);
  row.responseBytes += Math.max(0, exchange.responseBytes);
  row.upstreamSeconds += upstream;
  // Overlapping calls add up to more than the time that passed: own time is then counted as none.
  row.ownSeconds += Math.max(0, seconds - upstream);
  if (exchange.aborted) row.aborted++;
}

/** Beyond the bounds of the table resource, operation and code are `other`, whatever is sent. */
function requestSeries(): Series<Requests> {
  const durations = createSeries<DurationLabels>(
    METRICS.request_duration_seconds.series,
    ([api_version = OTHER, resource = OTHER, operation = OTHER, mode = OTHER]) => ({
      api_version,
      resource,
      operation,
      mode,
    }),
    ([version = OTHER, , , mode = OTHER]) => [version, OTHER, OTHER, mode],
  );
  return createSeries<Requests>(
    METRICS.requests_total.series,
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

function exportRequests(make: Maker, requests: Series<Requests>): void {
  make.counter("requests_total", function* (): Iterable<Reading> {
    for (const [values, { count }] of requests.rows()) yield [values, count];
  });
  const byVersion = (read: (row: Requests) => number) =>
    function* (): Iterable<Reading> {
      for (const [[version = OTHER], row] of requests.rows()) yield [[version], read(row)];
    };
  make.counter(
    "request_bytes_total",
    byVersion((row) => row.requestBytes),
  );
  make.counter(
    "response_bytes_total",
    byVersion((row) => row.responseBytes),
  );
  make.counter(
    "upstream_seconds_total",
    byVersion((row) => row.upstreamSeconds),
  );
  make.counter(
    "own_seconds_total",
    byVersion((row) => row.ownSeconds),
  );
  make.counter(
    "aborted_requests_total",
    byVersion((row) => row.aborted),
  );
}
