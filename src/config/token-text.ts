/** Which text can be a token? */

/** True for one word of visible ASCII characters: no other could be sent in a header field (RFC 9110, section 5.5). */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
