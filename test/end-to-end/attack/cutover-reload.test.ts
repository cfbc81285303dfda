import fc from "fast-check";
import { expect, it } from "vitest";
import { createRulesFile } from "../../../src/rollout/rules-file.ts";
import type { Rules } from "../../../src/rules/rule.ts";

const flush = async () => {
  for (let i = 0; i < 12; i++) await Promise.resolve();
  await new Promise((r) => setImmediate(r));
};

it("ends with what the file holds in force, or refused and told, whatever the order; and takes nothing once closed", async () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant("write" as const),
          text: fc.constantFrom("A", "B", "C", "bad1", "bad2", "GONE"),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant("timer" as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("check" as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("read" as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const) }) },
    ),
    { maxLength: 40, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      let content = "A";
      const timers = new Set<{ ms: number; run: () => void }>();
      const reads: (() => void)[] = [];
      let inForce = "";
      let failedLast: string | undefined;
      let successGauge = true;
      let closed = false;
      const file = createRulesFile({
        path: "x",
        // What is read is what the file holds when the read ends.
        read: () =>
          new Promise((resolve, reject) =>
            reads.push(() => (content === "GONE" ? reject(new Error("ENOENT")) : resolve(Buffer.from(content)))),
          ),
        parse: (bytes) => {
          const text = Buffer.from(bytes).toString();
          if (text.startsWith("bad")) throw new Error(text);
          return { rules: { digest: text, rules: [], force: "none", fallback: undefined } as Rules, warnings: [] };
        },
        everyMs: 2000,
        later: (ms, run) => {
          const t = { ms, run };
          timers.add(t);
          return () => timers.delete(t);
        },
        wall: () => 0,
        apply: (rules) => {
          expect(closed).toBe(false);
          inForce = rules.digest;
          successGauge = true;
        },
        failed: (e) => {
          failedLast = e.message;
          successGauge = false;
        },
        recovered: () => {
          successGauge = true;
        },
      });
      const started = file.start();
      reads.shift()?.();
      await started;
      const checks: Promise<void>[] = [];
      const fire = () => {
        // Never the ten seconds of a read: reads end here when the test says so.
        const [t] = [...timers].filter(({ ms }) => ms < 10_000).sort((a, b) => a.ms - b.ms);
        if (t === undefined) return;
        timers.delete(t);
        t.run();
      };
      for (const step of all) {
        if (step.do === "write") content = step.text;
        if (step.do === "timer") fire();
        if (step.do === "check") checks.push(file.check());
        if (step.do === "read") reads.shift()?.();
        if (step.do === "close") {
          closed = true;
          file.close();
        }
        await flush();
      }
      for (let i = 0; i < 12; i++) {
        fire();
        await flush();
        for (const read of reads.splice(0)) read();
        await flush();
      }
      await Promise.all(checks);
      if (closed) {
        expect([...timers].filter(({ ms }) => ms < 10_000)).toEqual([]);
        return;
      }
      const good = content.length === 1;
      if (good) {
        expect(inForce).toBe(content);
        expect(file.state().failing).toBeUndefined();
        expect(successGauge).toBe(true);
      } else {
        expect(file.state().failing).toBeDefined();
        expect(successGauge).toBe(false);
        expect(failedLast).toContain(content === "GONE" ? "ENOENT" : content);
      }
      expect([...timers].filter(({ ms }) => ms < 10_000)).toHaveLength(1);
      file.close();
    }),
    { numRuns: 200 },
  );
}, 60_000);
