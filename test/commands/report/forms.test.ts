import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellOf, reportCsv } from "../../../src/commands/report/csv.ts";
import {
  atMost,
  escapeMarkdown,
  percent,
  reportMarkdown,
  reportText,
  warningsOf,
} from "../../../src/commands/report/formats.ts";
import type { InstanceResult } from "../../../src/fleet/merge.ts";
import { createReport } from "../../../src/fleet/report.ts";
import { busy, client, progress, times } from "./support.ts";

const heard: readonly InstanceResult[] = busy().map((one, at) => ({
  address: `http://10.0.0.${at + 1}:8081`,
  progress: one,
}));
const silent: InstanceResult = { address: "http://10.0.0.3:8081", fault: "cannot be reached (ECONNREFUSED)" };
const whole = createReport(heard, times());
const partial = createReport([...heard, silent], times(7 * 86_400_000));
const empty = createReport([{ address: "http://10.0.0.1:8081", progress: progress() }], times());

const HOSTILE = '=cmd|"/c calc"!A1\u001b[2J\u202e\r\n<script>|`x`,@all [a](http://e) www.e.org\ud800';
const withName = (name: string) =>
  createReport([{ address: "http://a", progress: progress({ ledger: { clients: [client(name)] } }) }], times());

describe("on a terminal", () => {
  test("a report is aligned, numbers to the right", () => {
    expect(reportText(whole)).toMatchSnapshot();
  });

  test("an incomplete one says so first, and shows the rest", () => {
    expect(reportText(partial).split("\n")[0]).toMatch(/^INCOMPLETE/);
    expect(reportText(partial)).toMatch(/10\.0\.0\.3:8081 +cannot be reached \(ECONNREFUSED\)/);
  });

  test("nothing to tell is told", () => {
    expect(reportText(empty)).toMatchSnapshot();
  });

  test("when nobody was heard, only that is told, and why", () => {
    const nobody = createReport([{ ...silent }, { ...silent, address: "http://10.0.0.4:8081" }], times(86_400_000));
    expect(reportText(nobody)).toBe(`INCOMPLETE carryover report: nothing was heard from any of 2 addresses

Instances
  address               counts since  without a rule  force  state
  http://10.0.0.3:8081                                       cannot be reached (ECONNREFUSED)
  http://10.0.0.4:8081                                       cannot be reached (ECONNREFUSED)

NOT KNOWN whether v1 is in use: no instance was heard`);
    expect(reportText(createReport([silent], times())).split("\n")[0]).toBe(
      "INCOMPLETE carryover report: nothing was heard from 1 address",
    );
    expect(reportMarkdown(nobody).match(/^#+ .*/gm)).toHaveLength(2);
  });

  test("how far v1 counts may be off is told, where they are", () => {
    const of = (bound: number) =>
      reportText(
        createReport(
          [
            {
              address: "http://a",
              progress: progress({ ledger: { bound, clients: [client("ci", { over: bound })] } }),
            },
          ],
          times(),
        ),
      );
    expect(of(7)).toContain(
      "v1 counts may be too high by 7, and clients with no more v1 requests may be missing (clients.max).",
    );
    expect(of(0)).not.toContain("too high");
  });

  test("no name moves the cursor or makes a line of its own", () => {
    const lines = reportText(withName(HOSTILE)).split("\n");
    expect(lines).toHaveLength(reportText(withName("a")).split("\n").length);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there.
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ud800-\udfff]/);
    expect(lines.join("")).toContain('=cmd|"/c calc"!A1\\u001b[2J\\u202e\\r\\n');
  });

  test("a long name is cut, and a table of many clients ends with how many there are", () => {
    const long = reportText(withName("x".repeat(5000)));
    expect(Math.max(...long.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(400);
    const clients = Array.from({ length: 60 }, (_, at) => client(`c${at}`));
    const text = reportText(
      createReport([{ address: "http://a", progress: progress({ ledger: { clients } }) }], times()),
    );
    expect(text).toContain("and 10 more: --json has them all");
    expect(text).toContain("c0, c1, c10, c11 and 56 more");
  });
});

describe("in Markdown", () => {
  test("a report is tables", () => {
    expect(reportMarkdown(partial)).toMatchSnapshot();
  });

  test("a name stays one cell and means nothing", () => {
    const lines = reportMarkdown(withName(HOSTILE)).split("\n");
    const row = lines.find((line) => line.startsWith("|") && line.includes("cmd")) ?? "";
    expect(row.split(/(?<!\\)\|/)).toHaveLength(8);
    expect(row).not.toMatch(/(?<!\\)[<`]|@|\bhttps?:|www\./);
  });

  test("whatever is written, every sign of Markdown is escaped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        expect(escapeMarkdown(text).replaceAll(/\\[\\`*_{}[\]<>|~#!]/g, "")).not.toMatch(/[`*_{}[\]<>|~\n\r@]/);
      }),
    );
  });
});

describe("as CSV", () => {
  test("a report is one line a client", () => {
    expect(reportCsv(whole).split("\r\n")).toMatchSnapshot();
  });

  test("an incomplete one says so in every line but the first", () => {
    const [, ...lines] = reportCsv(partial).split("\r\n");
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toMatch(/incomplete/i);
    expect(lines[0]).toContain("http://10.0.0.3:8081");
  });

  test("no cell begins like a formula, and quotes are doubled", () => {
    expect(["=1", "+1", "-1", "@a", " =1", "＝1", "a=1", 'a"b', "a,b", "a;=1", "\t=1", "plain"].map(cellOf)).toEqual([
      "'=1",
      "'+1",
      "'-1",
      "'@a",
      "' =1",
      "'＝1",
      "a=1",
      '"a""b"',
      '"a,b"',
      '"a;=1"',
      "\\t=1",
      "plain",
    ]);
    const [, line = ""] = reportCsv(withName(HOSTILE)).split("\r\n");
    expect(line.startsWith(`"'=cmd|""/c calc""!A1\\u001b`)).toBe(true);
  });
});

describe("on standard error", () => {
  test("stand the addresses that were not heard, bad rules files, and why a gate is shut", () => {
    const bad = createReport(
      [{ address: "http://a", progress: progress({ lastReloadSuccessful: false }) }, silent],
      times(),
    );
    expect(warningsOf(bad, true)).toEqual([
      "http://10.0.0.3:8081 cannot be reached (ECONNREFUSED)",
      "http://a runs on older rules: its rules file is bad (GET http://a/rules)",
      "NOT KNOWN whether v1 is in use: not every instance was heard",
    ]);
    expect(warningsOf(whole, false)).toEqual([]);
    expect(warningsOf(whole, true)).toEqual(["v1 is still in use: 2 clients called v1 since 2026-11-18 21:30Z"]);
    expect(warningsOf(empty, true)).toEqual([]);
  });
});

describe("numbers", () => {
  test("a share that is something never reads as nothing, nor one that is not all as all", () => {
    expect([0, 1e-9, 0.001, 0.5, 0.99999, 1].map(percent)).toEqual([
      "0.0 %",
      "< 0.1 %",
      "0.1 %",
      "50.0 %",
      "> 99.9 %",
      "100.0 %",
    ]);
  });

  test("a bound is rounded up to two digits that count", () => {
    expect([0.000599, 0.0006, 0.00061, 0.052701, 0.3, 0.999].map(atMost)).toEqual([
      "0.06 %",
      "0.06 %",
      "0.061 %",
      "5.3 %",
      "30 %",
      "100 %",
    ]);
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1, noNaN: true }), (share) => {
        const shown = Number(atMost(share).slice(0, -2)) / 100;
        expect(shown).toBeGreaterThanOrEqual(share * (1 - 1e-9));
        expect(shown).toBeLessThanOrEqual(share * 1.1 + 1e-12);
      }),
    );
  });
});
