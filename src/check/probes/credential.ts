/** Does the platform take the credential that the check was given? */

import type { Config } from "../../config.ts";
import { member } from "../../model/json.ts";
import type { Answer } from "../api.ts";
import { shownStatus } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";
import { HOW_TO_GIVE } from "../token.ts";

const say = sayFor("credential");
/** With less time left a finding may come from the token's end rather than from the platform. */
const SHORT_SECONDS = 300;

/** `answer`: what a list said. `now`: milliseconds since 1970. A finding of level ok or note means that reading can go on. */
export function judgeCredential(token: string | undefined, answer: Answer, now: number): Finding {
  if (token === undefined) {
    return say.skipped("none was given: what needs one is not judged", `give a token of the platform, ${HOW_TO_GIVE}`);
  }
  const left = secondsLeft(token, now);
  if (answer.status === 401) {
    const why = left !== undefined && left <= 0 ? `; it ended ${Math.ceil(-left / 60)} minutes ago` : "";
    return say.fail(
      `the platform refuses it (${shownStatus(answer)})${why}`,
      "get a new token (they live for an hour), for the audience of this platform",
    );
  }
  if (answer.status === 403) {
    return say.note("the platform takes it, but it may not list groups", "check with a token that may read more");
  }
  if (left !== undefined && left < SHORT_SECONDS) {
    return say.note(
      `accepted, for ${Math.max(0, Math.floor(left))} more seconds`,
      "get a fresh token before the next check",
    );
  }
  return say.ok("accepted");
}

/**
 * Whether tokens exchanged through carryover will be for the audience that this accepted one is for. Only where there is
 * an exchange, and only when the token says.
 */
export function judgeAudience(token: string | undefined, answer: Answer, { upstream }: Config): readonly Finding[] {
  const audience = member(claimsOf(token ?? ""), "aud");
  if (upstream.sts === undefined || answer.status !== 200 || audience === undefined) return [];
  const { audience: configured } = upstream.v2;
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (all.includes(configured)) return [say.ok("the token is for the audience that exchanged tokens will have")];
  const remedy = "a v1 client that asks for an audience of carryover's own gets one that the platform may refuse";
  const [only] = all;
  if (all.length !== 1 || typeof only !== "string" || !/^[\x21-\x7e]{1,200}$/.test(only)) {
    return [say.warn("the token is for other audiences than upstream.v2.audience", remedy)];
  }
  const set = { path: "upstream.v2.audience", value: only };
  return [say.warn(`the token is for ${only}, upstream.v2.audience is ${configured}`, remedy, set)];
}

/** Seconds until the token says that it ends; undefined when it does not say. */
function secondsLeft(token: string, now: number): number | undefined {
  const end = member(claimsOf(token), "exp");
  return typeof end === "number" ? end - now / 1000 : undefined;
}

/** What the token says of itself, read without trusting it. */
function claimsOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
