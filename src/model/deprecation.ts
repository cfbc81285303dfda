/** What a client is told about v1's end, and where to go on (RFC 9745, RFC 8594, RFC 8288). */
import type { HeaderList } from "./http.ts";
import type { RuleHeaders } from "./rules.ts";

/** Fields of which an answer holds one: a second one would make both unreadable. */
const SINGLE_FIELDS: ReadonlySet<string> = new Set(["deprecation", "sunset"]);

/**
 * The fields that a rule asks for, lower-case names. `successor`: URL, or path from the root, of what takes this request's
 * place in v2; undefined where there is no such thing. That a sunset is not before the deprecation is checked with the rules.
 */
export function deprecationHeaders(headers: RuleHeaders, successor: string | undefined): HeaderList {
  const { deprecation, sunset, documentation } = headers;
  const fields: (readonly [string, string])[] = [];
  if (deprecation !== undefined) fields.push(["deprecation", `@${Math.floor(deprecation / 1000)}`]);
  if (sunset !== undefined) fields.push(["sunset", new Date(sunset).toUTCString()]);
  if (headers.successor && successor !== undefined) fields.push(linkField(successor, 'rel="successor-version"'));
  if (documentation !== undefined) {
    fields.push(linkField(documentation, 'rel="deprecation"; type="text/html"'));
    if (sunset !== undefined) fields.push(linkField(documentation, 'rel="sunset"; type="text/html"'));
  }
  return fields;
}

/** Those of `ours` that an answer with the fields `there` (lower-case names) still lacks: what the platform says of itself stays. */
export function missingHeaders(there: HeaderList, ours: HeaderList): HeaderList {
  return ours.filter(
    ([name, value]) => !there.some(([key, said]) => key === name && (SINGLE_FIELDS.has(name) || said === value)),
  );
}

function linkField(target: string, parameters: string): readonly [string, string] {
  return ["link", `<${escaped(target)}>; ${parameters}`];
}

/** What no URL may hold as it is (RFC 3986), percent-encoded: nothing ends the `<…>` or the line before its time. */
function escaped(target: string): string {
  const whole = target.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return whole.replaceAll(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (character) => encodeURIComponent(character));
}
