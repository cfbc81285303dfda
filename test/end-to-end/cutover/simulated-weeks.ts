/** A platform, one carryover and a dozen clients in simulated time: weeks pass in a minute. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { type CommandResult, runCommand } from "../../../scripts/command.ts";
import type { Timer } from "../../../src/model/clock.ts";
import type { SendLayer } from "../../../src/model/http.ts";
import { type Carryover, startCarryover } from "../../support/carryover.ts";
import { send, later as takeDown } from "../app/rig.ts";
import { folder, LACKING, serveLacking } from "./rig.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const MINUTE = 60_000;
export const HERE = "http://127.0.0.1:8081";
/** A Monday. */
export const START = Date.UTC(2026, 10, 30);
const TOKEN = "0123456789-admin-token";

/** Timers of files and state that are due sooner run once in so much simulated time. */
const LEAST_MS = 30 * MINUTE;

export interface SimulatedTime {
  readonly now: () => number;
  readonly later: Timer;
  /** Sets the clock, and runs what is due. */
  goTo(at: number): void;
}

/** Only `Date` is simulated: sockets and deadlines keep real time. */
export function simulateTime(start: number): SimulatedTime {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  takeDown(async () => void vi.useRealTimers());
  const due = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: Date.now,
    later: (ms, run) => {
      // The second look at a changed file follows at once.
      if (ms <= 100) {
        const timer = setTimeout(run, 1);
        return () => clearTimeout(timer);
      }
      const one = { at: Date.now() + Math.max(ms, LEAST_MS), run };
      due.add(one);
      return () => void due.delete(one);
    },
    goTo: (at) => {
      vi.setSystemTime(at);
      for (const one of [...due]) {
        if (one.at > at) continue;
        due.delete(one);
        one.run();
      }
    },
  };
}

/** What is wrong with v2, by the simulated clock. */
export interface Faults {
  /** v2 answers 503. */
  readonly outage: readonly [from: number, to: number];
  /** v2 changes one member of roles. */
  readonly wrongRow: readonly [from: number, to: number];
}

const isIn = ([from, to]: readonly [number, number]) => Date.now() >= from && Date.now() < to;

function sickV2({ outage, wrongRow }: Faults): SendLayer {
  return (next) => async (request, options) => {
    if (!request.target.includes("/v2beta1/")) return serveLacking(next)(request, options);
    if (isIn(outage)) {
      const headers = [["content-type", "application/json"]] as const;
      return { status: 503, headers, body: Buffer.from('{"code":14,"message":"sick","details":[]}') };
    }
    const response = await next(request, options);
    if (!request.target.includes("/roles") || !isIn(wrongRow)) return response;
    const headers = response.headers.filter(([name]) => name !== "content-length");
    const text = Buffer.from(response.body).toString().replaceAll('"description":"', '"description":"the ');
    return { ...response, headers, body: Buffer.from(text) };
  };
}

export interface Call {
  readonly method: string;
  readonly target: string;
  readonly body?: object;
}

/** A client, and what it sends. */
export interface Habit {
  readonly name: string;
  readonly perHour: number;
  /** Hours of the day; default: a quarter as often at night. */
  readonly hours?: readonly number[];
  /** Its `at`th call of v1. */
  call(at: number, known: Sandbox["wellKnown"]): Call;
}

const get = (target: string): Call => ({ method: "GET", target });
const GROUPS = "/iam/v1/groups";
const childrenOf = (uid: string) => get(`${GROUPS}?uidp.children_of=${uid}`);

export const HABITS: readonly Habit[] = [
  {
    name: "dashboard",
    perHour: 6,
    call: (at, { rootGroup }) => (at % 2 === 0 ? get("/iam/v1/roles?name=viewer") : childrenOf(rootGroup)),
  },
  {
    name: "portal",
    perHour: 6,
    call: (at, { someGroup }) => (at % 2 === 0 ? childrenOf(someGroup) : get("/iam/v1/roles?name=editor")),
  },
  { name: "ci-bot", perHour: 8, call: (at) => get(`/registry/v1/repos?name=repo-${at % 50}`) },
  { name: "scanner", perHour: 6, call: () => get("/registry/v1/repos") },
  {
    name: "terraform",
    perHour: 4,
    call: (at, { emptyGroup, someGroup }) =>
      at % 4 === 0
        ? { method: "PUT", target: `${GROUPS}/${emptyGroup}`, body: { name: "team", description: `plan ${at}` } }
        : get(`${GROUPS}?id=${at % 2 === 0 ? emptyGroup : someGroup}`),
  },
  {
    name: "onboarding",
    perHour: 2,
    call: (at, { rootGroup }) => ({ method: "POST", target: `${GROUPS}/${rootGroup}`, body: { name: `new-${at}` } }),
  },
  { name: "auditor", perHour: 3, call: (at) => get(`/iam/v1/roles?name=${at % 2 === 0 ? "owner" : "viewer"}`) },
  { name: "inventory", perHour: 1, call: () => get(GROUPS) },
  { name: "nightly", perHour: 1, hours: [1], call: () => get("/iam/v1/identities") },
  {
    name: "legacy-sync",
    perHour: 3,
    call: (at, { rootGroup }) => (at % 3 === 0 ? get(LACKING) : childrenOf(rootGroup)),
  },
];

/** What a client does on v1: everything, everything that v2 has as well, or nothing. */
export type Use = "all" | "without what v2 lacks" | "none";

