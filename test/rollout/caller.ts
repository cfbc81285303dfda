/** Callers for tests that count them. */
import type { CallerIdentity } from "../../src/rollout/evidence-window.ts";

/** A client of that name, with a credential of its own unless another is given. */
export function caller(client: string, credential: string | undefined = `credential of ${client}`): CallerIdentity {
  return { client, credential };
}
