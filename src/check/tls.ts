/** Which certificate does an upstream show? (A handshake only: nothing is sent.) */
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { Settings } from "./connection.ts";

export interface Handshake {
  /** Undefined when the certificate is accepted as `serve` would accept it; else OpenSSL's or Node's name of the fault. */
  readonly fault: string | undefined;
  /** Milliseconds since 1970 at which it ends. */
  readonly validTo: number;
  /** Names that it is for. */
  readonly names: readonly string[];
}

/** Rejects when there is no TLS to be had there at all. `https` URLs only. */
export function shakeHands({ url, tls, timeouts }: Settings): Promise<Handshake> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port === "" ? 443 : port),
      // The fault is wanted as a fact, and no byte of a request ever travels on this connection.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(tls.caFile === undefined ? {} : { ca: Buffer.from(tls.caFile) }),
      ...(tls.certFile === undefined ? {} : { cert: Buffer.from(tls.certFile) }),
      ...(tls.keyFile === undefined ? {} : { key: Buffer.from(tls.keyFile) }),
    });
    socket.setTimeout(timeouts.connectSeconds * 1000, () => socket.destroy(new Error("no answer in time")));
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      resolve(seen(socket));
      socket.destroy();
    });
  });
}

function seen(socket: TLSSocket): Handshake {
  const { valid_to, subject, subjectaltname } = socket.getPeerCertificate();
  const alternatives = [...(subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^\s,]+)/g)].map(([, name]) => name);
  const names = alternatives.length > 0 ? alternatives : [subject?.CN];
  const { authorizationError: error } = socket;
  return {
    fault: socket.authorized ? undefined : faultOf(error),
    validTo: Date.parse(valid_to),
    names: names.flat().filter((name) => name !== undefined),
  };
}

/** Node's types call it an Error; it is a code, for the name check as for OpenSSL's. */
function faultOf(error: unknown): string {
  if (typeof error === "string") return error;
  return error instanceof Error ? ("code" in error ? String(error.code) : error.message) : "unknown";
}
