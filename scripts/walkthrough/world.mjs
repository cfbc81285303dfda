/** What is around carryover in the walkthrough: the platform behind it, and what happens meanwhile (`<!-- meanwhile: NAME -->`). */
import { setTimeout as pause } from "node:timers/promises";

/** Starts it. `moods` is for the walkthrough to change. */
export async function startPlatform(createSandbox) {
  const moods = {
    /** v2 shows other descriptions than are stored: a platform's fault that only a comparison finds. */
    v2Wrong: false,
    /** v2 responds to every call with 503. */
    v2Sick: false,
    /** Native v1 has been switched off. */
    v1Gone: false,
  };
  /** Each call that arrived. */
  const sent = [];
  const sandbox = createSandbox({
    faults: (next) => {
      const mood = faulty(next, moods);
      return (request, options) => {
        sent.push({ method: request.method, target: request.target });
        return mood(request, options);
      };
    },
  });
  const { url } = await sandbox.listen();
  return { sandbox, url, moods, sent };
}

const text = new TextDecoder();
const bytes = new TextEncoder();
const HISTORY = bytes.encode('{"items":[]}');
const JSON_TYPE = [["content-type", "application/json"]];
const SICK = bytes.encode('{"code":14,"message":"v2 is sick","details":[]}');
const GONE = bytes.encode('{"code":12,"message":"v1 is gone","details":[]}');

function faulty(next, moods) {
  return async (request, options) => {
    const [, , version = ""] = request.target.split("/");
    if (moods.v1Gone && version.startsWith("v1") && !request.target.startsWith("/sts/")) {
      return { status: 501, headers: JSON_TYPE, body: GONE };
    }
    // An operation that v2 lacks: the sandbox has none of those.
    if (/^\/registry\/v1\/tags\/[^?]+\/history$/.test(request.target))
      return { status: 200, headers: JSON_TYPE, body: HISTORY };
    if (moods.v2Sick && version.startsWith("v2")) return { status: 503, headers: JSON_TYPE, body: SICK };
    const answer = await next(request, options);
    const wrong = moods.v2Wrong && version.startsWith("v2") && request.method === "GET";
    if (!wrong) return answer;
    const body = bytes.encode(text.decode(answer.body).replaceAll('"description":"', '"description":"?'));
    const headers = answer.headers.filter(([name]) => name !== "content-length");
    return { ...answer, headers, body };
  };
}

const AGENT = /^agent-/;

/** By name; each is given the walkthrough's `world`. */
export const MEANWHILE = new Map([
  ["clients-come-through", ({ through }) => through("carryover")],
  ["clients-go-direct", ({ through }) => through("platform")],
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
  ["the-rest-moves", ({ clients }) => move(clients, () => true)],
  ["native-v1-ends", ({ platform }) => set(platform.moods, "v1Gone", true)],
  ["quiet-time-passes", ({ clients }) => calling(clients, QUIET_MS)],
  ["carryover-stops", ({ stop }) => stop()],
]);

/** Until each replica knows what the others counted. */
const SHARED_MS = 10_000;
/** More than `QUIET` of the walkthrough. Whoever still calls v1 does so meanwhile. */
const QUIET_MS = 5_500;

async function calling(clients, ms) {
  for (const until = Date.now() + ms; Date.now() < until; await clients.round());
}

function set(target, key, value) {
  target[key] = value;
}

function move({ state, subjects }, who) {
  for (const subject of subjects.filter(who)) state.onV2.add(subject);
}
