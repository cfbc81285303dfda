/** Who is this client, under which name is it shown, and under which label counted? (Design section 8.) */
import { createHmac } from "node:crypto";
import type { HeaderList } from "../model/message.ts";
import { ownText } from "../model/remains.ts";
import { type Claims, readClaims } from "./claims.ts";
import { type Found, meansOf } from "./means.ts";
import { isUnmistakable, MAX_NAME } from "./plain.ts";

/** The options `clients.*`, as the configuration has them. */
export interface IdentityOptions {
  /** In order; the first that says something counts. */
  readonly identify: readonly string[];
  /** `NAME=IDENTITY`: identities with a name of their own. */
  readonly names: readonly string[];
  /** Identities without a name become `h-` and 16 hexadecimal digits. */
  readonly hash: boolean;
  /** Names, or beginnings of names and `*`, in any case. */
  readonly exclude: readonly string[];
  /** Keys every hash (`cutover.salt`): whoever knows it can try out identities. The same on every replica. */
  readonly key: string;
}

export interface Identity {
  /** The configured names. */
  readonly names: ReadonlySet<string>;
  /** The name of whoever sent `headers`: never empty, at most 128 printable characters. Believed for nothing. */
  nameOf(headers: HeaderList): string;
  /** The name that goes now for whom a ledger kept as `kept`: with `hash`, nobody's own text is shown any more. */
  nameNow(kept: string): string;
  /** What metrics call the client of that name: a configured name, `unknown`, or `c-` and 12 hexadecimal digits. */
  labelOf(name: string): string;
  /** True for a client that is no part of the migration. */
  isExcluded(name: string): boolean;
}

const UNKNOWN = "unknown";
/** Put before a client's own text where that could be taken for a name of the operator's or of the ledger's. */
const RAW = "raw:";
const HASHED = /^h-[0-9a-f]{16}$/;
/** Labels remembered; it is only about time. */
const MAX_LABELS = 1000;

/** Nothing of a token is kept, not even its digest. Throws `Error` for a means, or a name, that is none. */
export function createIdentity(options: IdentityOptions): Identity {
  const { hash, key } = options;
  const means = options.identify.map(meansOf);
  const names = readNames(options.names);
  const exclude = createExclusion(options.exclude);
  const own = new Set([...names.exact.values(), UNKNOWN, "other"]);
  const hashed = (identity: string): string => `h-${digest(key, "name", identity).slice(0, 16)}`;
  const nameOf = (headers: HeaderList): string => {
    let read: { readonly claims: Claims | undefined } | undefined;
    const claims = (): Claims | undefined => {
      read ??= { claims: readClaims(headers) };
      return read.claims;
    };
    for (const one of means) {
      const name = nameOfFound(one(headers, claims));
      if (name !== undefined) return name;
    }
    return UNKNOWN;
  };
  const nameOfFound = (found: Found | undefined): string | undefined => {
    if (found === undefined) return undefined;
    const { identity, secret, product } = found;
    const given = names.exact.get(identity) ?? (product ? names.lower.get(identity) : undefined);
    if (given !== undefined) return given;
    // The pattern stands for it: it is the operator's text, and what is hashed could not be excluded any more.
    if (hash || secret) return (secret ? undefined : exclude.patternOf(identity)) ?? hashed(identity);
    const doubtful =
      own.has(identity) || identity.startsWith(RAW) || HASHED.test(identity) || !isUnmistakable(identity);
    const name = doubtful ? `${RAW}${identity}` : identity;
    // Names are kept, the fields that they were cut out of are not.
    return name.length > MAX_NAME ? undefined : ownText(name);
  };
  return {
    names: new Set(names.exact.values()),
    nameOf,
    nameNow: (kept) => {
      if (!hash || own.has(kept) || HASHED.test(kept)) return kept;
      const identity = kept.startsWith(RAW) ? kept.slice(RAW.length) : kept;
      return names.exact.get(identity) ?? exclude.patternOf(identity) ?? hashed(identity);
    },
    labelOf: createLabels(own, key),
    isExcluded: (name) => exclude.patternOf(name) !== undefined,
  };
}

function createLabels(own: ReadonlySet<string>, key: string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    if (own.has(name)) return name;
    const before = known.get(name);
    if (before !== undefined) return before;
    const label = `c-${digest(key, "label", name).slice(0, 12)}`;
    // All at once: a clock or a list of uses would cost more than making them again.
    if (known.size >= MAX_LABELS) known.clear();
    known.set(name, label);
    return label;
  };
}

/** Names and labels have digests of their own: a label must not tell which hashed name it belongs to elsewhere. */
function digest(key: string, use: "name" | "label", text: string): string {
  return createHmac("sha256", key).update(`carryover ledger ${use}\0`).update(text).digest("hex");
}

interface Names {
  readonly exact: ReadonlyMap<string, string>;
  /** By identity in lower case. */
  readonly lower: ReadonlyMap<string, string>;
}

function readNames(list: readonly string[]): Names {
  const exact = new Map<string, string>();
  const lower = new Map<string, string>();
  for (const entry of list) {
    const at = entry.indexOf("=");
    const [name, identity] = [entry.slice(0, Math.max(0, at)), entry.slice(at + 1).trim()];
    if (name === "" || identity === "") throw new Error(`clients.names: ${JSON.stringify(entry)} is not NAME=IDENTITY`);
    exact.set(identity, name);
    lower.set(identity.toLowerCase(), name);
  }
  return { exact, lower };
}

/** Finds the pattern that excludes a text, in lower case. */
function createExclusion(patterns: readonly string[]): { patternOf(text: string): string | undefined } {
  const exact = new Set<string>();
  const beginnings: string[] = [];
  for (const pattern of patterns.map((each) => each.toLowerCase())) {
    if (pattern.endsWith("*")) beginnings.push(pattern);
    else exact.add(pattern);
  }
  return {
    patternOf: (text) => {
      const lower = text.toLowerCase();
      if (exact.has(lower)) return lower;
      return beginnings.find((beginning) => lower.startsWith(beginning.slice(0, -1)));
    },
  };
}
