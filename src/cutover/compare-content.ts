/** What does a JSON value say, as one text that is the same for all its spellings? */
import { decimalOf, rawText, textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import { elementsOf, kindOf, membersOf, type Span } from "./compare-text.ts";

/** Texts and numbers longer than this are taken as they are spelled. */
const LONG = 1024 * 1024;

/** Members of objects that are left out wherever they stand. */
export type Omitted = ReadonlySet<string>;
const NOTHING: Omitted = new Set();

/** The value without white space, its members by name, numbers by value; without the members called `omitted`. */
export function* contentOf(span: Span, pace: Pace, omitted: Omitted = NOTHING): Generator<void, string> {
  if (isDue(pace, 0)) yield;
  switch (kindOf(span)) {
    case "object": {
      const members = yield* membersOf(span, pace);
      const said: string[] = [];
      for (const name of [...members.keys()].sort()) {
        if (omitted.has(name)) continue;
        said.push(`${JSON.stringify(name)}:${yield* contentOf(members.get(name) as Span, pace, omitted)}`);
      }
      return `{${said.join(",")}}`;
    }
    case "array": {
      const said: string[] = [];
      for (const element of yield* elementsOf(span, pace)) said.push(yield* contentOf(element, pace, omitted));
      return `[${said.join(",")}]`;
    }
    case "string":
      return span.end - span.start > LONG ? rawText(span) : JSON.stringify(textOf(span));
    case "number":
      return decimalOf(span);
    default:
      return rawText(span);
  }
}
