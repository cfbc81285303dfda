/** Whose requests has the platform served lately? */
import { hash, randomBytes } from "node:crypto";
import { type Acceptance, ANONYMOUS, type Callers } from "../model/callers.ts";

/** The credentials that the platform accepted last; digests only. */
export interface Accepted extends Acceptance {
  accept(credential: string): void;
}

const MOST = 10_000;

/** Remembers the latest `most` credentials. */
export function createAccepted(most: number = MOST): Accepted {
  const known = new Set<string>();
  return {
    accepted: (credential) => known.has(credential),
    accept: (credential) => {
      known.delete(credential);
      known.add(credential);
      if (known.size <= most) return;
      const [oldest] = known;
      if (oldest !== undefined) known.delete(oldest);
    },
  };
}

/** Callers by keyed digests of their whole Authorization value. */
export function createCallers(credentials: Accepted = createAccepted()): Callers {
  const secret = randomBytes(32).toString("hex");
  // Asked for with each response: half of what an HMAC takes, and nobody sees it who could make use of its weakness.
  const digestOf = (authorization: string): string => hash("sha256", secret + authorization, "base64url");
  return {
    of: (authorization) => {
      if (authorization === undefined) return ANONYMOUS;
      const digest = digestOf(authorization);
      return credentials.accepted(digest) ? digest : ANONYMOUS;
    },
    served: (authorization) => {
      if (authorization !== undefined) credentials.accept(digestOf(authorization));
    },
  };
}
