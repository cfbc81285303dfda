/** What does the admin port say of a request that is put into a query? */
import type { Catalogue } from "../catalogue.ts";
import { createExplain, type ExplainConfig } from "../explain.ts";
import type { Explanation } from "./explanation.ts";
import { readRequest } from "./input.ts";
import { unclear } from "./request.ts";

/**
 * `GET /explain?request=PUT+/iam/v1/groups/UID&data={…}&header=Name:+value&method=PUT`: the JSON of `carryover explain --json`,
 * for the configuration of this process. `request` may be a curl line. Files are not read. Rejects with `Problem`
 * INVALID_REQUEST for what is no request.
 */
export function createExplainView(
  config: ExplainConfig,
  catalogue: Catalogue,
): (query: URLSearchParams) => Promise<Explanation> {
  // Made when it is first asked for: most instances are never asked, and it is a second set of all translations.
  let explain: ReturnType<typeof createExplain> | undefined;
  return async (query) => {
    explain ??= createExplain(config, catalogue);
    const data = query.get("data");
    const method = query.get("method");
    const given = {
      text: query.get("request") ?? "",
      headers: query.getAll("header"),
      ...(data === null ? {} : { data }),
      ...(method === null ? {} : { method: method.toUpperCase() }),
    };
    return explain(readRequest(given, noFiles));
  };
}

function noFiles(): never {
  throw unclear("files are not read here: put the body itself into the query");
}
