/**
 * Whether each step of the walkthrough did what it promises, as its clients and the platform saw it. The runbook itself asks carryover;
 * these proofs do not rely on it.
 */

/**
 * @typedef {{ seen: readonly any[], sent: readonly any[], before: number }} Facts what clients saw, and what reached the platform, since the
 * step's last change; `before`: how much of `seen` is from before the last command
 */

/** By step: what must be true when it is done, and when it has been taken back; a text says what is not. `staysBack`: it is not taken forth again. */
export const PROOFS = new Map([
  ["install", { done: only("native"), back: only(undefined) }],
  ["identify", { done: only("native"), back: only("native") }],
  ["replay", { done: (facts) => only("native")(facts) ?? replayed(facts), back: only("native") }],
  ["shadow-1", { done: native, back: only("native") }],
  ["shadow-10", { done: native, back: native }],
  ["shadow-100", { done: (facts) => native(facts) ?? reads(facts, only("shadow")), back: native }],
  ["differ", { done: native, back: native }],
  ["shadow-writes", { done: (facts) => native(facts) ?? writesOnce(facts), back: native }],
  ["one-operation", { done: oneOperation, back: native }],
  ["reads-1", { done: share(0, 0.1), back: oneOperation }],
  ["reads-10", { done: share(0.02, 0.25), back: share(-1, 0.1) }],
  ["reads-50", { done: share(0.3, 0.7), back: share(-1, 0.3) }],
  ["step-back", { done: share(0.3, 0.7), back: share(0.2, 0.8) }],
  ["sick", { done: share(0.3, 0.7), back: share(0.2, 0.8) }],
  ["emergency", { done: only("native"), back: share(0.2, 0.8), staysBack: true }],
  [
    "reads-100",
    { done: (facts) => reads(facts, only("translate")) ?? writes(facts, only("shadow")), back: share(0.2, 0.8) },
  ],
  [
    "promote",
    { done: allTranslated, back: (facts) => reads(facts, only("translate")) ?? writes(facts, only("shadow")) },
  ],
  [
    "headers",
    { done: (facts) => allTranslated(facts) ?? told(facts), back: (facts) => allTranslated(facts) ?? untold(facts) },
  ],
  ["chase", { done: allTranslated, back: allTranslated, staysBack: true }],
  ["brownouts", { done: allTranslated, back: allTranslated, staysBack: true }],
  ["refuse", { done: allTranslated, back: allTranslated }],
  ["without-native", { done: (facts) => allTranslated(facts) ?? noV1(facts), back: allTranslated }],
  ["rehearse", { done: nobodyOnV1, back: nobodyOnV1 }],
  ["remove", { done: only(undefined), back: nobodyOnV1 }],
]);

const HISTORY = /\/history$/;
/** True for a path of v1. */
export const isV1 = (target) => /^\/[a-z]+\/v1\//.test(target);
/** What v2 lacks is native's whatever the rules say. */
const ruled = (seen) => seen.filter((one) => isV1(one.target) && !HISTORY.test(one.target));

function only(mode) {
  return ({ seen }) => {
    const others = ruled(seen).filter((one) => one.mode !== mode);
    return others.length === 0
      ? undefined
      : `${others.length} v1 answers were ${others[0].mode}, not ${mode}: ${others[0].target}`;
  };
}

/** Native answered, compared or not. */
function native({ seen }) {
  const others = ruled(seen).filter(({ mode }) => mode !== "native" && mode !== "shadow");
  return others.length === 0 ? undefined : `${others.length} v1 answers were ${others[0].mode}`;
}

function reads(facts, proof) {
  return proof({ ...facts, seen: facts.seen.filter(({ write }) => !write) });
}

function writes(facts, proof) {
  return proof({ ...facts, seen: facts.seen.filter(({ write }) => write) });
}

function allTranslated(facts) {
  return only("translate")(facts);
}

/** Nothing was written to v2 beside what clients wrote to v1. */
function writesOnce({ sent }) {
  const wrong = sent.filter(({ method, target }) => method !== "GET" && /^\/[a-z]+\/v2/.test(target));
  return wrong.length === 0 ? undefined : `shadow wrote to v2: ${wrong[0].method} ${wrong[0].target}`;
}

