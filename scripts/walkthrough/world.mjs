/** What happens around the operators while they follow the runbook? (Clients move, platforms fail: `<!-- meanwhile: NAME -->`.) */

const AGENT = /^agent-/;

/** By name; each is given the walkthrough's `world`. */
export const MEANWHILE = new Map([
  ["clients-come-through", ({ through }) => through("carryover")],
  ["clients-go-direct", ({ through }) => through("platform")],
  ["v2-goes-wrong", ({ platform }) => set(platform.moods, "v2Wrong", true)],
  ["v2-is-mended", ({ platform }) => set(platform.moods, "v2Wrong", false)],
  ["audit-changes", ({ clients }) => set(clients.state, "withoutHistory", true)],
  ["most-clients-move", ({ clients }) => move(clients, (subject) => AGENT.test(subject))],
  ["the-rest-moves", ({ clients }) => move(clients, () => true)],
  ["native-v1-ends", ({ platform }) => set(platform.moods, "v1Gone", true)],
  ["quiet-time-passes", () => pause(5_500)],
  ["carryover-stops", ({ stop }) => stop()],
]);

/** Resolves after `ms` milliseconds. */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function set(target, key, value) {
  target[key] = value;
}

function move({ state, subjects }, who) {
  for (const subject of subjects.filter(who)) state.onV2.add(subject);
}
