/** Writes docs/grpc-probes.md: what comes of each probe of the gRPC port, and of native v1. */
import { isSame, type Outcomes, recordedOutcomes } from "../../test/real/grpc/probes/recorded.ts";
import { groups, type Probe, type ProbeGroup, reasonOf } from "../../test/real/grpc/probes/table.ts";

/** `docs/grpc-probes.md`. */
export function probesPage(): string {
  const recorded = recordedOutcomes();
  const of = ({ what }: Probe): Outcomes => {
    const found = recorded.get(what);
    if (found === undefined) throw new Error(`${what} is not recorded: PROBES_RECORD=1 npm run real -- grpc`);
    return found;
  };
  const all = groups.flatMap(({ probes }) => probes);
  const different = all.filter((probe) => !isSame(of(probe))).length;
  return `${[
    "# Odd gRPC requests",
    "",
    "`npm run docs` generates this page from `test/real/grpc/probes`.",
    "",
    `\`npm run real -- grpc\` sends ${all.length} requests frame by frame to three servers and compares the outcomes: a server of grpc-go,`,
    "generated from the API's descriptors, as native v1; carryover, which translates the call; and carryover in front of such a server, which",
    `passes the call. **${all.length - different} have the same outcome everywhere. ${different} differ**, each as a row of [v1-behaviour.md](v1-behaviour.md) says.`,
    "The run fails for a difference that is not listed here, and for one that is gone.",
    "",
    "An asterisk means that the call reached the platform. The metadata that reached it, and the message of the response, are compared as well.",
    "Recorded with Node.js 20 and grpc-go 1.85.",
    "",
    ...groups.flatMap((group) => section(group, of)),
  ]
    .join("\n")
    .trimEnd()}\n`;
}

function section({ title, probes }: ProbeGroup, of: (probe: Probe) => Outcomes): readonly string[] {
  const same = new Map<string, string[]>();
  for (const probe of probes) {
    const outcomes = of(probe);
    if (isSame(outcomes)) same.set(outcomes.native, [...(same.get(outcomes.native) ?? []), cell(probe.what)]);
  }
  const different = probes.filter((probe) => !isSame(of(probe)));
  const lines = [...same].map(([outcome, alike]) => `| ${code(outcome)} | ${alike.join("; ")} |`);
  const rows = different.map((probe) => {
    const { native, translated, passed } = of(probe);
    const id = reasonOf(probe.what) ?? "";
    const link = `[${id}](v1-behaviour.md#${id.toLowerCase()})`;
    return `| ${cell(probe.what)} | ${[native, translated, passed].map(code).join(" | ")} | ${link} |`;
  });
  const table = ["| request | native v1 | translated | passed | why |", "|---|---|---|---|---|", ...rows, ""];
  return [
    `## ${title}`,
    "",
    "| outcome everywhere | requests |",
    "|---|---|",
    ...lines,
    "",
    ...(rows.length === 0 ? [] : table),
  ];
}

function code(outcome: string): string {
  return `\`${outcome}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("_", "\\_");
}
