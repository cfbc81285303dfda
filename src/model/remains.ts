/** What of the text of a request would stay in memory behind it, and how is that prevented? */

/** So short a part of a text has characters of its own in V8. */
const COPIED = 13;
const NOTHING = /^/;

/**
 * `text` in memory of its own, for what is kept beyond a request: the engine keeps a part of a longer text by keeping all of
 * that, such as the whole field that a name was cut out of, or the query behind a path.
 */
export function ownText(text: string): string {
  return text.length < COPIED ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** The engine keeps the text that a pattern matched last, such as the Authorization of the last caller: here an empty one. */
export function forgetMatched(): void {
  NOTHING.test("");
}
