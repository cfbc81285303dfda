/** The meaning of an `Authorization` value. Clients of the API send `Bearer TOKEN` (RFC 6750) or the token alone: the two are one credential. */

export interface Authorization {
  /** In lower case, since a scheme may be written in any case (RFC 9110 section 11.1); `bearer` for a token alone. */
  readonly scheme: string;
  /** Everything after the scheme, in the case in which it came. */
  readonly credentials: string;
}

/** Undefined for an empty value. No pattern is used: V8 would keep the value that it matched last. */
export function readAuthorization(value: string): Authorization | undefined {
  const text = value.trim();
  const end = text.indexOf(" ");
  if (end >= 0) return { scheme: text.slice(0, end).toLowerCase(), credentials: text.slice(end).trim() };
  return text === "" ? undefined : { scheme: "bearer", credentials: text };
}

/** The token of `Bearer TOKEN` or `TOKEN`. Undefined for another scheme, for several words, and for none. */
export function bearerToken(value: string): string | undefined {
  const read = readAuthorization(value);
  if (read?.scheme !== "bearer" || /\s/.test(read.credentials)) return undefined;
  return read.credentials.toLowerCase() === "bearer" ? undefined : read.credentials;
}
