/** Events outside carryover during a step of the walkthrough (`<!-- meanwhile: NAME -->`). */
import { setTimeout as pause } from "node:timers/promises";
import { brownoutWindow, isBrownout, isNotTranslated } from "./proofs.mjs";
import { Broken, callUntil, mark, noFaults } from "./stage.mjs";

const AGENT = /^agent-/;

/** By name; each is given the walkthrough's `world`. One that returns `SAME` changes nothing: what was seen before it still counts. */
export const MEANWHILE = new Map([
  ["clients-come-through", ({ through }) => through("carryover")],
  ["clients-go-direct", ({ through }) => through("platform")],
  ["clients-call", clientsCall],
  [
    "v2-goes-wrong",
    async ({ platform, clients, replicas }) => {
      set(platform.moods, "v2Wrong", true);
      if (replicas.length === 1) return;
      for (let round = 0; round < 3; round++) await clients.round();
      await pause(SHARED_MS);
    },
  ],
  ["v2-is-mended", ({ platform }) => set(platform.moods, "v2Wrong", false)],
  ["v2-falls-sick", ({ platform }) => set(platform.moods, "v2Sick", true)],
  ["v2-is-well", ({ platform }) => set(platform.moods, "v2Sick", false)],
  ["audit-changes", ({ clients }) => set(clients.state, "withoutHistory", true)],
  ["most-clients-move", ({ clients }) => move(clients, (subject) => AGENT.test(subject))],
  ["a-rare-job-runs", rareJobRuns],
  ["tuesday-comes", tuesdayComes],
  ["the-window-opens", windowOpens],
  ["the-window-ends", windowEnds],
  ["the-rest-moves", ({ clients }) => move(clients, () => true)],
  ["native-v1-ends", ({ platform }) => set(platform.moods, "v1Gone", true)],
  ["quiet-time-passes", ({ clients }) => calling(clients, QUIET_MS)],
  ["carryover-stops", ({ stop }) => stop()],
]);

/** For a change that is none. */
export const SAME = Symbol("same");

/** Until each replica knows what the others counted. */
const SHARED_MS = 10_000;
/** More than `QUIET` of the walkthrough. Whoever still calls v1 does so meanwhile. */
const QUIET_MS = 5_500;
/** Every client that calls rarely has called by then, the backup included. */
const ALL_CALLED = 5;
/** So that no replica gets more calls in a second than it records; also longer than a recording keeps lines in memory. */
const SECOND_MS = 1_000;

async function clientsCall({ clients }) {
  for (let round = 0; round < ALL_CALLED; round++) {
    await clients.round();
    await pause(SECOND_MS);
  }
  return SAME;
}

/** Calls before the rare one: more than `minRequests` of the rehearsal, so that one refusal does not stop it. */
const ORDINARY_ROUNDS = 12;

/** A client in a rehearsal calls for once what v2 lacks. */
async function rareJobRuns(world) {
  const { state, round } = world.clients;
  for (let count = 0; count < ORDINARY_ROUNDS; count++) await round();
  noFaults(world);
  state.refused = [];
  state.mayRefuse = isNotTranslated;
  state.withRareJob = true;
  await round();
  state.withRareJob = false;
  state.mayRefuse = () => false;
  noFaults(world);
  if (state.refused.length !== 1) throw new Broken("the rehearsal did not refuse what v2 lacks");
}

const MINUTE = 60_000;
/** Replicas read the file first. */
const AHEAD_MS = 5_000;
/** The shortest window is a minute; `until` ends it sooner. */
const WINDOW_MS = 40_000;
const WEEKLY = /from: \S+, until: \S+ (.*\n.*\n.*)cron: "0 9 \* \* 2", zone: Europe\/Vienna, duration: 5m/;

/** The weekly brownout of the rules file begins with the next minute, and happens once. */
function tuesdayComes({ shell }) {
  const start = new Date(Math.ceil((Date.now() + AHEAD_MS) / MINUTE) * MINUTE);
  const until = new Date(start.getTime() + WINDOW_MS).toISOString();
  const cron = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
  const rules = shell.read("rules.yaml");
  const changed = rules.replace(WEEKLY, `until: ${until} $1cron: "${cron}", zone: UTC, duration: 1m`);
  if (changed === rules) throw new Broken("the rules file has no weekly brownout");
  shell.write("rules.yaml", changed);
}

/** Clients call until every replica refuses them, and each that should be refused was. */
async function windowOpens(world) {
  const { state } = world.clients;
  state.refused = [];
  state.mayRefuse = isBrownout;
  const isEverywhere = ({ url }) => state.refused.some(({ at }) => at === url);
  const isHit = (subject) => state.refused.some((one) => one.subject === subject);
  const isOpen = () => world.replicas.every(isEverywhere) && brownoutWindow.refused.every(isHit);
  await callUntil(world, isOpen, "the brownout does not refuse on every replica");
  mark(world);
  for (let round = 0; round < world.replicas.length; round++) await world.clients.round();
  noFaults(world);
  const { subjectOf } = world.clients;
  const sent = world.platform.sent.slice(world.sentBefore).map((one) => ({ ...one, subject: subjectOf(one.token) }));
  const wrong = brownoutWindow.proof({ seen: state.seen, sent });
  if (wrong !== undefined) throw new Broken(`in the window: ${wrong}`);
}

/** One of those that were refused moves meanwhile; the others call as before, and every replica serves them. */
async function windowEnds(world) {
  const { state } = world.clients;
  state.onV2.add("backup@example.com");
  const { until } = JSON.parse(state.refused[0].text).details[0].metadata;
  const isServed = ({ url }) =>
    state.seen.some(({ subject, at, status, sentAt }) => {
      return subject === "ci@example.com" && at === url && status === 200 && sentAt >= Date.parse(until);
    });
  await callUntil(world, () => world.replicas.every(isServed), "clients are not served after the window");
  state.mayRefuse = () => false;
}

async function calling(clients, ms) {
  for (const until = Date.now() + ms; Date.now() < until; await clients.round());
}

function set(target, key, value) {
  target[key] = value;
}

function move({ state, subjects }, who) {
  for (const subject of subjects.filter(who)) state.onV2.add(subject);
}
