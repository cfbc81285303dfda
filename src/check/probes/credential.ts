/** Does the platform take the credential that the check was given? */
import { member } from "../../model/json.ts";
import type { Answer } from "../api.ts";
import { shownStatus } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";

const say = sayFor("credential");
/** With less time left a finding may come from the token's end rather than from the platform. */
const SHORT_SECONDS = 300;

/** `answer`: what a list said. `now`: milliseconds since 1970. A finding of level ok or note means that reading can go on. */
export function judgeCredential(token: string | undefined, answer: Answer, now: number): Finding {
  if (token === undefined) {
    return say.warn(
      "none was given: what needs one is not judged",
      "name a file with a token of the platform: --token-file",
    );
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

/** Seconds until the token says that it ends; read without trusting it, undefined when it does not say. */
function secondsLeft(token: string, now: number): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const end = member(claims, "exp");
    return typeof end === "number" ? end - now / 1000 : undefined;
  } catch {
    return undefined;
  }
}
