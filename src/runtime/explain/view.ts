/** `GET /explain` of the admin port. Apart from explain.ts, so that its code is loaded only when somebody asks. */
import { type Catalogue, loadExamples } from "../../catalogue/catalogue.ts";
import type { Explain, ExplainConfig } from "./explain.ts";
import type { Explanation } from "./explanation.ts";
import { invalidRequest, readRequest } from "./request.ts";
import type { ExplainCutover } from "./rule.ts";

/**
 * `GET /explain?request=PUT+/iam/v1/groups/UID&data={…}&header=Name:+value&method=PUT&client=NAME`: the JSON of
 * `carryover explain --json`, for the configuration of this process, and (with `cutover`) for the rules in force and what
 * was learned since. Reads no files. Rejects with `Problem` INVALID_REQUEST.
 */
export function createExplainView(
  config: ExplainConfig,
  catalogue: Catalogue,
  cutover?: ExplainCutover,
): (query: URLSearchParams) => Promise<Explanation> {
  // Created on first use: most instances are never asked, and it is a second set of all translations.
  let explain: Promise<Explain> | undefined;
  return async (query) => {
    explain ??= Promise.all([import("./explain.ts"), loadExamples(catalogue.version)]).then(
      ([{ createExplain }, examples]) => createExplain(config, catalogue, examples, cutover),
    );
    const data = query.get("data");
    const method = query.get("method");
    const given = {
      text: query.get("request") ?? "",
      headers: query.getAll("header"),
      ...(data === null ? {} : { data }),
      ...(method === null ? {} : { method: method.toUpperCase() }),
    };
    const request = readRequest(given, () => {
      throw invalidRequest("files are not read here: put the body itself into the query");
    });
    return (await explain)(request, query.get("client") ?? undefined);
  };
}
