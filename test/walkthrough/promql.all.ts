/** Does the walkthrough judge an expression as Prometheus would? (As far as it speaks PromQL at all.) */
import { describe, expect, it } from "vitest";

const { judge, parse, readMetrics } = await import(
  new URL("../../scripts/walkthrough/promql.mjs", import.meta.url).href
);

const now = readMetrics(`# TYPE hits_total counter
hits_total{mode="native",code="200"} 7
hits_total{mode="translate",code="200"} 5
hits_total{mode="translate",code="502"} 1
# TYPE rule_state gauge
rule_state{rule="a",state="forward"} 1
# TYPE empty_total counter
# TYPE plain gauge
plain 0.25
`);
const before = readMetrics(`# TYPE hits_total counter
hits_total{mode="native",code="200"} 4
hits_total{mode="translate",code="200"} 9
`);
const of = (text: string) => judge(text, now, before);

describe("an expression", () => {
  it("selects by labels: equal, different, like and unlike", () => {
    expect(of('sum(hits_total{mode="translate"}) == 6').holds).toBe(true);
    expect(of('sum(hits_total{mode!="translate"}) == 7').holds).toBe(true);
    expect(of('sum(hits_total{code=~"5..",mode="translate"}) == 1').holds).toBe(true);
    expect(of('sum(hits_total{mode!~"nat.*|other"}) == 6').holds).toBe(true);
    // Anchored, as in Prometheus.
    expect(of('count(hits_total{mode=~"nat"}) == 1').holds).toBe(false);
  });

  it("counts increases from before, and all of a counter that began anew", () => {
    expect(of('sum(increase(hits_total{mode="native"}[5m])) == 3').holds).toBe(true);
    expect(of('sum(increase(hits_total{mode="translate"}[1h])) == 6').holds).toBe(true);
  });

  it("is not true of nothing: the sum of no series is none, unless something stands for it", () => {
    expect(of("sum(empty_total) == 0")).toEqual({ holds: false, seen: "nothing" });
    expect(of("(sum(empty_total) or vector(0)) == 0")).toEqual({ holds: true, seen: "0" });
    expect(of('absent(rule_state{rule="a",state!="forward"}) == 1').holds).toBe(true);
    expect(of('absent(rule_state{rule="a"}) == 1').holds).toBe(false);
  });

  it("knows what binds closer", () => {
    expect(of("max(plain) * 2 + 1 == 1.5").holds).toBe(true);
    expect(of("max(plain) * (2 + 2) >= 1").holds).toBe(true);
    expect(of("sum(hits_total) > sum(plain)").holds).toBe(true);
    expect(of("sum(hits_total) / sum(plain) < 52").holds).toBe(false);
  });

  it("is refused when it asks for a metric or a label that is not there, or cannot be worked out", () => {
    expect(() => of("sum(hits) == 0")).toThrow("there is no metric hits");
    expect(() => of('sum(hits_total{client="a"}) == 0')).toThrow("no label client");
    expect(() => of("hits_total == plain")).toThrow("one number");
    expect(() => of("sum(hits_total)")).toThrow("not a comparison");
    for (const text of [
      "rate(hits_total[5m]) > 0",
      "sum by (mode) (hits_total) > 0",
      "a == 1 and b == 1",
      "a @ 5",
      "(",
    ]) {
      expect(() => parse(text), text).toThrow();
    }
  });
});
