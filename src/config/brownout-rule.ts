/** A rule with `mode: brownout`: its settings, and faults of its schedule that the schema cannot express. */
import { member } from "../model/json.ts";
import type { BrownoutSettings, ScheduleSettings, TimeSpan } from "../model/rules.ts";
import { nameRemarks } from "../rules/conditions/client.ts";
import type { RuleCircumstances, RuleRemark } from "../rules/conditions/condition.ts";
import { endOf, type Rule } from "../rules/rule.ts";
import { createSchedule, scheduleFault, shiftedWindows, windowWords } from "../rules/schedule.ts";
import { anyOf, counted, durationWords, HOUR } from "../rules/words.ts";
import { brownout } from "./brownout-schema.ts";
import type { RuleText } from "./rules-schema.ts";

/** Windows that are looked at: to find one takes up to a millisecond. */
const LOOKED_AT = 30;
/** Rules with `mode: brownout` in one file. */
export const MAX_BROWNOUTS = 10;

/** Undefined for a rule of another mode. */
export function brownoutOf(text: RuleText): BrownoutSettings | undefined {
  const schedule = scheduleOf(text);
  if (text.mode !== "brownout" || schedule === undefined) return undefined;
  const { exempt = [], successor, contact, ...rest } = text.brownout ?? brownout.parse({});
  return { ...rest, successor, contact, exempt: new Set(exempt), schedule };
}

function scheduleOf(rule: RuleText): ScheduleSettings | undefined {
  const { schedule, match } = rule;
  if (schedule === undefined) return undefined;
  const end = endOf(rule);
  return {
    ...schedule,
    duration: schedule.duration * 1000,
    from: match.time?.from,
    until: Number.isFinite(end) ? end : undefined,
  };
}

const HAS_NO_EFFECT = "has no effect in a rule with mode: brownout";
const OF_OTHER_MODES = ["shadow", "stepBack", "guard", "onFailure", "fallback", "promoteWhen"] as const;

export function brownoutRemarks(rule: RuleText, circumstances: RuleCircumstances): readonly RuleRemark[] {
  const { given } = circumstances;
  if (rule.mode !== "brownout") {
    // A rule may end its brownouts, and go on with them, by this one word.
    return (["schedule", "brownout"] as const).flatMap((key) =>
      rule[key] === undefined
        ? []
        : [
            {
              path: [key],
              what: "has no effect without mode: brownout",
              remedy: "remove it, or set mode: brownout",
              kind: "doubtful" as const,
            },
          ],
    );
  }
  const idle = OF_OTHER_MODES.filter((key) => member(given, key) !== undefined).map((key) => {
    return { path: [key], what: HAS_NO_EFFECT, remedy: "remove it" };
  });
  const hours = (["days", "hours"] as const).filter((key) => rule.match.time?.[key] !== undefined);
  return [
    ...idle,
    ...hours.map((key) => ({ path: ["match", "time", key], what: HAS_NO_EFFECT, remedy: "say it in schedule.cron" })),
    ...nameRemarks(rule.brownout?.exempt ?? [], ["brownout", "exempt"], circumstances.clients),
    ...aloneRemarks(rule, circumstances),
    ...announcementRemarks(rule),
    ...scheduleRemarks(rule, circumstances),
  ];
}

/** A process that knows of no other cannot stop their brownouts, nor count what they refuse. */
function aloneRemarks({ brownout }: RuleText, { shared }: RuleCircumstances): readonly RuleRemark[] {
  if (shared !== false || brownout?.singleReplica === true) return [];
  const what = "replicas can stop a brownout together only with a store that they share, and state.url is not set";
  return [{ path: ["mode"], what, remedy: "set state.url, or brownout.singleReplica: true if there is one replica" }];
}

function announcementRemarks({ headers, brownout }: RuleText): readonly RuleRemark[] {
  const missing = [
    ...(headers?.sunset === undefined ? [{ option: "headers.sunset", answers: "when v1 ends" }] : []),
    ...(brownout?.contact === undefined ? [{ option: "brownout.contact", answers: "whom to ask" }] : []),
  ];
  if (missing.length === 0) return [];
  const what = `a client's team that is refused cannot tell ${anyOf(missing.map(({ answers }) => answers))}`;
  const remedy = `set ${missing.map(({ option }) => option).join(" and ")}`;
  return [{ path: ["brownout"], what, remedy, kind: "doubtful" }];
}

