/** Headers that announce the end of v1 to its clients (RFC 9745, RFC 8594, RFC 8288). */
import { AFTER_V2, type HeaderList, OurHeader } from "./http.ts";
import type { RuleHeaders } from "./rules.ts";

/** Headers that a response may have once: a second one would make both invalid. */
const SINGLE_FIELDS: ReadonlySet<string> = new Set(["deprecation", "sunset"]);

/**
 * The headers that a rule asks for, with lower-case names. `successor`: URL, or path from the root, of what replaces this request
 * in v2; undefined if nothing does. The rules file is checked for a sunset before the deprecation.
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

/** What replaces a request in v2 is named by an HTTP path, which a gRPC call does not have before its message is read. */
export function withoutSuccessor(headers: HeaderList): HeaderList {
  return headers.filter(([name, value]) => name !== "link" || !value.includes("successor-version"));
}

/** Those of `ours` that a response with the headers `existing` lacks. Headers of the platform stay, and so does a more exact mode. */
export function missingHeaders(existing: HeaderList, ours: HeaderList): HeaderList {
  const isSaid = (name: string, value: string, theirs: string): boolean =>
    SINGLE_FIELDS.has(name) || theirs === value || (name === OurHeader.MODE && theirs === AFTER_V2);
  return ours.filter(([name, value]) => !existing.some(([key, theirs]) => key === name && isSaid(name, value, theirs)));
}

function linkField(target: string, parameters: string): readonly [string, string] {
  return ["link", `<${escaped(target)}>; ${parameters}`];
}

/** Percent-encodes what no URL may contain (RFC 3986), so that nothing ends the `<…>` or the line early. */
function escaped(target: string): string {
  const whole = target.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return whole.replaceAll(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (character) => encodeURIComponent(character));
}
