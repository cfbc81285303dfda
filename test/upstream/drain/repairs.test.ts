import { expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { settled } from "../clock.ts";
import { drained, keysOf, type Platform, pageOf, quiet, raw, respond, uidsOf } from "./simulator.ts";
import { holding, knowing, memory, SMALL, streamed } from "./stage.ts";

const KEYS = keysOf(100);

it("a list that fits is not refused because its windows overlapped before it went on by its cursor", async () => {
  const ignores: Platform = ({ skip: _, ...rest }) => quiet(KEYS)(rest, 0);
  const outcome = await drained((s, call) => ((s.skip ?? 0) >= 88 ? ignores : quiet(KEYS))(s, call), {
    limits: { ...SMALL, maxPages: 10 },
    parts: knowing(true),
  });
  expect(uidsOf(outcome)).toEqual(KEYS);
});

it("a guessed page that is bad before page one has come is asked for once more, as any other", async () => {
  const { served, open, flow } = holding(quiet(KEYS));
  const done = drained(served, { limits: SMALL, parts: { memory: memory(true, 100).of } });
  await settled();
  await open.find((call) => call.selector.skip === 8)?.answer(raw(503, "{}"));
  await flow();
  expect(uidsOf(await done)).toEqual(KEYS);
});

it("no rank before the first is asked for", async () => {
  const later = Array.from({ length: 60 }, (_, i) => `v${i + 10}`);
  const platform: Platform = (s, call) => {
    if (call < 3) return respond({ ...pageOf(KEYS, s, "keyset"), total: "26" });
    if ((s.skip ?? 0) < 0) return raw(400, "{}");
    return respond({ ...pageOf(later, s, "keyset", s.skip === 0 ? 1 : 200), total: "60" });
  };
  const outcome = await drained(platform, { limits: { ...SMALL, readers: 1 }, parts: knowing(true) });
  expect(outcome.requests.every((s) => (s.skip ?? 0) >= 0)).toBe(true);
  expect(outcome.result?.kind).toBe("list");
});

it("what was announced and cannot be proved any more is broken off at once, not after another reading", async () => {
  const keys = keysOf(400);
  const ignores: Platform = ({ skip: _, ...rest }) => quiet(keys)(rest, 0);
  const { error, requests, uids } = await streamed((s, call) => ((s.skip ?? 0) > 60 ? ignores : quiet(keys))(s, call), {
    parts: knowing(true),
  });
  expect(error).toBeInstanceOf(Problem);
  expect(requests.every((s) => s.token === undefined)).toBe(true);
  expect(uids).toEqual(keys.slice(0, uids.length));
});

it("a list that is broken off was right up to there", async () => {
  const keys = keysOf(300);
  const uncounted: Platform = (s) => respond({ ...pageOf(keys, s, "keyset"), total: s.skip === 96 ? "300" : "100" });
  const { uids, error } = await streamed(uncounted, {
    parts: knowing(true),
    limits: { windowRecords: 100, readers: 1 },
  });
  expect(error?.constructor ?? "whole").toBe(uids.length === 300 ? "whole" : Problem);
  expect(uids).toEqual(keys.slice(0, uids.length));
});
