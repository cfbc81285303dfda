import { describe, expect, test } from "vitest";
import { faults, file, NOW, read } from "./context.ts";

const SAID = "headers: { sunset: 2027-06-01 }";
const brownout = (schedule: string, more = "", settings = "contact: api@example.com") =>
  `{ name: b, match: {}, mode: brownout, ${SAID}, schedule: { ${schedule} }, brownout: { ${settings} }${more} }`;
const TUESDAYS = 'cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m';

/** The only fault, without its place. */
function fault(rule: string, context = {}): string {
  const [first = "", ...more] = faults(file(rule), context);
  expect(more).toEqual([]);
  return first.replace(/^r\.yaml:\d+:\d+ rules\.1\.?/, "");
}

test("a brownout is read with its defaults", () => {
  const { rules, warnings } = read(file(brownout(TUESDAYS)));
  expect(warnings).toEqual([]);
  expect(rules.rules[0]?.brownout).toEqual({
    status: 400,
    message: "v1 is switched off for a short time, to find the clients that still need it",
    successor: undefined,
    contact: "api@example.com",
    exempt: new Set(),
    stopAbove: 0.5,
    minRequests: 100,
    singleReplica: false,
    allowLong: false,
    schedule: { cron: "0 9 * * 2", zone: "Europe/Vienna", duration: 600_000, from: undefined, until: undefined },
  });
});

describe("a schedule is refused", () => {
  test.each([
    ["that never fires", 'cron: "0 9 30 2 *", zone: UTC, duration: 10m', /^schedule\.cron: it never fires/],
    [
      "with a weekday that does not exist",
      'cron: "0 9 * * 8", zone: UTC, duration: 10m',
      /^schedule\.cron: .*dayOfWeek/,
    ],
    ["with seconds", 'cron: "0 0 9 * * 2", zone: UTC, duration: 10m', /^schedule\.cron: .*expected five fields/],
    [
      "in an unknown zone",
      'cron: "0 9 * * 2", zone: Mars/Phobos, duration: 10m',
      /^schedule\.zone: Mars\/Phobos is not a time zone/,
    ],
    ["without a zone", 'cron: "0 9 * * 2", duration: 10m', /^schedule\.zone: required/],
    [
      "with windows of more than an hour",
      'cron: "0 9 * * 2", zone: UTC, duration: 61m',
      /^schedule\.duration: 61m is longer than an hour.*allowLong/,
    ],
    [
      "with windows that overlap",
      'cron: "*/30 9-10 * * *", zone: UTC, duration: 45m',
      /^schedule\.duration: .*windows overlap \(2026-11-21 09:00 to 11:15 UTC\).*allowLong/,
    ],
    ["that never ends", 'cron: "*/10 * * * *", zone: UTC, duration: 15m', /^schedule\.duration: .*would hardly end/],
  ])("%s", (_, schedule, says) => {
    expect(fault(brownout(schedule))).toMatch(says);
  });

  test("without a window before it expires", () => {
    expect(fault(brownout(TUESDAYS, ", expires: 2026-11-22"))).toBe(
      "schedule.cron: no window begins before expires: the next one would be 2026-11-24 08:00 to 08:10 UTC (Tue 2026-11-24 09:00 Europe/Vienna); set a later expires, or correct cron",
    );
  });
});

test("long and overlapping windows are taken with allowLong", () => {
  const day = 'cron: "0 9 * * 2", zone: UTC, duration: 24h';
  expect(faults(file(brownout(day, "", "allowLong: true")))).toEqual([]);
  const overlapping = 'cron: "*/30 9-10 * * *", zone: UTC, duration: 45m';
  expect(faults(file(brownout(overlapping, "", "allowLong: true")))).toEqual([]);
});

test.each([
  [SAID, "", "cannot tell whom to ask; set brownout.contact"],
  ["headers: {}", "contact: a", "cannot tell when v1 ends; set headers.sunset"],
  ["headers: {}", "", "cannot tell when v1 ends or whom to ask; set headers.sunset and brownout.contact"],
])("a brownout with %s and { %s } is warned of: %s", (headers, settings, says) => {
  const { warnings } = read(file(brownout(TUESDAYS, "", settings).replace(SAID, headers)));
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`team that is refused ${says}$`))]);
});

describe("a message is refused", () => {
  test.each([
    ["with a line feed", '"one\\ntwo"'],
    ["with a control character", '"a\\u001b[31m"'],
    ["with a mark that turns the direction of text", '"a\\u202eb"'],
    ["of more than 500 characters", `"${"x".repeat(501)}"`],
    ["without any text", '""'],
  ])("%s", (_, message) => {
    expect(fault(brownout(TUESDAYS, "", `message: ${message}`))).toMatch(/^brownout\.message: .*1 to 500 characters/);
  });
});

