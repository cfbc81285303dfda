/** What does the admin port say of a request that is put into a query? */
import type { Catalogue } from "../../catalogue.ts";
import type { Explain, ExplainConfig } from "./explain.ts";
import type { Explanation } from "./explanation.ts";
import { invalidRequest, readRequest } from "./request.ts";
import type { ExplainCutover } from "./rule.ts";

/**
 * `GET /explain?request=PUT+/iam/v1/groups/UID&data={…}&header=Name:+value&method=PUT&client=NAME`: the JSON of
 * `carryover explain --json`, for the configuration of this process, and (with `cutover`) for the rules in force and what was
 * learnt since. `request` may be a curl line. Files are not read. Rejects with `Problem` INVALID_REQUEST for what is no request.
 */
export function createExplainView(
  config: ExplainConfig,
  catalogue: Catalogue,
  cutover?: ExplainCutover,
): (query: URLSearchParams) => Promise<Explanation> {
  // Loaded and made when it is first asked for: most instances are never asked, and it is a second set of all translations.
  let explain: Promise<Explain> | undefined;
  return async (query) => {
    explain ??= import("./explain.ts").then(({ createExplain }) => createExplain(config, catalogue, cutover));
    const data = query.get("data");
    const method = query.get("method");
    const given = {
      text: query.get("request") ?? "",
      headers: query.getAll("header"),
      ...(data === null ? {} : { data }),
      ...(method === null ? {} : { method: method.toUpperCase() }),
    };
    const request = readRequest(given, noFiles);
    return (await explain)(request, query.get("client") ?? undefined);
  };
}

function noFiles(): never {
  throw invalidRequest("files are not read here: put the body itself into the query");
}
