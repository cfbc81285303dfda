/** Does a rule take this one of the requests that it is about? (Design section 7: header, then cookie, then percentage.) */
import type { HeaderList } from "../model/message.ts";
import { header } from "../model/message.ts";
import type { RuleMatch } from "../model/rules.ts";
import { isTaken } from "./bucket.ts";

/** The value of header or cookie that keeps a request away from a rule. */
export const NEVER = "never";

/** What decided. `all`: the rule looks at nothing. `unselected`: neither header nor cookie spoke, and there is no percentage. */
export type Canary =
  | { readonly taken: true; readonly by: "all" | "header" | "cookie" | "percent" }
  | { readonly taken: false; readonly by: "header" | "cookie" | "percent" | "unselected" };

/** What a rule may ask about a request. */
export interface Signs {
  /** The first header field of this lower-case name. */
  header(name: string): string | undefined;
  /** The first cookie of this name. */
  cookie(name: string): string | undefined;
  /** The client's, 0 to 100. */
  bucket(): number;
}

const BY_ALL: Canary = { taken: true, by: "all" };
const BY_HEADER: Canary = { taken: true, by: "header" };
const BY_COOKIE: Canary = { taken: true, by: "cookie" };
const BY_PERCENT: Canary = { taken: true, by: "percent" };
const NOT_BY_HEADER: Canary = { taken: false, by: "header" };
const NOT_BY_COOKIE: Canary = { taken: false, by: "cookie" };
const NOT_BY_PERCENT: Canary = { taken: false, by: "percent" };
const UNSELECTED: Canary = { taken: false, by: "unselected" };

/** The order that operators know from ingress controllers: the first of header, cookie and percentage that says something decides. */
export function canaryOf(match: Pick<RuleMatch, "header" | "cookie" | "percent">, signs: Signs): Canary {
  if (match.header !== undefined) {
    const value = signs.header(match.header.name);
    if (value === match.header.value) return BY_HEADER;
    if (value === NEVER) return NOT_BY_HEADER;
  }
  if (match.cookie !== undefined) {
    const value = signs.cookie(match.cookie.name);
    if (value === match.cookie.value) return BY_COOKIE;
    if (value === NEVER) return NOT_BY_COOKIE;
  }
  if (match.percent !== undefined) return isTaken(signs.bucket(), match.percent) ? BY_PERCENT : NOT_BY_PERCENT;
  return match.header === undefined && match.cookie === undefined ? BY_ALL : UNSELECTED;
}

/** The signs of one request. The bucket is worked out at most once, and only when a rule asks for it. */
export function signsOf(headers: HeaderList, client: string, bucketOf: (client: string) => number): Signs {
  let bucket: number | undefined;
  return {
    header: (name) => header(headers, name),
    cookie: (name) => cookieOf(headers, name),
    bucket: () => {
      bucket ??= bucketOf(client);
      return bucket;
    },
  };
}

/** The value of the first cookie called `name` in all Cookie fields (RFC 6265 section 4.2.1), without quotes around it. */
export function cookieOf(headers: HeaderList, name: string): string | undefined {
  for (const [field, value] of headers) {
    if (field !== "cookie") continue;
    for (const pair of value.split(";")) {
      const equals = pair.indexOf("=");
      if (equals >= 0 && pair.slice(0, equals).trim() === name) return unquoted(pair.slice(equals + 1).trim());
    }
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}
