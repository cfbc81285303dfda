import { expect, test } from "vitest";
import { createNativeWrites } from "../../src/rollout/native-writes.ts";

const UPDATE = "groups.update";
const HOUR = 3_600_000;

test("native's writes of other callers count for a minute", () => {
  const writes = createNativeWrites();
  writes.native(UPDATE, "a", true, 0);
  expect(writes.standIn(UPDATE, "b", "rule", 59_999)).toBe("others");
  expect(writes.standIn(UPDATE, "b", "rule", 60_000)).toBe("unknown");
  expect(writes.standIn("groups.create", "b", "rule", 1)).toBe("unknown");
});

test("the caller's own writes on native count for an hour, and not as another caller's", () => {
  const writes = createNativeWrites();
  writes.native(UPDATE, "a", true, 0);
  expect(writes.standIn(UPDATE, "a", "rule", 1)).toBe("hour");
  expect(writes.standIn(UPDATE, "a", "rule", HOUR)).toBe("unknown");
  writes.native(UPDATE, "b", true, HOUR);
  writes.native(UPDATE, "a", true, HOUR);
  expect(writes.standIn(UPDATE, "a", "rule", HOUR + 1)).toBe("others");
});

test("native fails an operation when more than a quarter of its writes of the last minute failed", () => {
  const writes = createNativeWrites();
  for (const credential of ["a", "b", "c"]) writes.native(UPDATE, credential, true, 0);
  writes.native(UPDATE, "d", false, 0);
  expect(writes.standIn(UPDATE, "e", "rule", 1)).toBe("others");
  writes.native(UPDATE, "d", false, 0);
  expect(writes.standIn(UPDATE, "e", "rule", 1)).toBe("fails");
  expect(writes.standIn(UPDATE, "a", "rule", 60_000)).toBe("hour");
});

test("a rule's own writes of the day before count when they came from three callers", () => {
  const writes = createNativeWrites();
  for (const credential of ["a", "b", "a"]) writes.translated(UPDATE, credential, "rule", 0);
  expect(writes.standIn(UPDATE, "z", "rule", 2 * HOUR)).toBe("unknown");
  writes.translated(UPDATE, "c", "rule", HOUR);
  expect(writes.standIn(UPDATE, "z", "rule", HOUR + 1)).toBe("unknown");
  expect(writes.standIn(UPDATE, "z", "rule", 2 * HOUR)).toBe("ownDay");
  expect(writes.standIn(UPDATE, "z", "another rule", 2 * HOUR)).toBe("unknown");
  expect(writes.standIn(UPDATE, "z", "rule", 26 * HOUR)).toBe("unknown");
});

test("native's writes are counted by the second for a minute", () => {
  const writes = createNativeWrites();
  writes.native(UPDATE, "a", true, 5_000);
  writes.native(UPDATE, "a", false, 5_999);
  expect(writes.countsOf(UPDATE, 5)).toEqual({ served: 1, failed: 1 });
  writes.native(UPDATE, "a", true, 65_000);
  expect(writes.countsOf(UPDATE, 5)).toEqual({ served: 0, failed: 0 });
});
