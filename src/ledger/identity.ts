/** Which client sent a request: the name under which it is shown, and the label under which metrics count it. */
import { createHmac } from "node:crypto";
import { bearerToken } from "../model/authorization.ts";
import { type ClientNameEntry, type ClientOwner, namedClient, ownersOf } from "../model/client-names.ts";
import type { HeaderList } from "../model/http.ts";
import { isJsonObject, member } from "../model/json.ts";
import { holdsToken, isSecretField } from "../model/secrets.ts";
import {
  detachedText,
  headerText,
  isPrintableAscii,
  MAX_NAME,
  plainName,
  RESERVED_NAMES,
  UNKNOWN_CLIENT,
} from "../model/text.ts";

/** The options `clients.*`, as the configuration has them. */
export interface IdentityOptions {
  /** In order of preference. */
  readonly identify: readonly string[];
  /** Names for identities. */
  readonly names: readonly ClientNameEntry[];
  /** Identities without a name become `h-` and 16 hexadecimal digits. */
  readonly hash: boolean;
  /** Names, or prefixes that end in `*`, in any case. */
  readonly exclude: readonly string[];
  /** Keys every hash (`cutover.salt`): anyone who knows it can test guessed identities. The same on every replica. */
  readonly key: string;
}

export interface ClientIdentity {
  /** The configured names: always the present ones. */
  readonly names: ReadonlySet<string>;
  /** Replaces the configured names (`clients.names`). Throws `Error` for an invalid one, and changes nothing then. */
  rename(names: readonly ClientNameEntry[]): void;
  /** The name of the client that sent `headers`: never empty, at most 128 printable characters. It proves nothing. */
  nameOf(headers: HeaderList): string;
  /** Who answers for the client of that name; undefined where `clients.names` does not say it. */
  ownerOf(name: string): ClientOwner | undefined;
  /** Every source holds credentials: only configured names and hashes are shown. */
  readonly readsCredentialsOnly: boolean;
  /** The name of a client whose identity is `text`; undefined if that cannot be a name. */
  nameOfIdentity(text: string): string | undefined;
  /** The current name of a client that was stored as `stored`: it may have a configured name now, or be kept as a hash only. */
  nameNow(stored: string): string;
  /** What the configured names stand for, to be saved. */
  meanings(): NameMeanings;
  /** As `nameNow`, of clients that were stored while names had the meanings `before`: names may have moved to other identities. */
  nameSince(before: NameMeanings): (stored: string) => string;
  /** What metrics call the client of that name: a configured name, `unknown`, or `c-` and 12 hexadecimal digits. */
  labelOf(name: string): string;
  /** True for a client that is not part of the migration. */
  isExcluded(name: string): boolean;
}

/** The configured names with their identities, hashed where those may be credentials or are kept as hashes only. */
export interface NameMeanings {
  /** Tells whether hashes were made with the same key. */
  readonly check: string;
  readonly names: readonly (readonly [name: string, identity: string])[];
}

/** Precedes a client's own text that could be mistaken for a configured name or one that the ledger made. */
export const RAW = "raw:";
const HASHED = /^h-[0-9a-f]{16}$/;
/** Tokens are longer. */
const SHORT = 10;
/** Labels cached, to save time only. */
const MAX_LABELS = 1000;

