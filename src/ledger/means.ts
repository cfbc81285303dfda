/** By which means is a client known? (Options `clients.identify`, design section 8.) */
import type { HeaderList } from "../model/message.ts";
import type { Claims } from "./claims.ts";
import { headerText, plainName } from "./plain.ts";

/** What a means found. */
export interface Found {
  readonly identity: string;
  /** It is a credential, or may be one: only its hash may be kept. */
  readonly secret: boolean;
  /** It is the product of a user agent, in lower case: names are found in any case. */
  readonly product: boolean;
}

/** One means of identity; undefined: it says nothing, or nothing that could be a name. `claims`: those of the request's token. */
export type Means = (headers: HeaderList, claims: () => Claims | undefined) => Found | undefined;

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
export function meansOf(text: string): Means {
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

function byHeader(name: string): Means {
  const secret = SECRET.test(name);
  return (headers) => {
    const value = oneValue(headers, name);
    // A credential is longer than any name, and only its hash is shown.
    const identity = value === undefined ? undefined : secret ? value.trim() : plainName(value);
    return identity === undefined || identity === "" ? undefined : { identity, secret, product: false };
  };
}

function byClaims(names: readonly string[]): Means {
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

const byUserAgent: Means = (headers) => {
  const product = PRODUCT.exec(oneValue(headers, "user-agent")?.trimStart() ?? "")?.[0];
  const identity = product === undefined ? undefined : plainName(product.toLowerCase());
  return identity === undefined ? undefined : { identity, secret: false, product: true };
};
