/** Does anybody answer at an upstream's address? */
import type { Dispatcher } from "undici";
import { failure } from "./failure.ts";

/**
 * One question over `dispatcher`, without a credential; any answer will do, also an error, and also what is no HTTP. `via`
 * keeps it from going round where an upstream leads back to carryover.
 */
export async function answers(dispatcher: Dispatcher, basePath: string): Promise<boolean> {
  const headers = { "user-agent": "carryover", via: "1.1 carryover" };
  try {
    const { body } = await dispatcher.request({ method: "HEAD", path: `${basePath}/`, headers });
    await body.dump();
    return true;
  } catch (error) {
    return failure(error, { method: "HEAD", sent: true }).reason === "UPSTREAM_INVALID";
  }
}
