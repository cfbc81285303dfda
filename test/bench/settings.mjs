/** Sizes of a full run, large enough to show differences, and of a quick run, which tries every row. */

const FULL = {
  races: { rounds: 9, seconds: 2, warmupSeconds: 2, connections: 32 },
  rewriting: { rounds: 9, pages: 400 },
  readers: { records: 10_000, readers: [4, 8], rounds: 9, colds: 3, latencyMs: 20 },
  long: { records: [20_000, 100_000], rounds: 7, latenciesMs: [20, 0], idleSeconds: 5 },
  steady: { rate: 1_500, rounds: 9, seconds: 2, warmupSeconds: 0.5, connections: 64 },
  starts: { starts: 9, settleSeconds: 10 },
  busy: { rounds: 7, seconds: 2, rate: 200, clients: 20, credentials: 5, records: 100_000, latencyMs: 20 },
  flood: { lists: 20, credentials: 5, records: 100_000, latencyMs: 20, heapMiB: 256 },
  shadow: {
    rates: { get: 300, list: 60 },
    steady: { rounds: 7, seconds: 1.5, warmupSeconds: 0.3, connections: 64 },
    full: { rounds: 5, seconds: 1, connections: 32 },
  },
  ledger: { rounds: 7, seconds: 1, connections: 32, rules: [10, 100], calls: 20_000 },
  series: { distinct: 100_000, connections: 64 },
  profile: { seconds: 4, warmupSeconds: 2, connections: 32 },
};

// Whole seconds where wrk makes the load.
const QUICK = {
  races: { rounds: 1, seconds: 1, warmupSeconds: 1, connections: 32 },
  rewriting: { rounds: 1, pages: 60 },
  readers: { records: 2_000, readers: [4, 8], rounds: 1, colds: 1, latencyMs: 20 },
  long: { records: [2_000, 8_000], rounds: 1, latenciesMs: [20, 0], idleSeconds: 0.5 },
  steady: { rate: 1_500, rounds: 1, seconds: 0.5, warmupSeconds: 0.3, connections: 64 },
  starts: { starts: 1, settleSeconds: 1 },
  busy: { rounds: 1, seconds: 0.5, rate: 200, clients: 20, credentials: 5, records: 10_000, latencyMs: 20 },
  flood: { lists: 20, credentials: 5, records: 10_000, latencyMs: 20, heapMiB: 256 },
  shadow: {
    rates: { get: 300, list: 60 },
    steady: { rounds: 1, seconds: 0.4, warmupSeconds: 0.2, connections: 64 },
    full: { rounds: 1, seconds: 1, connections: 32 },
  },
  ledger: { rounds: 1, seconds: 1, connections: 32, rules: [10, 100], calls: 5_000 },
  series: { distinct: 3_000, connections: 64 },
  profile: { seconds: 1, warmupSeconds: 1, connections: 32 },
};

export function settingsFor(quick) {
  return quick ? QUICK : FULL;
}
