/** Who is this client, under which name is it shown, and under which label counted? (Design section 8.) */
import { createHmac } from "node:crypto";
import type { HeaderList } from "../model/http.ts";
import { isJsonObject, member } from "../model/json.ts";
import { detachedText, headerText, isPrintableAscii, MAX_NAME, plainName } from "../model/text.ts";

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

export interface ClientIdentity {
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
export function createIdentity(options: IdentityOptions): ClientIdentity {
  const { hash, key } = options;
  const means = options.identify.map(identitySourceOf);
  const names = readNames(options.names);
  const exclude = createExclusion(options.exclude);
  const own = new Set([...names.exact.values(), UNKNOWN, "other"]);
  const hashed = (identity: string): string => `h-${digest(key, "name", identity).slice(0, 16)}`;
  const nameOf = (headers: HeaderList): string => {
    let read: { readonly claims: ClaimReader | undefined } | undefined;
    const claims = (): ClaimReader | undefined => {
      read ??= { claims: readClaims(headers) };
      return read.claims;
    };
    for (const one of means) {
      const name = nameOfFound(one(headers, claims));
      if (name !== undefined) return name;
    }
    return UNKNOWN;
  };
  const nameOfFound = (found: FoundIdentity | undefined): string | undefined => {
    if (found === undefined) return undefined;
    const { identity, secret, product } = found;
    const given = names.exact.get(identity) ?? (product ? names.lower.get(identity) : undefined);
    if (given !== undefined) return given;
    // The pattern stands for it: it is the operator's text, and what is hashed could not be excluded any more.
    if (hash || secret) return (secret ? undefined : exclude.patternOf(identity)) ?? hashed(identity);
    const doubtful =
      own.has(identity) || identity.startsWith(RAW) || HASHED.test(identity) || !isPrintableAscii(identity);
    const name = doubtful ? `${RAW}${identity}` : identity;
    // Names are kept, the fields that they were cut out of are not.
    return name.length > MAX_NAME ? undefined : detachedText(name);
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

interface ConfiguredNames {
  readonly exact: ReadonlyMap<string, string>;
  /** By identity in lower case. */
  readonly lower: ReadonlyMap<string, string>;
}

function readNames(list: readonly string[]): ConfiguredNames {
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

/** By which means is a client known? (Options `clients.identify`, design section 8.) */

/** What a means found. */
export interface FoundIdentity {
  readonly identity: string;
  /** It is a credential, or may be one: only its hash may be kept. */
  readonly secret: boolean;
  /** It is the product of a user agent, in lower case: names are found in any case. */
  readonly product: boolean;
}

/** One means of identity; undefined: it says nothing, or nothing that could be a name. `claims`: those of the request's token. */
export type IdentitySource = (headers: HeaderList, claims: () => ClaimReader | undefined) => FoundIdentity | undefined;

/** Names of fields that carry credentials. */
const SECRET = /auth|cookie|token|secret|key|pass|session|credential|assertion/;
/** A product of RFC 9110 section 10.1.5, without its version. */
const PRODUCT = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+/;

/** The fields that `identify` names and that carry credentials, or certificates, in lower case. */
export function credentialFields(identify: readonly string[]): readonly string[] {
  return identify
    .filter((text) => text.startsWith("header:"))
    .map((text) => text.slice("header:".length).toLowerCase())
    .filter((name) => SECRET.test(name) || name.includes("cert"));
}

/** The means that `text` names: `header:NAME`, `claim:NAME`, `claim:A+B`, `user-agent`. Throws `Error` for any other. */
export function identitySourceOf(text: string): IdentitySource {
  const colon = text.indexOf(":");
  const kind = colon < 0 ? text : text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (text === "user-agent") return byUserAgent;
  if (kind === "header" && rest !== "") return byHeader(rest.toLowerCase());
  if (kind === "claim" && rest !== "") return byClaims(rest.split("+"));
  throw new Error(`clients.identify: ${JSON.stringify(text)} is no means of identity`);
}

/** The one value of field `name`: several that differ could be anybody's. */
function oneValue(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined;
  for (const [key, value] of headers) {
    if (key !== name) continue;
    if (found !== undefined && found !== value) return undefined;
    found = value;
  }
  return found === undefined ? undefined : headerText(found);
}

function byHeader(name: string): IdentitySource {
  const secret = SECRET.test(name);
  return (headers) => {
    const value = oneValue(headers, name);
    // A credential is longer than any name, and only its hash is shown.
    const identity = value === undefined ? undefined : secret ? value.trim() : plainName(value);
    return identity === undefined || identity === "" ? undefined : { identity, secret, product: false };
  };
}

function byClaims(names: readonly string[]): IdentitySource {
  return (_headers, claims) => {
    const claim = claims();
    if (claim === undefined) return undefined;
    const values = names.map(claim);
    // Joined by a space, so none may hold one: "a b" and "c" are not "a" and "b c".
    const said = values.every(
      (value) => value !== undefined && value !== "" && (names.length === 1 || !/\s/.test(value)),
    );
    const identity = said ? plainName(values.join(" ")) : undefined;
    return identity === undefined ? undefined : { identity, secret: false, product: false };
  };
}

const byUserAgent: IdentitySource = (headers) => {
  const product = PRODUCT.exec(oneValue(headers, "user-agent")?.trimStart() ?? "")?.[0];
  const identity = product === undefined ? undefined : plainName(product.toLowerCase());
  return identity === undefined ? undefined : { identity, secret: false, product: true };
};

/** What does a bearer token say of whoever sends it? (Read WITHOUT verifying: for statistics, never for access.) */

/** One bearer token (RFC 6750 section 2.1) that is a JWT: three parts (RFC 7519). Its payload is the first group. */
const BEARER_JWT = /^Bearer +[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/i;
/** Longest payload that is read, decoded bytes. Real ones have a few hundred. */
export const MAX_PAYLOAD = 16 * 1024;
const MAX_ENCODED = Math.ceil((MAX_PAYLOAD * 4) / 3);

/** One claim at the top of a payload, as text; undefined when it is absent or no text. */
export type ClaimReader = (name: string) => string | undefined;

/**
 * Reads claims of the one bearer token among `headers`. Undefined when there is no token, more than one Authorization, one that is no JWT, or one with more than `MAX_PAYLOAD`.
 *
 * Nothing of it is verified: anybody can write any claim into a token. It may name, count and choose a side of the cutover;
 * it must never decide what somebody may do. The platform does that, and the ledger takes nobody whom it answered 401.
 */
export function readClaims(headers: HeaderList): ClaimReader | undefined {
  let value: string | undefined;
  for (const [name, given] of headers) {
    if (name !== "authorization") continue;
    if (value !== undefined) return undefined;
    value = given;
  }
  // Before the pattern and the parser see it.
  if (value === undefined || value.length > MAX_ENCODED * 4) return undefined;
  const encoded = BEARER_JWT.exec(value)?.[1];
  if (encoded === undefined || encoded.length > MAX_ENCODED) return undefined;
  const payload = parse(encoded);
  return isJsonObject(payload) ? (name) => claimText(member(payload, name)) : undefined;
}

/** Without state of its own: it is never given a part of a text. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parse(encoded: string): unknown {
  try {
    const bytes = Buffer.from(encoded, "base64url");
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Texts as they are, whole numbers in decimal (some issuers number their subjects). Anything else says nothing. */
function claimText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
