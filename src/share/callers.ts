/** Whom has the platform let in lately? (Credentials are keyed digests.) */
import { LRUCache } from "lru-cache";
import { ANONYMOUS, type Callers } from "../model/callers.ts";
import { isRecognised } from "../model/exchange.ts";

const MOST = 10_000;

/** Remembers the latest `most` credentials. */
export function createCallers(most: number = MOST): Callers {
  const accepted = new LRUCache<string, true>({ max: most });
  return {
    of: (credential) => (accepted.has(credential) ? credential : ANONYMOUS),
    accepted: (credential) => accepted.has(credential),
    answered: (credential, status) => {
      if (status === 401) accepted.delete(credential);
      else if (isRecognised(status) && credential !== ANONYMOUS) accepted.set(credential, true);
    },
  };
}
