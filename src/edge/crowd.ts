/** The requests of a process, on all its ports. */

/** Who is here. */
export interface Crowd {
  /** Requests in flight. */
  here: number;
  /** Requests of `credential` that are not here as a whole yet. */
  receivedFrom(credential: string): number;
  /** One more that has to be received, or (-1) one less. */
  receive(credential: string, change: 1 | -1): void;
}

export function createCrowd(): Crowd {
  const senders = new Map<string, number>();
  return {
    here: 0,
    receivedFrom: (credential) => senders.get(credential) ?? 0,
    receive(credential, change) {
      const count = (senders.get(credential) ?? 0) + change;
      if (count > 0) senders.set(credential, count);
      else senders.delete(credential);
    },
  };
}
