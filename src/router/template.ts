/** Templates of paths below `/{domain}/v1/`: `collection/{uid=**}/literal/{name=*}:verb`. */

/** One segment: a literal, or (undefined) any single one. */
type TemplateSegment = string | undefined;

/** A parsed template. */
export interface PathTemplate {
  /** The first segment, always a literal. */
  readonly collection: string;
  /** Segments left of `**`; all of them when there is none. The first is `collection`. */
  readonly before: readonly TemplateSegment[];
  /** True when a `**` (any number of segments, none included) stands between `before` and `after`. */
  readonly spans: boolean;
  readonly after: readonly TemplateSegment[];
  /** The verb with its colon, or empty. */
  readonly verb: string;
}

const LITERAL = /^[A-Za-z0-9\-_.]+$/;
const ONE = /^\{[^{}=/]+(?:=\*)?\}$/;
const SPAN = /^\{[^{}=/]+=\*\*\}$/;
const VERB = /:[A-Za-z]+$/;

/** The template written as `text`, below `/{domain}/v1/`. Throws `Error` (a mistake in a catalogue file) for anything else. */
export function parseTemplate(text: string): PathTemplate {
  const verb = VERB.exec(text)?.[0] ?? "";
  const segments = text.slice(0, text.length - verb.length).split("/");
  const span = segments.findIndex((segment) => SPAN.test(segment));
  const read = (segment: string): TemplateSegment => {
    if (ONE.test(segment)) return undefined;
    if (!LITERAL.test(segment)) throw new Error(`path template "${text}": "${segment}" is no segment`);
    return segment;
  };
  const before = (span === -1 ? segments : segments.slice(0, span)).map(read);
  const after = span === -1 ? [] : segments.slice(span + 1).map(read);
  const collection = before[0];
  if (collection === undefined) throw new Error(`path template "${text}" does not begin with a literal`);
  return { collection, before, spans: span !== -1, after, verb };
}

/** The same template with another first segment: the second spelling of a collection. */
export function respelled(template: PathTemplate, collection: string): PathTemplate {
  return { ...template, collection, before: [collection, ...template.before.slice(1)] };
}

/** Equal for templates that match the same paths. */
export function shapeOf({ before, spans, after, verb }: PathTemplate): string {
  const words = [...before, ...(spans ? ["**"] : []), ...after].map((token) => token ?? "*");
  return words.join("/") + verb;
}

/** Orders templates so that the first one that matches is the right one: literals, then verbs, then `*`, then `**`. */
export function bySpecificity(a: PathTemplate, b: PathTemplate): number {
  const rank = ({ before, spans, after, verb }: PathTemplate): readonly number[] => {
    const tokens = [...before, ...after];
    const literals = tokens.filter((token) => token !== undefined).length;
    return [literals, verb === "" ? 0 : 1, spans ? 0 : 1, tokens.length];
  };
  const right = rank(b);
  for (const [at, own] of rank(a).entries()) {
    const difference = (right[at] ?? 0) - own;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** True when the path of `segments` has the form of `template`. A verb counts only at the very end. */
export function matches(template: PathTemplate, segments: readonly string[]): boolean {
  const { before, spans, after, verb } = template;
  const count = segments.length;
  const fixed = before.length + after.length;
  if (spans ? count < fixed : count !== fixed) return false;
  const last = segments[count - 1] ?? "";
  if (!last.endsWith(verb)) return false;
  const fits = (token: TemplateSegment, at: number): boolean => {
    const segment = at === count - 1 ? last.slice(0, last.length - verb.length) : segments[at];
    return token === undefined ? segment !== "" : token === segment;
  };
  const start = count - after.length;
  return after.every((token, at) => fits(token, start + at)) && before.every((token, at) => fits(token, at));
}

/** What the variables of a path say: the uid that `**` spans (empty for no segment at all), and the single segment. */
export interface PathVariables {
  readonly uid: string;
  readonly segment: string;
}

/** The variables of a path that has the form of `template`. */
export function variablesOf(template: PathTemplate, segments: readonly string[]): PathVariables {
  const { before, spans, after, verb } = template;
  const plain = segments.map((segment, at) =>
    at === segments.length - 1 ? segment.slice(0, segment.length - verb.length) : segment,
  );
  const end = plain.length - after.length;
  const fixed = [...before, ...after];
  const values = [...plain.slice(0, before.length), ...plain.slice(end)];
  return {
    uid: spans ? plain.slice(before.length, end).join("/") : "",
    segment: values.find((_, at) => fixed[at] === undefined) ?? "",
  };
}
