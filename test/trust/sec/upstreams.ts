/** Upstreams whose certificate does not hold, and the options of carryover in front of one place as several upstreams. */
import type { TlsOptions } from "node:tls";
import { EXPIRED } from "../../commands/check/certificates.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { LOCALHOST, OTHER_NAME } from "../../server/support/certificates.ts";

/** The certificate that it shows, and the authority that carryover trusts; undefined: those of the machine. */
export type Identity = readonly [what: string, shows: TlsOptions, trusted: string | undefined];

export const BAD: readonly Identity[] = [
  ["signed by nobody that is trusted", LOCALHOST, undefined],
  ["expired", EXPIRED, EXPIRED.cert],
  ["for another name", OTHER_NAME, OTHER_NAME.cert],
  [
    "right, over TLS 1.0",
    { ...LOCALHOST, minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" },
    LOCALHOST.cert,
  ],
];

/** The upstreams called `names` are at `url`. Each call is tried: none is spared for those before it. */
export function upstreamsAt(
  url: string,
  trusted: string | undefined,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const ca = trusted === undefined ? undefined : fileWith(trusted);
  const flags = names.flatMap((name) => [
    [`upstream${name}Url`, url],
    [`upstream${name}Breaker`, "false"],
    ...(ca === undefined ? [] : [[`upstream${name}TlsCaFile`, ca]]),
  ]);
  return Object.fromEntries(flags);
}
