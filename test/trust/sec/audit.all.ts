import { describe, expect, it } from "vitest";

const { reportOf } = (await import("../../../scripts/release/audit.mjs" as string)) as {
  reportOf(said: string, bundled: ReadonlySet<string>): { code: number; lines: readonly string[] };
};
const counted = { vulnerabilities: { total: 0 } };
const bundled = new Set(["fastify", "undici"]);

describe("T-SEC-02: the audit", () => {
  it("ends with 0 when no hole is known", () => {
    const said = { vulnerabilities: {}, metadata: counted };
    expect(reportOf(JSON.stringify(said), bundled)).toEqual({ code: 0, lines: ["no hole is known in 2 packages"] });
  });

  it("does not tell of a hole in what only tests need", () => {
    const hole = { name: "vitest", severity: "high", range: "<9", via: ["vite"], fixAvailable: true };
    expect(reportOf(JSON.stringify({ vulnerabilities: { vitest: hole }, metadata: counted }), bundled).code).toBe(0);
  });

  it("ends with 1 and names the package when one is", () => {
    const via = [{ title: "answers another request", url: "advisory-1" }, "undici"];
    const hole = { name: "undici", severity: "high", range: "<7.28.0", via, fixAvailable: true };
    const { code, lines } = reportOf(JSON.stringify({ vulnerabilities: { undici: hole }, metadata: counted }), bundled);
    expect([code, lines[1]]).toEqual([
      1,
      "high: undici <7.28.0: answers another request (advisory-1): fixed by a newer version",
    ]);
  });

  it.each([
    ["refuses", '{"message":"405 Method Not Allowed","error":{"summary":"","detail":""}}', "405 Method Not Allowed"],
    ["says nothing", "", "no answer that can be read"],
    ["says something else", "{}", "does not say why"],
  ])("ends with 2 when the registry %s: that is no all-clear", (_, said, why) => {
    const { code, lines } = reportOf(said, bundled);
    expect(code).toBe(2);
    expect(lines.join(" ")).toContain(why);
    expect(lines.join(" ")).toContain("no all-clear");
  });
});
