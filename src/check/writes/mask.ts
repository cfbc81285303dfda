/** How does v2 want the fields of an update spelt, and does it clear what is to become zero? */

import type { Config } from "../../config.ts";
import { member } from "../../model/json.ts";
import { type Answer, shownStatus } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";
import type { ScratchGroup } from "./scratch-group.ts";

const say = sayFor("mask");
const PATH = "upstream.v2.maskSpelling";

/** No claim of anybody matches it: the identity can be assumed by nobody. */
const NOBODY = { issuer: "https://carryover-check.invalid", subject: "nobody" };

/** A group's fields are spelt alike in both; the cheapest field that is not is an identity's `claimMatch`. */
export async function checkMask(scratch: ScratchGroup, config: Config): Promise<readonly Finding[]> {
  const findings = [await clears(scratch)];
  const uid = await scratch.create(scratch.identities, {
    name: "carryover-check",
    description: "",
    claimMatch: NOBODY,
  });
  if (uid === undefined) {
    return [
      ...findings,
      say.skipped(
        "no identity can be made to try it with",
        "name a group in which this credential may create identities",
      ),
    ];
  }
  const camel = await takes(scratch, uid, "claimMatch", "camel");
  const snake = await takes(scratch, uid, "claim_match", "snake");
  return [...findings, judge(config.upstream.v2.maskSpelling, camel, snake)];
}

interface Tried {
  readonly answer: Answer;
  readonly taken: boolean;
}

/** Taken: not only answered 200, but stored. */
async function takes({ api, identities }: ScratchGroup, uid: string, mask: string, subject: string): Promise<Tried> {
  const target = `${identities.path}/${uid}?updateMask=${mask}`;
  const answer = await api.write("PATCH", target, { claimMatch: { ...NOBODY, subject } });
  const stored = member(member(answer.json, "claimMatch"), "subject");
  return { answer, taken: answer.status === 200 && stored === subject };
}

function judge(configured: string, camel: Tried, snake: Tried): Finding {
  const seen = `claimMatch: ${shownStatus(camel.answer)}; claim_match: ${shownStatus(snake.answer)}`;
  if (camel.taken && snake.taken) return say.ok(`both spellings are taken; ${configured} is right`);
  if (!camel.taken && !snake.taken) {
    return say.fail(
      `neither spelling is taken (${seen})`,
      "v1 updates would fail: see whether this credential may update identities",
    );
  }
  const right = camel.taken ? "camelCase" : "snake_case";
  const what = `only ${right} is taken (${seen})`;
  if (configured === right) return say.ok(what);
  const set = { path: PATH, value: right };
  if (configured === "auto")
    return say.note(what, "auto learns it by a first call that is refused; this spares that call", set);
  return say.fail(what, "v1 updates are refused with the spelling that is set", set);
}

/** A v1 PUT that leaves a field out clears it by naming it with its zero. */
async function clears({ api, groups, uid }: ScratchGroup): Promise<Finding> {
  const answer = await api.write("PATCH", `${groups.path}/${uid}?updateMask=description`, { description: "" });
  if (answer.status !== 200)
    return say.fail(`an update is refused (${shownStatus(answer)})`, "see whether this credential may update groups");
  const stored = member(answer.json, "description") ?? "";
  if (stored === "") return say.ok("a field that is named with its zero is cleared");
  return say.fail(
    "a field that is named with its zero keeps its value",
    "v1 updates would be answered UPDATE_INCOMPLETE: have the platform's operators look at it",
  );
}
