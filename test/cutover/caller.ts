/** Callers for tests that count them. */
import type { Caller } from "../../src/cutover/counts.ts";

/** A client of that name, with a credential of its own unless another is given. */
export function caller(client: string, credential: string | undefined = `credential of ${client}`): Caller {
  return { client, credential };
}