function scheduleRemarks(rule: RuleText, { now }: RuleCircumstances): readonly RuleRemark[] {
  const settings = scheduleOf(rule);
  if (settings === undefined) {
    const remedy = 'write schedule: { cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m }';
    return [{ path: ["schedule"], what: "required with mode: brownout, and not given", remedy }];
  }
  const at = (key: string, what: string, remedy: string): RuleRemark => ({ path: ["schedule", key], what, remedy });
  const fault = scheduleFault(settings);
  if (fault !== undefined) {
    const zones = "name one as in the IANA database, such as UTC or Europe/Vienna";
    return [at(fault.key, fault.what, fault.key === "zone" ? zones : "correct it: minute hour day month weekday")];
  }
  const ever = createSchedule({ ...settings, from: undefined, until: undefined });
  if (ever.after(now, 1).length === 0) return [at("cron", "it never fires: there is no such day", "correct it")];
  const schedule = createSchedule(settings);
  const present = schedule.open(now);
  const first = present ?? schedule.after(now, 1)[0];
  if (first === undefined) {
    // A rule that is over has a remark of its own.
    if (settings.until !== undefined && settings.until <= now) return [];
    const [next] = createSchedule({ ...settings, until: undefined }).after(now, 1);
    const key = settings.until === rule.expires ? "expires" : "match.time.until";
    const later = next === undefined ? "" : `: the next one would be ${windowWords(next, settings.zone)}`;
    return [at("cron", `no window begins before ${key}${later}`, `set a later ${key}, or correct cron`)];
  }
  if (schedule.isEndless(first)) {
    const what = "is longer than the time between two firings, always: the brownout would hardly end";
    return [at("duration", what, "shorten it, or let cron fire less often")];
  }
  const windows = [first, ...schedule.after(first.end, LOOKED_AT)];
  return [...lengthRemarks(rule, settings, windows), ...clockRemarks(settings, windows)];
}

function lengthRemarks(
  { brownout }: RuleText,
  { duration, zone }: ScheduleSettings,
  windows: readonly TimeSpan[],
): readonly RuleRemark[] {
  const path = ["schedule", "duration"];
  if (brownout?.allowLong === true) return [];
  const joined = windows.find(({ start, end }) => end - start > duration);
  if (joined !== undefined) {
    const what = `is longer than the time between two firings: windows overlap (${windowWords(joined, zone)})`;
    return [{ path, what, remedy: "shorten it, let cron fire less often, or set brownout.allowLong: true" }];
  }
  if (duration <= HOUR) return [];
  const what = `${durationWords(duration)} is longer than an hour: teams take such a brownout for an outage`;
  return [{ path, what, remedy: "shorten it, or set brownout.allowLong: true" }];
}

/** Windows at a local time that a change of clocks skips or repeats. */
function clockRemarks(settings: ScheduleSettings, windows: readonly TimeSpan[]): readonly RuleRemark[] {
  return shiftedWindows(settings, windows)
    .slice(0, 2)
    .map(({ window, why }) => {
      const where = windowWords(window, settings.zone);
      const what =
        why === "missing"
          ? `names a local time that does not exist when clocks change: that window is ${where}`
          : `names a local time that comes twice when clocks change: that window is the first, ${where}`;
      return { path: ["schedule", "cron"], what, remedy: "let it fire outside of that hour", kind: "doubtful" };
    });
}

/** Two brownout rules with windows that overlap for the same client. */
export interface OverlappingBrownouts {
  readonly rule: Rule;
  readonly other: Rule;
  readonly window: TimeSpan;
}

/** Each client would be refused for longer than either rule says. `now`: milliseconds since 1970. */
export function overlappingBrownouts(rules: readonly Rule[], now: number): readonly OverlappingBrownouts[] {
  const all = rules.flatMap((rule) => {
    const { brownout } = rule;
    if (brownout === undefined) return [];
    const schedule = createSchedule(brownout.schedule);
    const present = schedule.open(now);
    const next = schedule.after(present?.end ?? now, LOOKED_AT);
    const windows = [...(present === undefined ? [] : [present]), ...next];
    return [{ rule, brownout, schedule, windows, until: windows.at(-1)?.end ?? now }];
  });
  return all.flatMap((one, at) =>
    all.slice(0, at).flatMap((other): readonly OverlappingBrownouts[] => {
      const isAllowed = one.brownout.allowLong && other.brownout.allowLong;
      if (isAllowed || !mayShareClient(one, other)) return [];
      // The windows of the rule that fires less often reach further.
      const [sparse, dense] = one.until >= other.until ? [one, other] : [other, one];
      const window = sparse.windows.find(({ start, end }) => {
        return dense.schedule.open(start) !== undefined || (dense.schedule.after(start, 1)[0]?.start ?? end) < end;
      });
      return window === undefined ? [] : [{ rule: one.rule, other: other.rule, window }];
    }),
  );
}

type NamedClients = { readonly rule: Pick<Rule, "match">; readonly brownout: Pick<BrownoutSettings, "exempt"> };

/** By their names alone: percentages of one file always have clients in common. */
function mayShareClient(one: NamedClients, other: NamedClients): boolean {
  const [named, others] = [one.rule.match.clients, other.rule.match.clients];
  const isTaken = (name: string, by: NamedClients) =>
    (by.rule.match.clients?.has(name) ?? true) && !by.brownout.exempt.has(name);
  const listed = named ?? others;
  return listed === undefined || [...listed].some((name) => isTaken(name, one) && isTaken(name, other));
}

/** For the fault of a file with too many. */
export const TOO_MANY = `more than ${counted(MAX_BROWNOUTS, "rule")} with mode: brownout`;
