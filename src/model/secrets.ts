/**
 * Recognises secrets: by the name of a parameter, member or header field, and by their form in free text. Everything that carryover shows
 * or stores about requests is masked by this module.
 */
import { pathOf } from "./http.ts";

/** Replaces a secret in what is shown of a request. */
export const MASKED = "…";
/** Replaces a secret in foreign text. */
const GONE = "[redacted]";

/** A name that holds one of these words names a secret. The same words are in `RULES`, with signs between their parts. */
const SECRET_NAME =
  /secret|passw|passphrase|token|credential|privatekey|apikey|accesskey|assertion|jwt|authorization|cookie|signature/;
/** Names that are too short to be looked for inside others. */
const SECRET_NAMES: ReadonlySet<string> = new Set(
  "auth authcode code key otp pass pwd session sessionid sid sig".split(" "),
);
/** Positions in lists, keys of repeated requests, and facts about tokens: they give no access. */
const HARMLESS_NAME = /^(?:next)?pagetoken$|^idempotencykey$|token(?:type|lifetime|expiry|ttl|endpoint|url)$/;
const PAGE_TOKEN = /pagetoken$/;
/** In names of header fields these words are enough. */
const SECRET_FIELD = /auth|key|pass|session/;

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** True for members and parameters (`oidc.clientSecret`, `api_key`) whose value may give access. */
export function isSecretName(name: string): boolean {
  return name.split(".").some((part) => {
    const letters = lettersOf(part);
    return SECRET_NAMES.has(letters) || (SECRET_NAME.test(letters) && !HARMLESS_NAME.test(letters));
  });
}

/** True for header fields whose value may give access. */
export function isSecretField(name: string): boolean {
  const letters = lettersOf(name);
  return isSecretName(name) || (SECRET_FIELD.test(letters) && !HARMLESS_NAME.test(letters));
}

/** A signed token: base64url of `{"`, and what follows it. */
const JWT = /(?:\b|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]{8,}(?:\.[\w-]*)*/g;
/** Other tokens in three parts. A digit tells them from dotted names. It begins where its characters do, so that long runs are read once. */
const THREE_PARTS = /(?<![\w.-])(?=[\w.-]*\d)[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}(?![\w.-])/g;
const WITH_SCHEME =
  /(?:\b|(?<=%[0-9A-Fa-f]{2}))(bearer|basic|digest|dpop|negotiate)((?:\s|%20|\+){1,8})[A-Za-z0-9._~+/-]{16,}=*/gi;