/** Nothing of a token is kept, not even its digest. Throws `Error` for an invalid `identify` or `names`. */
export function createIdentity(options: IdentityOptions): ClientIdentity {
  const { hash, key } = options;
  const sources = options.identify.map(identitySourceOf);
  const readsProducts = options.identify.includes("user-agent");
  const readsOthers = options.identify.some((source) => source !== "user-agent");
  const mayReadSecrets = credentialFields(options.identify).length > 0;
  let names = readNames(options.names);
  let owners = ownersOf(options.names);
  const excludedBy = createExclusion(options.exclude);
  const configured = new Set(names.exact.values());
  const own = new Set([...configured, ...RESERVED_NAMES]);
  const hashed = (identity: string): string => `h-${digest(key, "name", identity).slice(0, 16)}`;
  /** Configured names by the hashes of their identities; made when it is needed. */
  let byHash: ReadonlyMap<string, string> | undefined;
  const nameOfHash = (hash: string): string | undefined => {
    byHash ??= new Map(Array.from(names.exact, ([identity, name]) => [hashed(identity), name]));
    return byHash.get(hash);
  };
  const nameOf = (headers: HeaderList): string => {
    // Read once, and only if a source asks for them.
    let read: { readonly claims: ClaimReader | undefined } | undefined;
    const claims = (): ClaimReader | undefined => {
      read ??= { claims: readClaims(headers) };
      return read.claims;
    };
    for (const source of sources) {
      const name = nameOfFound(source(headers, claims));
      if (name !== undefined) return name;
    }
    return UNKNOWN_CLIENT;
  };
  const nameOfFound = (found: FoundIdentity | undefined): string | undefined => {
    if (found === undefined) return undefined;
    const { identity, product } = found;
    const secret = found.secret || (identity.length > SHORT && holdsToken(identity));
    const named = names.exact.get(identity) ?? (product ? names.lower.get(identity) : undefined);
    if (named !== undefined) return named;
    // An excluded client is shown as the operator's pattern, since a hash could not be excluded any more.
    if (hash || secret) return (secret ? undefined : excludedBy(identity)) ?? hashed(identity);
    const isAmbiguous =
      own.has(identity) || identity.startsWith(RAW) || HASHED.test(identity) || !isPrintableAscii(identity);
    const name = isAmbiguous ? `${RAW}${identity}` : identity;
    // The name is kept, the header that it was cut out of must not be.
    return name.length > MAX_NAME ? undefined : detachedText(name);
  };
  const nameNow = (stored: string): string => {
    if (own.has(stored)) return stored;
    if (HASHED.test(stored)) return nameOfHash(stored) ?? stored;
    const identity = stored.startsWith(RAW) ? stored.slice(RAW.length) : stored;
    const named = names.exact.get(identity) ?? (readsProducts ? names.lower.get(identity) : undefined);
    return named ?? (hash ? (excludedBy(identity) ?? hashed(identity)) : stored);
  };
  /** The name of a client with an identity of `clients.names`, which may have no name any more. */
  const nameOfIdentity = (identity: string): string | undefined => {
    if (HASHED.test(identity)) return nameOfHash(identity) ?? identity;
    const named = names.exact.get(identity);
    // Products are in lower case, and without a version.
    const read = readsOthers ? identity : (PRODUCT.exec(identity)?.[0] ?? identity).toLowerCase();
    return named ?? nameOfFound({ identity: read, secret: false, product: readsProducts });
  };
  return {
    names: configured,
    rename: (list) => {
      names = readNames(list);
      owners = ownersOf(list);
      byHash = undefined;
      for (const set of [configured, own]) set.clear();
      for (const name of names.exact.values()) configured.add(name);
      for (const name of [...configured, ...RESERVED_NAMES]) own.add(name);
    },
    nameOf,
    ownerOf: (name) => owners.get(name),
    readsCredentialsOnly: options.identify.every(
      (source) => source.startsWith("header:") && isSecretField(source.slice("header:".length).toLowerCase()),
    ),
    nameOfIdentity,
    nameNow,
    meanings: () => ({
      check: hashed(""),
      names: Array.from(names.exact, ([identity, name]) => {
        const isHidden = hash || mayReadSecrets || identity.length > MAX_NAME;
        return [name, isHidden ? hashed(identity) : identity] as const;
      }),
    }),
    nameSince: (before) => {
      const namesOf = new Map<string, string[]>();
      for (const [name, identity] of before.names) {
        if (HASHED.test(identity) && before.check !== hashed("")) continue;
        namesOf.set(name, [...(namesOf.get(name) ?? []), nameOfIdentity(identity) ?? name]);
      }
      return (stored) => {
        const found = namesOf.get(stored);
        // What several identities of one name did cannot be told apart: it stays with the name if one of them still has it.
        if (found !== undefined) return found.includes(stored) ? stored : (found[0] ?? stored);
        return nameNow(stored);
      };
    },
    labelOf: createLabels(own, key),
    isExcluded: (name) => excludedBy(name) !== undefined,
  };
}

function createLabels(own: ReadonlySet<string>, key: string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    if (own.has(name)) return name;
    const before = known.get(name);
    if (before !== undefined) return before;
    const label = `c-${digest(key, "label", name).slice(0, 12)}`;
    // Dropped all at once: tracking their use would cost more than computing them again.
    if (known.size >= MAX_LABELS) known.clear();
    known.set(name, label);
    return label;
  };
}

/** Names and labels have different digests: a label must not reveal which hashed name it belongs to. */
function digest(key: string, use: "name" | "label", text: string): string {
  return createHmac("sha256", key).update(`carryover ledger ${use}\0`).update(text).digest("hex");
}

interface ConfiguredNames {
  readonly exact: ReadonlyMap<string, string>;
  /** By identity in lower case. */
  readonly lower: ReadonlyMap<string, string>;
}

function readNames(list: readonly ClientNameEntry[]): ConfiguredNames {
  const exact = new Map<string, string>();
  const lower = new Map<string, string>();
  for (const entry of list) {
    const { name, identities } = namedClient(entry);
    if (name === "" || identities.length === 0 || identities.includes(""))
      throw new Error(`clients.names: ${JSON.stringify(entry)} is not NAME=IDENTITY`);
    for (const identity of identities) {
      exact.set(identity, name);
      lower.set(identity.toLowerCase(), name);
    }
  }
  return { exact, lower };
}

/** Finds the pattern, in lower case, that excludes a text; an exact one comes before a prefix. */
function createExclusion(patterns: readonly string[]): (text: string) => string | undefined {
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const prefixes = lower.filter((pattern) => pattern.endsWith("*"));
  const exact = new Set(lower.filter((pattern) => !pattern.endsWith("*")));
  return (text) => {
    const name = text.toLowerCase();
    return exact.has(name) ? name : prefixes.find((prefix) => name.startsWith(prefix.slice(0, -1)));
  };
}

