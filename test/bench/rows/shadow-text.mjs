/** Formats the numbers of the row on shadow. */
import { goal } from "../goals.mjs";
import { ratios, spread } from "../stats.mjs";
import { range, table } from "../tables.mjs";

const KINDS = [
  ["get", "v1 get of one group (its list with `id`)"],
  ["list", "v1 list of 200"],
];

/** Ratios of neighbours in time. `sides`: native first. */
export function shadowGoals([native, ...others]) {
  return KINDS.flatMap(([kind, what]) =>
    others.flatMap((side) =>
      ["p50", "p99"].map((name) => {
        const ratio = ratios(side[kind][name], native[kind][name]);
        const [own, base] = [side, native].map((one) => spread(one[kind][name]).median.toFixed(2));
        return goal({
          what: `${what}, ${side.name}, ${name}`,
          against: "the same in mode native",
          value: ratio.median,
          text: `${range(ratio, 2)}×: ${base} ms native, ${own} ms`,
        });
      }),
    ),
  );
}

export function shadowText(sides, { rates, steady, full }) {
  const parts = KINDS.flatMap(([kind, what]) => [`${what}:`, ofKind(sides, kind)]);
  return [
    `Native v1 answers in every case, with the same bytes; carryover runs as a process for each line. At a constant rate (open load; ${rates.get} gets and ${rates.list} lists a second, ${steady.seconds} s a side in each of ${steady.rounds} rounds, the sides in turns) latency in ms and processor time per request in µs, comparing included; then under full load (${full.connections} connections, ${full.rounds} rounds of ${full.seconds} s), where most comparisons find no place and are let go. Median (least to most); ratios are of neighbours in time.`,
    ...parts,
  ].join("\n\n");
}

function ofKind(sides, kind) {
  const [native] = sides;
  const rows = sides.map((side) => {
    const { p50, p99, steadyCpu, perSecond, fullCpu, compared } = side[kind];
    const beside = side === native ? "" : `${range(ratios(perSecond, native[kind].perSecond), 2)}×`;
    return [
      side.name,
      range(spread(p50), 2),
      range(spread(p99), 2),
      range(spread(steadyCpu), 0),
      side === native ? "–" : `${((compared[0] / compared[1]) * 100).toFixed(0)}%`,
      range(spread(perSecond), 0),
      beside,
      range(spread(fullCpu), 0),
    ];
  });
  const head = [
    "",
    "p50",
    "p99",
    "µs",
    "found equal",
    "requests/s under full load",
    "beside native",
    "µs under full load",
  ];
  return table(head, rows);
}