export interface Weeks {
  readonly time: SimulatedTime;
  readonly rulesPath: string;
  /** What each client does now. */
  readonly use: Map<string, Use>;
  /** v1 requests by mode of the response, one map for each day. */
  readonly days: Map<number, Map<string, number>>;
  /** How many requests clients sent. */
  sent(): number;
  /** One hour of traffic, from now on. `busy`: each client sends one call each 30 s from 02:05 to 02:35. */
  hour(busy: boolean): Promise<void>;
  reload(): Promise<void>;
  restart(): Promise<void>;
  /** A command; `HERE` stands for the running instance. */
  run(...words: readonly string[]): Promise<CommandResult>;
  /** Of the configuration, for commands that ask no instance. */
  readonly flags: readonly string[];
}

export async function simulatedWeeks(rules: string, faults: Faults): Promise<Weeks> {
  const time = simulateTime(START);
  const sandbox = seededSandbox({ organisation: false, size: 300, faults: sickV2(faults) });
  takeDown(() => sandbox.close());
  const { url: platform } = await sandbox.listen();
  const dir = await folder();
  const [rulesPath, tokenFile, state] = [join(dir, "rules.yaml"), join(dir, "token"), join(dir, "state")];
  await writeFile(rulesPath, rules);
  await writeFile(tokenFile, TOKEN);
  const names = HABITS.filter(({ name }) => name !== "legacy-sync").map(({ name }) => {
    return { name, identity: name, owner: `team ${name}`, contact: `${name}@example.com` };
  });
  const config = join(dir, "carryover.yaml");
  await writeFile(config, JSON.stringify({ clients: { names } }));
  const days: Weeks["days"] = new Map();
  const start = (): Promise<Carryover> =>
    startCarryover({
      v2Url: platform,
      v1Url: platform,
      flags: {
        config,
        cutoverRulesFile: rulesPath,
        cutoverMode: "native",
        stateDir: state,
        adminTokenFile: tokenFile,
        // They count real time, of which a simulated hour has a few milliseconds.
        upstreamV2Breaker: "false",
        upstreamV1Breaker: "false",
      },
      clock: { wall: time.now, later: time.later },
      // It is looked at when the operator has written it.
      reloadMs: 365 * DAY,
      onExchange: ({ apiVersion, mode }) => {
        if (apiVersion !== "v1") return;
        const day = Math.floor((Date.now() - START) / DAY);
        const modes = days.get(day) ?? new Map<string, number>();
        days.set(day, modes.set(mode, (modes.get(mode) ?? 0) + 1));
      },
    });
  let carryover = await start();
  takeDown(() => carryover.close());
  const use = new Map<string, Use>(HABITS.map(({ name }) => [name, "all"]));
  const made = new Map<string, number>();
  let sent = 0;
  const ask = async (habit: Habit): Promise<void> => {
    const at = made.get(habit.name) ?? 0;
    made.set(habit.name, at + 1);
    const call = habit.call(at, sandbox.wellKnown);
    const mine = use.get(habit.name);
    if (call.target === LACKING && mine !== "all") return;
    // A client on v2 goes on with what it does.
    const target = mine === "none" ? "/iam/v2beta1/roles?page_size=1" : call.target;
    const method = mine === "none" ? "GET" : call.method;
    sent += 1;
    await send(carryover.url, sandbox, method, target, {
      as: `admin#${HABITS.indexOf(habit)}`,
      headers: { "user-agent": `${habit.name}/1.0` },
      ...(mine === "none" || call.body === undefined ? {} : { body: call.body }),
    });
  };
  return {
    time,
    rulesPath,
    use,
    days,
    sent: () => sent,
    hour: async (busy) => {
      const from = time.now();
      const hourOfDay = new Date(from).getUTCHours();
      const calls: { readonly at: number; readonly habit: Habit }[] = [];
      for (const habit of HABITS) {
        const isNight = hourOfDay < 7 || hourOfDay >= 20;
        const usual = isNight ? Math.ceil(habit.perHour / 4) : habit.perHour;
        // A client on v2 says nothing new.
        if (use.get(habit.name) === "none" && hourOfDay !== 12) continue;
        const count = habit.hours === undefined ? usual : habit.hours.includes(hourOfDay) ? habit.perHour : 0;
        const offset = HABITS.indexOf(habit) * 7_000;
        for (let at = 0; at < count; at++) calls.push({ at: from + offset + ((at + 0.5) * HOUR) / (count + 1), habit });
        if (!busy || habit.hours !== undefined) continue;
        for (let at = 5 * MINUTE; at < 35 * MINUTE; at += 30_000) calls.push({ at: from + at, habit });
      }
      for (const group of grouped(calls.toSorted((one, other) => one.at - other.at))) {
        time.goTo(group[0]?.at ?? from);
        await Promise.all(group.map(({ habit }) => ask(habit)));
        // Comparisons and native's answers come in the background.
        await sleep(busy ? 5 : 0);
      }
      await sleep(5);
      time.goTo(from + HOUR);
    },
    reload: () => carryover.reload(),
    restart: async () => {
      await carryover.close();
      carryover = await start();
    },
    run: (...words) =>
      runCommand(
        words.map((word) => (word === HERE ? carryover.adminUrl : word)),
        {
          env: { CARRYOVER_ADMIN_TOKEN: TOKEN },
          files: "disk",
        },
      ),
    flags: [
      "--config",
      config,
      "--upstream-v2-url",
      platform,
      "--upstream-v1-url",
      platform,
      "--cutover-mode",
      "native",
    ],
  };
}

/** Calls of the same moment. */
function grouped<T extends { readonly at: number }>(calls: readonly T[]): readonly (readonly T[])[] {
  const groups = new Map<number, T[]>();
  for (const call of calls) {
    const same = groups.get(call.at);
    if (same === undefined) groups.set(call.at, [call]);
    else same.push(call);
  }
  return [...groups.values()];
}
