/** Measures carryover from inside its process. (Loaded with `--import`; controlled over the IPC channel.) */
import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { createHistogram } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { answerQuestions } from "./channel.mjs";

const SAMPLE_MS = 50;
/** As node's own monitor has it by default; each reading is this long plus the delay, so only growth above idle says anything. */
const DELAY_RESOLUTION_MS = 10;
const PROFILE_INTERVAL_US = 200;

const delay = createHistogram();
const busy = createHistogram();
let samples = [];
let timer;
let feeling;
let session;

const questions = {
  /** Memory with everything collected that can be. */
  settle: () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    for (let i = 0; i < 3; i++) collect();
    return { memory: memory() };
  },
  now: () => ({ memory: memory() }),
  watch: () => {
    samples = [memory()];
    timer = setInterval(() => samples.push(memory()), SAMPLE_MS);
    return {};
  },
  watched: () => {
    clearInterval(timer);
    samples.push(memory());
    return { samples };
  },
  /**
   * Delays add up over several times between `feel` and `felt`, until they are forgotten. (Node's own monitor counts the
   * time between two of them as one long delay.)
   */
  feel: () => {
    feel();
    return {};
  },
  felt: () => {
    clearTimeout(feeling);
    const figures = (of) => {
      const ms = (share) => of.percentile(share) / 1e6;
      return { resolution: DELAY_RESOLUTION_MS, p50: ms(50), p99: ms(99), p999: ms(99.9), max: of.max / 1e6 };
    };
    return { delay: figures(delay), busy: figures(busy) };
  },
  forget: () => {
    delay.reset();
    busy.reset();
    return {};
  },
  profile: async () => {
    session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: PROFILE_INTERVAL_US });
    await session.post("Profiler.start");
    return {};
  },
  profiled: async ({ file }) => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    writeFileSync(file, JSON.stringify(profile));
    return {};
  },
};

function feel() {
  const since = process.hrtime.bigint();
  const before = threadTime();
  feeling = setTimeout(() => {
    delay.record(process.hrtime.bigint() - since);
    busy.record(Math.max(1, threadTime() - before));
    feel();
  }, DELAY_RESOLUTION_MS);
}

/** Nanoseconds that the main thread has had of a processor: where others work too, a delay is longer than what caused it. */
function threadTime() {
  return Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[0]);
}

/** Bytes: of the heap's objects and of buffers outside it, and what the process holds in all. */
function memory() {
  const { heapUsed, external, rss } = process.memoryUsage();
  return { at: performance.now(), held: heapUsed + external, rss };
}

answerQuestions(questions);
// The channel must not keep a stopping process alive.
process.channel.unref();
