/** Names of the fields in requests and responses that the catalogue does not know. Values are never kept. */
import type { Exchange } from "../model/exchange.ts";
import { scrub } from "../model/secrets.ts";
import { UNPRINTABLES } from "../model/text.ts";

type UnknownField = Exchange["unknownFields"][number];

/** The unknown fields of one resource and direction. */
export interface UnknownFieldsSeen {
  readonly resource: string;
  readonly direction: UnknownField["direction"];
  /** Most frequent first; a field counts once per request. */
  readonly fields: readonly { readonly name: string; readonly count: number }[];
  /** How often other names were sent: beyond the limit of names, or by callers that the platform did not know. */
  readonly others: number;
}

export interface UnknownFields {
  observe(exchange: Exchange): void;
  view(): readonly UnknownFieldsSeen[];
}

interface FieldCounts {
  readonly resource: string;
  readonly direction: UnknownField["direction"];
  readonly counts: Map<string, number>;
  others: number;
}

const LIMITS = { resources: 100, names: 200 };
const UNAUTHENTICATED = 401;

/** Memory is at most resources × 2 × names × 80 characters. */
export function createUnknownFields(limits: typeof LIMITS = LIMITS): UnknownFields {
  const countsByKey = new Map<string, FieldCounts>();
  const countsOf = (name: string, direction: UnknownField["direction"]): FieldCounts => {
    const known = countsByKey.get(`${direction} ${name}`);
    if (known !== undefined) return known;
    const resource = countsByKey.size < limits.resources * 2 ? name : "other";
    const key = `${direction} ${resource}`;
    const added: FieldCounts = countsByKey.get(key) ?? { resource, direction, counts: new Map(), others: 0 };
    countsByKey.set(key, added);
    return added;
  };
  return {
    observe: (exchange) => {
      // Bodies are read before the platform authenticates the caller: a request without a credential may not use up the names.
      const most = exchange.status === UNAUTHENTICATED ? 0 : limits.names;
      for (const field of distinctFields(exchange)) {
        const entry = countsOf(exchange.resource, field.direction);
        const name = shownName(field.name);
        const before = entry.counts.get(name);
        if (before === undefined && entry.counts.size >= most) entry.others++;
        else entry.counts.set(name, (before ?? 0) + 1);
      }
    },
    view: () =>
      Array.from(countsByKey.values(), ({ resource, direction, counts, others }) => {
        const fields = Array.from(counts, ([name, count]) => ({ name, count }));
        return { resource, direction, fields: fields.sort((a, b) => b.count - a.count), others };
      }),
  };
}

/** The position in a list. */
const INDEX = /\[\d+\]/g;
const MAX_SHOWN = 80;
/** More than is shown is scrubbed, so that a secret is recognised before it is cut. */
const MAX_READ = 200;

/** Each unknown field of `exchange` once, without positions in lists, in the order of first appearance. */
export function distinctFields({ unknownFields }: Pick<Exchange, "unknownFields">): readonly UnknownField[] {
  if (unknownFields.length === 0) return unknownFields;
  const distinct = new Map<string, UnknownField>();
  for (const { direction, name } of unknownFields) {
    // In a body that is an array, nothing precedes the position.
    const plain = name.includes("[") ? name.replace(INDEX, "").replace(/^\./, "") : name;
    const key = `${direction} ${plain}`;
    distinct.set(key, { direction, name: plain });
  }
  return [...distinct.values()];
}

/** A foreign name for operators: at most 80 characters, all printable, without secrets. */
export function shownName(name: string): string {
  const plain = scrub(name.slice(0, MAX_READ)).replace(
    UNPRINTABLES,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  // Never ends with half of a surrogate pair.
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}
