/** Options of metrics for an instance that does nothing. */
import { NOTHING_RECORDED } from "../../src/recording/recorder.ts";
import type { MetricsOptions } from "../../src/telemetry/metrics.ts";

export const IDLE: MetricsOptions = {
  version: "1",
  resources: [],
  inFlight: () => 0,
  inFlightLimit: 1,
  heldBytes: () => 0,
  ready: () => true,
  queues: new Map(),
  lists: () => ({ reading: 0, waiting: 0 }),
  upstreams: { breakers: () => [], certificates: () => [] },
  cutover: {
    clientLabel: () => undefined,
    clientNames: new Set(),
    metricSeries: 10,
    clients: () => ({ v1: 0, v2: 0 }),
    rules: () => [],
    force: () => "none",
    guardCalls: () => ({ served: 0, failed: 0, unknown: 0 }),
    digest: () => undefined,
    stateSaved: () => true,
    storeUp: () => true,
    wall: () => 0,
    shadow: () => ({ running: 0, waiting: 0, heldBytes: 0, passed: {} }),
    comparisons: undefined,
  },
  events: () => [],
  droppedLogLines: () => 0,
  recording: () => NOTHING_RECORDED,
};