function oneOperation({ seen }) {
  const isIt = ({ subject, write, target }) =>
    subject === "ci@example.com" && !write && target.startsWith("/iam/v1/groups");
  const wrong = ruled(seen).filter((one) => (one.mode === "translate") !== isIt(one));
  if (wrong.length > 0) return `${wrong[0].subject} ${wrong[0].target} was ${wrong[0].mode}`;
  return ruled(seen).some(isIt) ? undefined : "ci made no such call";
}

/** More than `least` and at most `most` of the clients are translated, each with all of its reads, and none of their writes. */
function share(least, most) {
  return ({ seen }) => {
    const modes = new Map();
    for (const { subject, write, mode } of ruled(seen)) {
      if (write && mode === "translate") return `a write of ${subject} was translated`;
      if (write || subject === "ci@example.com") continue;
      modes.set(subject, (modes.get(subject) ?? new Set()).add(mode === "translate"));
    }
    const torn = [...modes].filter(([, sides]) => sides.size > 1);
    if (torn.length > 0) return `${torn[0][0]} was on both sides`;
    const part = [...modes.values()].filter((sides) => sides.has(true)).length / modes.size;
    return part > least && part <= most ? undefined : `${part} of the clients are translated`;
  };
}

/** The platform got each read that clients made twice more for native v1, calls of v2 for the translation, and nothing was written. */
function replayed({ seen, before, sent }) {
  const writes = (calls) => calls.filter(({ method, write }) => write ?? method !== "GET").length;
  if (writes(sent) !== writes(seen)) return "the replay wrote to the platform";
  const made = (calls, target) => calls.filter((one) => one.target === target).length;
  const recorded = ruled(seen.slice(0, before)).filter(({ write }) => !write);
  for (const target of new Set(recorded.map((one) => one.target))) {
    const times = made(recorded, target);
    const more = made(sent, target) - made(seen, target);
    if (more !== 2 * times) return `${times} reads of ${target} were repeated ${more} times, not twice each`;
  }
  return sent.some(({ target }) => /^\/iam\/v2/.test(target)) ? undefined : "nothing was translated";
}

/** The walkthrough's brownout: clients that it refuses, and the proof of a time within its window. */
export const brownoutWindow = {
  refused: ["ci@example.com", "backup@example.com", "legacy@example.com"],
  proof({ seen, sent }) {
    const unexpected = ruled(seen).filter(({ subject, status }) => {
      return status < 300 === brownoutWindow.refused.includes(subject);
    });
    // It failed its exam a minute ago, and is passed over as soon as a replica knows of that.
    const wrong = unexpected.find(({ subject }) => subject !== "scripts@example.com");
    if (wrong !== undefined) return `${wrong.subject} got ${wrong.status} for ${wrong.target}`;
    const through = sent.find(({ subject }) => brownoutWindow.refused.includes(subject));
    return through && `a call of ${through.subject} reached the platform: ${through.target}`;
  },
};

/** True for a refusal of a brownout, within its window. */
export function isBrownout({ subject, target, status, sentAt, text }) {
  if (status !== 400 || !isV1(target) || subject === "ui@example.com" || subject === "audit@example.com") return false;
  const { code, details = [] } = JSON.parse(text);
  const { reason, metadata } = details[0] ?? {};
  const isInside = Date.now() >= Date.parse(metadata?.from) && sentAt < Date.parse(metadata?.until);
  return code === 9 && reason === "BROWNOUT" && isInside;
}

/** True for a call of a client in a rehearsal that v2 lacks. */
export function isNotTranslated({ subject, target, status, text }) {
  return subject === "scripts@example.com" && HISTORY.test(target) && status === 501 && /NOT_TRANSLATABLE/.test(text);
}

function told({ seen }) {
  const silent = ruled(seen).find(({ headers }) => headers.deprecation === undefined || headers.sunset === undefined);
  if (silent !== undefined) return `${silent.target} was told of no end`;
  const links = ruled(seen).filter(({ headers }) => /rel="successor-version"/.test(headers.link ?? ""));
  return links.length > 0 ? undefined : "no answer named its successor";
}

function untold({ seen }) {
  return ruled(seen).some(({ headers }) => headers.deprecation !== undefined)
    ? "answers still tell of the end"
    : undefined;
}

function noV1({ sent }) {
  const wrong = sent.filter(({ target }) => isV1(target));
  return wrong.length === 0 ? undefined : `native v1 was asked: ${wrong[0].target}`;
}

function nobodyOnV1({ seen }) {
  const wrong = seen.filter(({ target }) => isV1(target));
  return wrong.length === 0 ? undefined : `${wrong[0].subject} called ${wrong[0].target}`;
}
