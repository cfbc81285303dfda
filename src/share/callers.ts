/** Whose requests has the platform served lately? */
import { randomBytes } from "node:crypto";
import { type Acceptance, ANONYMOUS, type Callers } from "../model/callers.ts";
import { keyedDigest } from "./credential.ts";

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
      const [oldest] = known;
      if (known.size > most && oldest !== undefined) known.delete(oldest);
    },
  };
}

/** Callers by keyed digests of their whole Authorization value. */
export function createCallers(credentials: Accepted = createAccepted()): Callers {
  const secret = randomBytes(32);
  return {
    of: (authorization) => {
      if (authorization === undefined) return ANONYMOUS;
      const digest = keyedDigest(authorization, secret);
      return credentials.accepted(digest) ? digest : ANONYMOUS;
    },
    served: (authorization) => {
      if (authorization !== undefined) credentials.accept(keyedDigest(authorization, secret));
    },
  };
}
