/** Writes the figures of docs/scale.md: every block between `<!-- figures: NAME -->` and `<!-- end -->`. */
import { range, ratios, spread, table } from "../figures.mjs";

const BLOCK = /(<!-- figures: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g;
const ALONE = "1 process";
/** Share of a core at which a queue before a process stays short. */
const ROOM = 0.6;
const MIB = 2 ** 20;

/** Text by name. */
export function blocks(results) {
  return new Map([
    ["measured-on", measuredOn(results)],
    ["one", one(results)],
    ["several", several(results)],
    ["processor", processor(results)],
    ["mixed", mixed(results)],
    ["balance", balance(results)],
    ["counted", counted(results)],
    ["sizing", sizing(results)],
  ]);
}

/** The page with its figures regenerated. Throws when it has an unknown block, or lacks one. */
export function filledIn(page, results) {
  const texts = blocks(results);
  const filled = page.replaceAll(BLOCK, (_, head, name, end) => {
    const text = texts.get(name);
    if (text === undefined) throw new Error(`docs/scale.md asks for figures that nobody makes: ${name}`);
    texts.delete(name);
    return `${head}\n${text}\n\n${end}`;
  });
  if (texts.size > 0) throw new Error(`docs/scale.md has no place for ${[...texts.keys()]}`);
  return filled;
}

const thousands = (value) => Math.round(value).toLocaleString("en");
const whole = ({ median, low, high }) => `${thousands(median)} (${thousands(low)} to ${thousands(high)})`;
const column = (samples, name) => samples.map((sample) => sample[name]);
const middle = (samples, name) => spread(column(samples, name)).median;

function measuredOn(r) {
  const { rounds, seconds } = r.settings.turns;
  const busy = r.loadBefore > r.cores ? ": other work used the cores, so even the ratios are rough; measure again" : "";
  const load = `Load average before: ${r.loadBefore.toFixed(1)}${busy}.`;
  return `Measured ${r.date} at commit ${r.commit} with Node ${r.node} on ${r.cores} cores of ${r.cpu}, ${r.memoryGiB} GiB, ${r.system}; ${r.nginx}, ${r.wrk}. ${rounds} rounds of ${seconds} s, the setups in turns: median (least to most). A ratio compares measurements next to each other in time. ${load}`;
}

function one({ holds, settings: { holds: s } }) {
  const kib = (samples) => range(spread(column(samples, "bytesEach").map((bytes) => bytes / 1024)), 1);
  const { lists } = holds;
  return table(
    ["one process", ""],
    [
      ["start to ready, ms", range(spread(holds.start.readyMs), 0)],
      [`an idle connection of a client, KiB (${s.connections.toLocaleString("en")} open)`, kib(holds.connections)],
      [`a request that waits for the platform, KiB (${s.waiting} at a time)`, kib(holds.waiting)],
      [`a client in the ledger, KiB (${s.clients.toLocaleString("en")} of them)`, kib(holds.clients)],
      ["`/metrics` then, KiB", range(spread(column(holds.clients, "scrapeBytes").map((bytes) => bytes / 1024)), 0)],
      [
        `a list of ${s.records.toLocaleString("en")} records, one of ${s.lists} at a time, 20 ms a page: heap and buffers, MiB`,
        range(spread(column(lists, "bytesEach").map((bytes) => bytes / MIB)), 1),
      ],
      [
        "highest resident memory meanwhile, MiB",
        range(spread(column(lists, "mostResidentBytes").map((b) => b / MIB)), 0),
      ],
      ["records of such lists a second", whole(spread(column(lists, "recordsPerSecond")))],
      ["processor time for each of these records, µs", range(spread(column(lists, "usPerRecord")), 1)],
    ],
  );
}

const PLAIN = ["pass", "get", "list"];

function several({ turns: { samples } }) {
  const names = Object.keys(samples.get.sides);
  const rows = names.map((name) => [
    name,
    ...PLAIN.map((key) => {
      const { sides } = samples[key];
      const rate = whole(spread(column(sides[name], "perSecond")));
      if (name === ALONE) return rate;
      return `${rate}: ${range(ratios(column(sides[name], "perSecond"), column(sides[ALONE], "perSecond")), 2)}×`;
    }),
  ]);
  return table(["requests a second", ...PLAIN.map((key) => samples[key].what)], rows);
}

function processor({ turns: { samples } }) {
  const names = Object.keys(samples.get.sides);
  const rows = names.map((name) => [
    name,
    ...PLAIN.flatMap((key) => {
      const { sides } = samples[key];
      const nginx = middle(sides[name], "nginxUs");
      return [whole(spread(column(sides[name], "carryoverUs"))), nginx === 0 ? "" : nginx.toFixed(0)];
    }),
  ]);
  const head = PLAIN.flatMap((key) => [samples[key].what, "nginx"]);
  return table(["µs of processor time a request", ...head], rows);
}

function mixed({ turns: { samples } }) {
  const { sides } = samples.mixed;
  const rows = Object.entries(sides).map(([name, list]) => [
    name,
    whole(spread(column(list, "perSecond"))),
    range(spread(column(list, "p99")), 0),
    range(ratios(column(list, "p99"), column(sides[ALONE], "p99")), 2),
    range(spread(column(list, "listsPerSecond")), 0),
  ]);
  return table(["", "gets a second", "p99 of gets, ms", "p99 against 1 process", "long lists a second"], rows);
}

function balance({ turns: { samples } }) {
  const names = Object.keys(samples.few.sides).filter((name) => name !== ALONE);
  const rows = names.map((name) => [
    name,
    ...["get", "few"].map((key) => {
      const share = spread(column(samples[key].sides[name], "busiest").map((value) => value * 100));
      return `${range(share, 0)} %`;
    }),
    whole(spread(column(samples.few.sides[name], "perSecond"))),
  ]);
  return table(["share of the busiest process", "64 credentials", "3 credentials", "requests/s with 3"], rows);
}

function counted({ turns: { counted: told } }) {
  const words = told.shared.map(({ workers, scrapes }) => {
    const [least, most] = [Math.min(...scrapes), Math.max(...scrapes)].map((share) => (share * 100).toFixed(0));
    return `${least} to ${most} % with ${workers} workers`;
  });
  return `In the run above, one scrape of the workers' shared admin port counted only a part of the requests: ${words.join(", ")}.`;
}

function sizing({ turns: { samples } }) {
  const rows = PLAIN.map((key) => {
    const us = middle(samples[key].sides[ALONE], "carryoverUs");
    const each = (1e6 / us) * ROOM;
    return [
      samples[key].what,
      us.toFixed(0),
      thousands(each),
      ...[1_000, 5_000, 20_000].map((rate) => String(Math.max(2, Math.ceil(rate / each)))),
    ];
  });
  const head = ["µs", "requests/s at 60 % of a core", "replicas for 1,000/s", "for 5,000/s", "for 20,000/s"];
  return table(["all requests like this", ...head], rows);
}