/** What a source found. */
interface FoundIdentity {
  readonly identity: string;
  /** It may be a credential: only its hash may be kept. */
  readonly secret: boolean;
  /** It is the product of a user agent, in lower case, and matches configured names in any case. */
  readonly product: boolean;
}

/** Finds an identity in a request; undefined: none, or none that could be a name. `claims`: those of the request's token. */
type IdentitySource = (headers: HeaderList, claims: () => ClaimReader | undefined) => FoundIdentity | undefined;

/** A product of RFC 9110 section 10.1.5, without its version. */
const PRODUCT = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+/;

/** The product of a user agent, without its version. */
export function productOf(userAgent: string): string | undefined {
  return PRODUCT.exec(userAgent.trimStart())?.[0];
}

/** The headers of `identify` that carry credentials or certificates, in lower case. */
export function credentialFields(identify: readonly string[]): readonly string[] {
  return identify
    .filter((text) => text.startsWith("header:"))
    .map((text) => text.slice("header:".length).toLowerCase())
    .filter((name) => isSecretField(name) || name.includes("cert"));
}

/** The source that `text` describes: `header:NAME`, `claim:NAME`, `claim:A+B`, `user-agent`. Throws `Error` for any other. */
function identitySourceOf(text: string): IdentitySource {
  const colon = text.indexOf(":");
  const kind = colon < 0 ? text : text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (text === "user-agent") return byUserAgent;
  if (kind === "header" && rest !== "") return byHeader(rest.toLowerCase());
  if (kind === "claim" && rest !== "") return byClaims(rest.split("+"));
  throw new Error(`clients.identify: ${JSON.stringify(text)} is no means of identity`);
}

/** The value of header `name`; undefined if several differ, since any of them could be forged. */
function oneValue(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined;
  for (const [key, value] of headers) {
    if (key !== name) continue;
    if (found !== undefined && found !== value) return undefined;
    found = value;
  }
  return found === undefined ? undefined : headerText(found);
}

/** The value of `Authorization`; a bearer token always with the same spelling of its scheme. */
function oneAuthorization(headers: HeaderList): string | undefined {
  const value = oneValue(headers, "authorization");
  const token = value === undefined ? undefined : bearerToken(value);
  return token === undefined ? value : `Bearer ${token}`;
}

function byHeader(name: string): IdentitySource {
  const secret = isSecretField(name);
  return (headers) => {
    const value = name === "authorization" ? oneAuthorization(headers) : oneValue(headers, name);
    // A credential may be longer than a name, because only its hash is shown.
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
    const areUsable = values.every(
      (value) => value !== undefined && value !== "" && (names.length === 1 || !/\s/.test(value)),
    );
    const identity = areUsable ? plainName(values.join(" ")) : undefined;
    return identity === undefined ? undefined : { identity, secret: false, product: false };
  };
}

const byUserAgent: IdentitySource = (headers) => {
  const product = productOf(oneValue(headers, "user-agent") ?? "");
  const identity = product === undefined ? undefined : plainName(product.toLowerCase());
  return identity === undefined ? undefined : { identity, secret: false, product: true };
};

/** A JWT: three parts (RFC 7519). Its payload is the first group. */
const JWT = /^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/;
/** Longest payload that is read, in decoded bytes. Real ones have a few hundred. */
export const MAX_PAYLOAD = 16 * 1024;
const MAX_ENCODED = Math.ceil((MAX_PAYLOAD * 4) / 3);

/** One top-level claim of a payload, as text; undefined when it is absent or of another type. */
export type ClaimReader = (name: string) => string | undefined;

/**
 * Reads the claims of the bearer token, with or without its scheme, WITHOUT VERIFYING it: anybody can write any claim into a token. Use them for names,
 * counts and the choice of a mode, never for access. The platform verifies the token, and the ledger ignores callers that
 * got 401. Undefined without a token, with several Authorization headers, for a token that is no JWT, and for a payload of
 * more than `MAX_PAYLOAD` bytes.
 */
export function readClaims(headers: HeaderList): ClaimReader | undefined {
  let value: string | undefined;
  for (const [name, text] of headers) {
    if (name !== "authorization") continue;
    if (value !== undefined) return undefined;
    value = text;
  }
  // Checked before the pattern and the parser see it.
  if (value === undefined || value.length > MAX_ENCODED * 4) return undefined;
  const encoded = JWT.exec(bearerToken(value) ?? "")?.[1];
  if (encoded === undefined || encoded.length > MAX_ENCODED) return undefined;
  const payload = parse(encoded);
  return isJsonObject(payload) ? (name) => claimText(member(payload, name)) : undefined;
}

/** Stateless, because it never decodes a stream. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parse(encoded: string): unknown {
  try {
    const bytes = Buffer.from(encoded, "base64url");
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Texts as they are, whole numbers in decimal, because some issuers number their subjects. */
function claimText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
