/** Whose credential came with a request, so that a caller under many names is still one? (Design section 7: step back.) */
import { readClaims } from "../ledger/claims.ts";
import { credentialFields } from "../ledger/means.ts";
import { type HeaderList, header } from "../model/message.ts";
import { credentialOf, keyedDigest } from "../share/credential.ts";

/** What stands for whoever sent `headers`: a keyed digest, to be counted and never to be shown. */
export type CredentialOf = (headers: HeaderList) => string;

/** All who send no credential are one caller. */
export const NO_CREDENTIAL = "";

/**
 * Goes by the subject of a token that names one, so that a fresh token is no further caller; by any other Authorization as
 * it is; without one by the first field of `identify` (`clients.identify`) that carries a credential. Claims are not verified
 * here: what is counted was let in by the platform, and whoever writes a token of his own is not.
 */
export function createCredentials(identify: readonly string[], secret: Uint8Array): CredentialOf {
  const fields = credentialFields(identify);
  const digest = (...parts: readonly string[]): string => keyedDigest(JSON.stringify(parts), secret);
  return (headers) => {
    const claims = readClaims(headers);
    const [issuer = "", subject = ""] = [claims?.("iss"), claims?.("sub")];
    if (issuer !== "" && subject !== "") return digest("subject", issuer, subject);
    const bearer = credentialOf(headers, secret);
    if (bearer !== undefined) return bearer.digest;
    for (const name of ["authorization", ...fields]) {
      const value = header(headers, name) ?? "";
      if (value !== "") return digest(name, value);
    }
    return NO_CREDENTIAL;
  };
}