const USER_OF_URL = /(\/\/|%2F%2F)[^\s/@"'`<>\\]{1,300}?(@|%40)/gi;
const PAIR = /(?<![\w.%[\]-])([\w.%[\]-]+)=([^\s&;,"'`<>\\]+)/g;
/** The same inside a value that is percent-encoded. */
const ENCODED_PAIR = /(?:(?<=%[0-9A-Fa-f]{2})|(?<![\w.%-]))([\w.-]+)(%3D)(?:(?!%26)[^\s&;,"'`<>\\])+/gi;

/** Text without what looks like a secret: tokens, credentials of URLs, and `NAME=VALUE` of a secret name. JSON stays JSON. Linear in time. */
export function withoutTokens(text: string): string {
  const rest = text
    .replace(JWT, MASKED)
    .replace(THREE_PARTS, MASKED)
    .replace(WITH_SCHEME, `$1$2${MASKED}`)
    .replace(USER_OF_URL, `$1${MASKED}$2`);
  return withoutPairs(rest, MASKED);
}

/** Masks the values of `NAME=VALUE` with a secret name. */
function withoutPairs(text: string, mask: string): string {
  return text
    .replace(PAIR, (pair, name: string) => (isSecretName(decoded(name)) ? `${name}=${mask}` : pair))
    .replace(ENCODED_PAIR, (pair, name: string, sign: string) => (isSecretName(name) ? `${name}${sign}${mask}` : pair));
}

/** True for text that `withoutTokens` would change. */
export function holdsToken(text: string): boolean {
  return withoutTokens(text) !== text;
}

/** Escapes that cannot be read stay. */
function decoded(name: string): string {
  return name.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** A request target without the values of secret parameters. `pageTokens`: whether those of page tokens stay. Linear in time. */
export function shownTarget(target: string, pageTokens: "show" | "hide" = "show"): string {
  const hides = (name: string): boolean =>
    isSecretName(decoded(name)) || (pageTokens === "hide" && PAGE_TOKEN.test(lettersOf(decoded(name))));
  const parts = target.split(/([&;])/).map((part, index) => {
    const pieces = part.split("=");
    // A name begins with its part, and after each question mark.
    const names = (piece: string, at: number): readonly string[] =>
      piece.split("?").slice(index === 0 && at === 0 ? 1 : 0);
    const secret = pieces.findIndex((piece, at) => at < pieces.length - 1 && names(piece, at).some(hides));
    return secret < 0 ? part : `${pieces.slice(0, secret + 1).join("=")}=${MASKED}`;
  });
  return withoutTokens(parts.join(""));
}

const SCHEME = /^(?:bearer|basic|digest|dpop|negotiate)(?=\s+\S)/i;

/** The value of a header field (lower case), masked; `Authorization` keeps a scheme that is known. */
export function shownField(name: string, value: string): string {
  if (name === "authorization" || name === "proxy-authorization") {
    const scheme = SCHEME.exec(value)?.[0];
    return scheme === undefined ? MASKED : `${scheme} ${MASKED}`;
  }
  return isSecretField(name) ? MASKED : withoutTokens(value);
}

/** Rules for foreign text. Each removes one kind of secret. The order matters: whole header lines come before values. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=,]\s*)[^\r\n]+/gi, `$1$2${GONE}`],
  [/(?:\b|(?<=%[0-9A-Fa-f]{2}))(bearer|basic|digest|dpop|negotiate)(?:\s|%20)+[^\s"',;]+/gi, `$1 ${GONE}`],
  [/(?:\b|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]*(?:\.[\w-]*)*/g, GONE],
  [THREE_PARTS, GONE],
  // A query: everything after a question mark up to a blank or a quote.
  [/\?[^\s"'`<>?]+/g, `?${GONE}`],
  [
    /\b([\w-]*(?:secret|passw|passphrase|token|credential|private[_-]?key|api[_-]?key|access[_-]?key|assertion|jwt|authorization|cookie|signature)[\w-]*|identity|aud)(\\*["']?\s*[:=]\s*)(\\*"[^"]*"?|'[^']*'?|\[redacted\]|[^\s,;&}\]]+)/gi,
    `$1$2${GONE}`,
  ],
  [/\b(x-[\w-]*(?:auth|key|pass|session)[\w-]*)(["']?\s*:\s*["']?)[^\s,"']+/gi, `$1$2${GONE}`],
  [USER_OF_URL, `$1${GONE}$2`],
  // Page tokens and keys without a name; segments of uids are shorter.
  [/[\w+=-]{48,}/g, GONE],
];

/** Longer text is cut before any pattern runs, to bound the time. */
const MAX_LENGTH = 2_000;

/** What segments of ordinary paths and ids are made of, by character code. */
const PLAIN: readonly boolean[] = Array.from({ length: 128 }, (_, code) => /[\w.-]/.test(String.fromCharCode(code)));
const SLASH = 0x2f;
const MOST_PLAIN = 47;

/** True for ordinary paths and ids, which no rule but that for JWTs could match. (A pattern takes several times as long.) */
function isPlain(text: string): boolean {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    length = code === SLASH ? 0 : length + 1;
    if (length > MOST_PLAIN || (length > 0 && PLAIN[code] !== true)) return false;
  }
  return true;
}

/** Foreign text for the log or an operator: without secrets and queries, cut after 2,000 characters. */
export function scrub(text: string): string {
  if (text.length < 500 && isPlain(text) && !text.includes("eyJ")) return text;
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
  return RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), withoutPairs(cut, GONE));
}

/** A path for the log, without its query, and scrubbed. */
export function scrubPath(path: string): string {
  return scrub(pathOf(path));
}
