/** What do metrics say of the process and of Node? (As the client library counts it; here is which of it, and what it means.) */
import { KIND, SEMVER, SPACE, TYPE } from "./labels.ts";
import { gauge, histogram, type MetricFacts } from "./shape.ts";

const total = (unit: string, help: string): MetricFacts => ({ type: "counter", unit, help, labels: [], series: 1 });
const lag = (which: string): MetricFacts =>
  gauge("seconds", `${which} of the event loop's delay since it was last asked for`);
const space = (which: string): MetricFacts => gauge("bytes", `Bytes of each part of the heap: ${which}`, [SPACE], 12);

/** By name without its prefix. */
export const NODE_METRICS: Readonly<Record<string, MetricFacts>> = {
  process_cpu_user_seconds_total: total("seconds", "CPU time spent in user code"),
  process_cpu_system_seconds_total: total("seconds", "CPU time spent in the kernel"),
  process_cpu_seconds_total: total("seconds", "CPU time, both together"),
  process_start_time_seconds: gauge("seconds", "When the process began, since 1970"),
  process_resident_memory_bytes: gauge("bytes", "Memory that the process occupies"),
  process_virtual_memory_bytes: gauge("bytes", "Addresses that it has reserved"),
  process_heap_bytes: gauge("bytes", "Its data segment"),
  process_open_fds: gauge("files", "Open files and connections"),
  process_max_fds: gauge("files", "How many may be open"),
  nodejs_eventloop_lag_seconds: gauge("seconds", "The event loop's delay, measured once when asked for"),
  nodejs_eventloop_lag_min_seconds: lag("The least"),
  nodejs_eventloop_lag_max_seconds: lag("The most"),
  nodejs_eventloop_lag_mean_seconds: lag("The mean"),
  nodejs_eventloop_lag_stddev_seconds: lag("The standard deviation"),
  nodejs_eventloop_lag_p50_seconds: lag("The median"),
  nodejs_eventloop_lag_p90_seconds: lag("The 90th percentile"),
  nodejs_eventloop_lag_p99_seconds: lag("The 99th percentile"),
  nodejs_active_resources: gauge("resources", "What keeps the process alive: sockets, timers, requests", [TYPE], 20),
  nodejs_heap_size_total_bytes: gauge("bytes", "Size of the heap"),
  nodejs_heap_size_used_bytes: gauge("bytes", "Of that, used"),
  nodejs_external_memory_bytes: gauge("bytes", "Bytes outside of the heap: bodies of requests and answers"),
  nodejs_heap_space_size_total_bytes: space("its size"),
  nodejs_heap_space_size_used_bytes: space("used"),
  nodejs_heap_space_size_available_bytes: space("free"),
  nodejs_version_info: gauge("boolean", "Always 1; the labels say which Node is running", SEMVER),
  nodejs_gc_duration_seconds: histogram("seconds", "Time spent in collecting garbage", [KIND], 4),
};
