/** What is remembered of one client beside its counts, and how much of it at most? */

/** Something that a client does, or needs. */
export interface Fact {
  readonly resource: string;
  /** An operation, or a field. */
  readonly name: string;
  /** How often, or how many records. */
  amount: number;
  /** When last, milliseconds since 1970. */
  at: number;
  /** How many of `amount` carryover looked into. */
  looked: number;
}

/** What there is no room for, under one name. */
export const OTHER = "other";

/** Room for facts of all clients together, so that many clients with many facts each do not fill the memory. */
export interface Room {
  /** True when there was room for one more; it is taken then. */
  take(): boolean;
  give(count: number): void;
}

export function createRoom(most: number): Room {
  const state = { left: most };
  return {
    take() {
      if (state.left <= 0) return false;
      state.left -= 1;
      return true;
    },
    give(count) {
      state.left += count;
    },
  };
}

/** A fact of `facts`, made when there is room; undefined when there is none. */
export function factOf(facts: Fact[], resource: string, name: string, most: number, room: Room): Fact | undefined {
  // Few, and their texts are mostly the catalogue's own: looking through them costs less than a table for each client.
  for (const fact of facts) if (fact.name === name && fact.resource === resource) return fact;
  if (facts.length >= most || !room.take()) return undefined;
  const made: Fact = { resource: ownText(resource), name: ownText(name), amount: 0, at: 0, looked: 0 };
  facts.push(made);
  return made;
}

/** A copy: what was cut out of a longer text would keep all of it in memory. Of a part of a text nothing else is kept. */
export function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
