/** Can the certificates and keys of an upstream be used for TLS? (OpenSSL is asked, which reads them when an upstream is called.) */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Remark } from "./checks.ts";

/** Several times all the authorities that browsers trust. No longer file is read while carryover runs, so none is taken at the start. */
export const MOST_BYTES = 1024 ** 2;

const KINDS = ["caFile", "certFile", "keyFile"] as const;
type Kind = (typeof KINDS)[number];
const REMEDIES: Readonly<Record<Kind, string>> = {
  caFile: "name a PEM file with the certificates of the authorities to trust",
  certFile: "name a PEM file with the client certificate, and those that lead to its authority",
  keyFile: "name a PEM file with the certificate's private key, without a passphrase",
};
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/gs;

/** What makes the files of an upstream (`upstream.v2`) unusable: how they are called, and what is in them. */
export function certificateFaults(
  upstream: string,
  names: Readonly<Partial<Record<Kind, string | undefined>>>,
  bytes: Readonly<Partial<Record<Kind, Uint8Array>>>,
): readonly Remark[] {
  const fault = (kind: Kind, what: string, remedy = REMEDIES[kind]): Remark => {
    return { path: `${upstream}.tls.${kind}`, what: `${names[kind]} ${what}`, remedy };
  };
  const tooLong = KINDS.filter((kind) => (bytes[kind]?.length ?? 0) > MOST_BYTES);
  if (tooLong.length > 0) return tooLong.map((kind) => fault(kind, `has more than ${MOST_BYTES} bytes`));
  const found: Remark[] = [];
  const noAuthority = bytes.caFile && unreadAuthority(bytes.caFile);
  if (noAuthority !== undefined) found.push(fault("caFile", noAuthority));
  const cert = bytes.certFile && Buffer.from(bytes.certFile);
  const key = bytes.keyFile && Buffer.from(bytes.keyFile);
  const [noCertificate, noKey] = [cert && refusal({ cert }), key && refusal({ key })];
  if (noCertificate !== undefined) {
    found.push(fault("certFile", `holds no certificate that can be used (${noCertificate})`));
  }
  if (noKey !== undefined) {
    found.push(fault("keyFile", `holds no private key that can be used (${noKey})`));
  }
  if (cert === undefined || key === undefined || found.length > 0) return found;
  const noPair = refusal({ cert, key });
  if (noPair === undefined) return found;
  const remedy = `set ${upstream}.tls.certFile and keyFile to files that were made for each other`;
  return [fault("keyFile", `is not the key of the certificate in ${names.certFile} (${noPair})`, remedy)];
}

/** OpenSSL's reason; undefined when it takes them. */
function refusal(given: { readonly cert?: Buffer; readonly key?: Buffer }): string | undefined {
  try {
    createSecureContext(given);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** OpenSSL passes over what it cannot read in such a file: calls would fail much later, and say something else. */
function unreadAuthority(bytes: Uint8Array): string | undefined {
  const certificates = new TextDecoder().decode(bytes).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) return "holds no certificate in PEM form";
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      return `holds a certificate that cannot be read, the ${index + 1}. of ${certificates.length} (${reasonOf(error)})`;
    }
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
}
