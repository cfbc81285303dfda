/** The requests of a process, on all its ports. */

/** Who is here. */
export type Crowd = ReturnType<typeof createCrowd>;

export function createCrowd() {
  const senders = new Map<string, number>();
  return {
    /** Requests in flight. */
    here: 0,
    /** Requests of `credential` that are not here as a whole yet. */
    receivedFrom: (credential: string): number => senders.get(credential) ?? 0,
    /** One more that has to be received, or (-1) one less. */
    receive(credential: string, change: 1 | -1): void {
      const count = (senders.get(credential) ?? 0) + change;
      if (count > 0) senders.set(credential, count);
      else senders.delete(credential);
    },
  };
}
