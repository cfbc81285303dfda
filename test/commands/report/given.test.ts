import { describe, expect, test } from "vitest";
import {
  readAddress,
  readAdminToken,
  readTimeout,
  readWindow,
  readWindowFlags,
} from "../../../src/commands/report/arguments.ts";
import { ConfigError } from "../../../src/config/faults.ts";

describe("an address", () => {
  test.each([
    ["127.0.0.1:8081", "http://127.0.0.1:8081"],
    ["carryover.svc:8081", "http://carryover.svc:8081"],
    ["localhost", "http://localhost"],
    ["[::1]:8081", "http://[::1]:8081"],
    ["http://127.0.0.1:8081/", "http://127.0.0.1:8081"],
    ["HTTPS://Example.com/a/b/", "https://example.com/a/b"],
    ["example.com:8081/carryover", "http://example.com:8081/carryover"],
  ])("%s is %s", (text, address) => {
    expect(readAddress(text)).toBe(address);
  });

  test.each([
    "",
    "http://",
    "ftp://a",
    "http://u:p@a",
    "a:99999",
    "http://a/?x=1",
    "http://a/#b",
    "a b",
    "token@host:1",
  ])("%j is refused", (text) => {
    expect(() => readAddress(text)).toThrow(ConfigError);
  });
});

test("a window is a number and a unit", () => {
  const texts = ["90s", "30m", "12h", "7d", "2w"];
  expect(texts.map((text) => readWindow(text))).toEqual([90_000, 1_800_000, 43_200_000, 604_800_000, 1_209_600_000]);
  for (const text of ["", "7", "0d", "-1d", "7y", "1.5h", "7 d", "999999d"])
    expect(() => readWindow(text)).toThrow(ConfigError);
});

describe("the times of a window", () => {
  const NOW = Date.UTC(2026, 10, 27, 12);
  const HOUR = 3_600_000;
  const read = (flags: Parameters<typeof readWindowFlags>[0]) => readWindowFlags(flags, NOW);

  test("are the last day, a time back from now, or all", () => {
    expect(read({})).toEqual({ from: -24 * HOUR, to: undefined });
    expect([read({ window: "1h" }), read({ since: "14d" })].map(({ from }) => from)).toEqual([-HOUR, -14 * 24 * HOUR]);
    expect(read({ window: "all" })).toEqual({ from: undefined, to: undefined });
  });

  test("begin and end in UTC, or so long ago", () => {
    const from = Date.UTC(2026, 10, 27, 2);
    expect(read({ from: "2026-11-27T02:00Z", to: "2026-11-27 03:00:00Z" })).toEqual({ from, to: from + HOUR });
    expect(read({ from: "2026-11-26", to: "6h" })).toEqual({ from: Date.UTC(2026, 10, 26), to: -6 * HOUR });
    expect(read({ from: "02:00", to: "2026-11-27T04:00+01:00" })).toEqual({ from, to: from + HOUR });
    expect(read({ to: "2d" })).toEqual({ from: undefined, to: -48 * HOUR });
  });

  test.each([
    [{ window: "1h", since: "1h" }],
    [{ window: "ever" }],
    [{ from: "2026-11-27T2:00" }],
    [{ from: "2026-02-30" }],
    [{ from: "2026-11-28" }],
    [{ from: "1h", to: "1h" }],
  ])("%j is refused", (flags) => {
    expect(() => read(flags)).toThrow(ConfigError);
  });
});

test("a timeout is some seconds, and not for ever", () => {
  expect(["10", "0.5", "600"].map(readTimeout)).toEqual([10_000, 500, 600_000]);
  for (const text of ["", "0", "601", "-1", "1e2", "x"]) expect(() => readTimeout(text)).toThrow(ConfigError);
});

describe("the token", () => {
  const sources = {
    readFile: (path: string) => {
      if (path !== "token") throw new Error("ENOENT");
      return Buffer.from(" of-the-file\n");
    },
    readStdin: () => Buffer.from("of-stdin\n"),
  };

  test("comes from a file, standard input, the variable, or the file that a variable names, in that order", () => {
    const named = { CARRYOVER_ADMIN_TOKEN_FILE: "token" };
    expect(readAdminToken(undefined, named, sources)).toBe("of-the-file");
    expect(readAdminToken(undefined, { ...named, CARRYOVER_ADMIN_TOKEN: "of-the-variable" }, sources)).toBe(
      "of-the-variable",
    );
    expect(readAdminToken("token", { CARRYOVER_ADMIN_TOKEN: "of-the-variable" }, sources)).toBe("of-the-file");
    expect(readAdminToken("-", {}, sources)).toBe("of-stdin");
    expect(readAdminToken(undefined, { CARRYOVER_ADMIN_TOKEN: "of-the-variable" }, sources)).toBe("of-the-variable");
    expect(readAdminToken(undefined, { CARRYOVER_ADMIN_TOKEN: "" }, sources)).toBeUndefined();
    expect(readAdminToken(undefined, {}, sources)).toBeUndefined();
  });

  test("is refused when it is none, and never shown", () => {
    expect(() => readAdminToken(undefined, { CARRYOVER_ADMIN_TOKEN: "two words" }, sources)).toThrow(
      /CARRYOVER_ADMIN_TOKEN: this holds no token/,
    );
    expect(() => readAdminToken(undefined, { CARRYOVER_ADMIN_TOKEN: "two words" }, sources)).not.toThrow(/two words/);
    expect(() => readAdminToken("missing", {}, sources)).toThrow(/--token-file: missing cannot be read/);
    expect(() => readAdminToken("-", {}, { ...sources, readStdin: () => Buffer.from("") })).toThrow(ConfigError);
  });
});
