/** Token exchange: the audience that names carryover itself becomes the platform's own. Nothing else is looked at. */
import { type HeaderList, header } from "../model/http.ts";

/** An `aud` of the first becomes the second; without the first, nothing does. */
export interface Audience {
  readonly from: string | undefined;
  readonly to: string;
}

/** A form, as the token service reads it: parameters behind the media type do not count. JSON bodies mean nothing to it. */
export function isForm(headers: HeaderList): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(header(headers, "content-type") ?? "");
}

/** `pairs` (a query, or a form as latin1), every byte of it as it was but for the value of such an `aud`. */
export function withAudience(pairs: string, { from, to }: Audience): string {
  if (from === undefined) return pairs;
  const shown = pairs.split("&").map((pair) => {
    return pair.startsWith("aud=") && isAudience(pair.slice("aud=".length), from)
      ? `aud=${encodeURIComponent(to)}`
      : pair;
  });
  return shown.join("&");
}

function isAudience(value: string, audience: string): boolean {
  try {
    return isSameAudience(decodeURIComponent(value.replaceAll("+", " ")), audience);
  } catch {
    return false;
  }
}

/** A slash at the end does not count. */
export function isSameAudience(value: string, audience: string): boolean {
  return value.replace(/\/$/, "") === audience.replace(/\/$/, "");
}
