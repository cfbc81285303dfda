/** What does a JSON value say, as one text that is the same for all its spellings? */
import { decimalOf, rawText, textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import { elementAt, elementsOf, kindOf, type Members, membersOf, type Span } from "./compare-text.ts";
import { find, mapsOf } from "./table.ts";

/** Texts and numbers longer than this are taken as they are spelled. */
const LONG = 1024 * 1024;
/** So many names are sorted, or texts put together, at once: some milliseconds. */
const AT_ONCE = 8192;

/** Members of objects that are left out wherever they stand. */
export type Omitted = ReadonlySet<string>;
const NOTHING: Omitted = new Set();

/** The value without white space, its members by name, numbers by value; without the members called `omitted`. */
export function* contentOf(span: Span, pace: Pace, omitted: Omitted = NOTHING): Generator<void, string> {
  if (isDue(pace, 0)) yield;
  switch (kindOf(span)) {
    case "object":
      return yield* objectContent(span, pace, omitted);
    case "array":
      return yield* arrayContent(span, pace, omitted);
    default:
      return scalarContent(span);
  }
}

function* objectContent(span: Span, pace: Pace, omitted: Omitted): Generator<void, string> {
  const members = yield* membersOf(span, pace);
  const said = newTexts();
  for (const name of yield* sortedNames(members, pace)) {
    if (omitted.has(name)) continue;
    const value = find(members, name) as Span;
    add(
      said,
      `${JSON.stringify(name)}:${isSimple(value) ? scalarContent(value) : yield* contentOf(value, pace, omitted)}`,
    );
    if (isDue(pace, 0)) yield;
  }
  return `{${joined(said)}}`;
}

function* arrayContent(span: Span, pace: Pace, omitted: Omitted): Generator<void, string> {
  const elements = yield* elementsOf(span, pace);
  const said = newTexts();
  for (let i = 0; i < elements.length; i++) {
    const element = elementAt(elements, i);
    add(said, isSimple(element) ? scalarContent(element) : yield* contentOf(element, pace, omitted));
    if (isDue(pace, 0)) yield;
  }
  return `[${joined(said)}]`;
}

function isSimple(span: Span): boolean {
  const kind = kindOf(span);
  return kind !== "object" && kind !== "array";
}

function scalarContent(span: Span): string {
  switch (kindOf(span)) {
    case "string": {
      const raw = rawText(span);
      // Without escapes it is spelled as it would be here.
      return span.end - span.start > LONG || !raw.includes("\\") ? raw : JSON.stringify(textOf(span));
    }
    case "number":
      return decimalOf(span);
    default:
      return rawText(span);
  }
}

/** The names in the order of their UTF-16 code units. */
function* sortedNames(members: Members, pace: Pace): Generator<void, readonly string[]> {
  if (members.first.size <= AT_ONCE) return [...members.first.keys()].sort();
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const map of mapsOf(members)) {
    for (const name of map.keys()) {
      run.push(name);
      if (run.length === AT_ONCE) {
        runs.push(run.sort());
        run = [];
        yield;
      }
    }
  }
  runs.push(run.sort());
  while (runs.length > 1) {
    const longer: (readonly string[])[] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* merged(runs[i] ?? [], runs[i + 1] ?? [], pace));
    runs = longer;
  }
  return runs[0] ?? [];
}

/** The names of two sorted lists, sorted. */
function* merged(a: readonly string[], b: readonly string[], pace: Pace): Generator<void, readonly string[]> {
  if (b.length === 0) return a;
  const all: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [one, other] = [a[i], b[j]];
    if (other === undefined || (one !== undefined && one < other)) {
      all.push(one as string);
      i++;
    } else {
      all.push(other);
      j++;
    }
    if (isDue(pace, 0)) yield;
  }
  return all;
}

/** Many texts that become one, a part of them at a time. */
interface Texts {
  readonly parts: string[];
  readonly last: string[];
}

function newTexts(): Texts {
  return { parts: [], last: [] };
}

function add({ parts, last }: Texts, text: string): void {
  last.push(text);
  if (last.length < AT_ONCE) return;
  parts.push(last.join(","));
  last.length = 0;
}

function joined({ parts, last }: Texts): string {
  return parts.length === 0 ? last.join(",") : [...parts, ...(last.length === 0 ? [] : [last.join(",")])].join(",");
}
