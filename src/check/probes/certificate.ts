/** Will this machine accept the certificate of an upstream, and for how long? */

import type { Settings } from "../connection.ts";
import { type Finding, listed, sayFor } from "../finding.ts";
import { type Handshake, shakeHands } from "../tls.ts";

const say = sayFor("certificate");
const DAY_MS = 86_400_000;
/** Below this many days it is worth a warning. */
const SOON_DAYS = 14;

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** `name`: v2, v1 or sts, as in `upstream.v2`. `now`: milliseconds since 1970. */
export async function checkCertificate(name: string, settings: Settings, now: number): Promise<Finding> {
  const where = `upstream.${name}`;
  const { protocol, hostname } = new URL(settings.url);
  if (protocol === "http:")
    return say.note(`${where} is http: there is no certificate`, "use https unless the network encrypts by itself");
  try {
    return judge(where, hostname, await shakeHands(settings), now);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (/wrong version number|packet length too long|unsupported protocol|EPROTO/i.test(text)) {
      return say.fail(
        `${where}: what listens there does not speak TLS`,
        `write ${where}.url with http://, or name the port that speaks TLS`,
      );
    }
    return say.skipped(`${where}: no handshake (${codeOf(error)})`, "see reach");
  }
}

function judge(where: string, host: string, { fault, validTo, names }: Handshake, now: number): Finding {
  const days = Math.floor((validTo - now) / DAY_MS);
  if (fault === undefined) {
    const until = `valid for ${days} more days`;
    if (days >= SOON_DAYS) return say.ok(`${where}: accepted, ${until}`);
    return say.warn(`${where}: accepted, but ${until}`, "have it renewed: calls fail from the day on that it ends");
  }
  if (UNKNOWN_AUTHORITY.has(fault)) {
    return say.fail(
      `${where}: signed by an authority that this machine does not know (${fault})`,
      `put the certificate of the authority, with any between, into a PEM file and name it in ${where}.tls.caFile`,
    );
  }
  if (fault === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return say.fail(
      `${where}: the certificate is for ${listed(names)}, not for ${host}`,
      `write one of its names into ${where}.url`,
    );
  }
  if (fault === "CERT_HAS_EXPIRED") {
    return say.fail(`${where}: the certificate ended ${-days} days ago`, "have it renewed, and see clock");
  }
  if (fault === "CERT_NOT_YET_VALID") {
    return say.fail(`${where}: the certificate is not valid yet`, "set the clock of this machine, or wait");
  }
  return say.fail(`${where}: the certificate is refused (${fault})`, "have the platform's operators look at it");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no answer";
}
