/** Do this machine and the platform agree on the time? */
import { header } from "../../model/message.ts";
import type { Answer } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";

const say = sayFor("clock");
/** A `Date` field has whole seconds and travels; a minute is no accident. */
const TOLERATED_SECONDS = 60;

/** `now`: milliseconds since 1970, taken when `answer` had come. */
export function judgeClock(answer: Answer, now: number): Finding {
  const date = Date.parse(header(answer.response.headers, "date") ?? "");
  if (Number.isNaN(date)) return say.skipped("the platform's answers carry no date");
  const ahead = Math.round((now - date) / 1000);
  if (Math.abs(ahead) <= TOLERATED_SECONDS) return say.ok("this machine and the platform agree");
  const where = ahead > 0 ? "ahead of" : "behind";
  return say.warn(
    `this machine is ${Math.abs(ahead)} seconds ${where} the platform`,
    "set its clock (NTP): tokens live for an hour and certificates have an end, both judged by a clock",
  );
}
