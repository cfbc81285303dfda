/** An exchange as a finished request leaves it, for tests of its readers. */
import { createExchange, type Exchange } from "../../src/model/exchange.ts";

export function finished(facts: Partial<Exchange> = {}): Exchange {
  return Object.assign(
    createExchange("r-1", 0, "GET", "/iam/v1/groups"),
    { apiVersion: "v1", resource: "group", operation: "list", mode: "translate", status: 200 },
    facts,
  );
}