describe("clocks that change", () => {
  const warning = (cron: string, now: number) =>
    read(file(brownout(`cron: "${cron}", zone: Europe/Vienna, duration: 10m`)), { now }).warnings.join();

  test("are warned of when a window begins in the hour that does not exist", () => {
    expect(warning("30 2 * * *", Date.UTC(2027, 2, 20))).toMatch(
      /schedule\.cron: names a local time that does not exist .*2027-03-28 01:00 to 01:10 UTC \(Sun 2027-03-28 03:00/,
    );
  });

  test("are warned of when a window begins in the hour that comes twice", () => {
    expect(warning("30 2 * * *", Date.UTC(2027, 9, 20))).toMatch(/comes twice .*2027-10-31 00:30 to 00:40 UTC/);
  });

  test("are no matter at any other hour", () => {
    expect(warning("30 9 * * *", Date.UTC(2027, 9, 20))).toBe("");
  });
});

describe("two rules with overlapping windows", () => {
  const rule = (name: string, match: string, cron: string, settings = "") =>
    `{ name: ${name}, match: ${match}, mode: brownout, ${SAID}, schedule: { cron: "${cron}", zone: UTC, duration: 20m }, brownout: { contact: a, ${settings} } }`;

  test("for the same client are refused, whichever fires more often", () => {
    const weekly = rule("weekly", "{ client: ci }", "10 9 * * 2");
    const hourly = rule("hourly", "{ client: [ci, web] }", "0 * * * *");
    const says = /refuse the same clients in overlapping windows: 2026-11-24 09:10 to 09:30 UTC.*allowLong/;
    expect(faults(file(weekly, hourly)).join()).toMatch(says);
    expect(faults(file(hourly, weekly)).join()).toMatch(says);
  });

  test.each([
    ["for other clients", "{ client: ci }", "{ client: web }", ""],
    ["with a client that one exempts", "{ client: ci }", "{}", "exempt: ci"],
    ["with allowLong in both", "{}", "{ operation: reads }", "allowLong: true"],
  ])("%s are taken", (_, one, other, settings) => {
    expect(faults(file(rule("a", one, "0 9 * * 2", settings), rule("b", other, "0 9 * * 2", settings)))).toEqual([]);
  });

  test("that follow each other are taken", () => {
    expect(faults(file(rule("a", "{}", "0 9 * * 2"), rule("b", "{ operation: reads }", "20 9 * * 2")))).toEqual([]);
  });
});

test("a rule after a brownout of everything can match", () => {
  expect(faults(file(brownout(TUESDAYS), "{ name: rest, match: {}, mode: native }"))).toEqual([]);
});

test("a brownout needs a shared store, or the word that there is one replica", () => {
  expect(fault(brownout(TUESDAYS), { shared: false })).toMatch(/^mode: .*state\.url is not set.*singleReplica: true/);
  expect(faults(file(brownout(TUESDAYS, "", "singleReplica: true")), { shared: false })).toEqual([]);
  expect(faults(file(brownout(TUESDAYS)), { shared: true })).toEqual([]);
});

test.each([
  ["shadow: { sample: 1 }", "shadow"],
  ["guard: warn", "guard"],
  ["stepBack: { failures: 0.1 }", "stepBack"],
])("%s has no effect in a brownout, and is refused", (more, key) => {
  expect(fault(brownout(TUESDAYS, `, ${more}`))).toMatch(
    new RegExp(`^${key}: has no effect in a rule with mode: brownout`),
  );
});

test("days and hours are said by cron alone", () => {
  const rule = brownout(TUESDAYS).replace("match: {}", "match: { time: { days: [mon] } }");
  expect(fault(rule)).toMatch(/^match\.time\.days: has no effect/);
});

test("a brownout without a schedule is refused, and its settings without the mode are doubted", () => {
  expect(fault("{ name: b, match: {}, mode: brownout, brownout: { contact: a } }")).toMatch(/^schedule: required/);
  const native = brownout(TUESDAYS).replace("mode: brownout", "mode: native");
  expect(read(file(native)).warnings).toHaveLength(2);
});

test("a team that is refused must be told when v1 ends, and whom to ask", () => {
  const silent = `{ name: b, match: {}, mode: brownout, schedule: { ${TUESDAYS} } }`;
  expect(read(file(silent), { now: NOW }).warnings.join()).toMatch(/set headers\.sunset and brownout\.contact/);
});

test("an exempt client that clients.names has otherwise is doubted", () => {
  const rule = brownout(TUESDAYS, "", "contact: a, exempt: [ci-bott]");
  expect(read(file(rule), { clients: new Set(["ci-bot"]) }).warnings.join()).toMatch(/did you mean ci-bot/);
});

test("more than ten brownouts in one file are refused", () => {
  const rules = Array.from({ length: 11 }, (_, at) =>
    brownout(TUESDAYS).replace("name: b,", `name: b-${at},`).replace("match: {}", `match: { client: c${at} }`),
  );
  expect(faults(file(...rules)).join()).toMatch(/more than 10 rules with mode: brownout/);
});
