/** Which methods does v2 allow on a path, in v1's words? (Design: OPTIONS.) */
import type { ApiResponse } from "../model/message.ts";

const METHOD_LISTS: ReadonlySet<string> = new Set(["allow", "access-control-allow-methods"]);

/** v2's answer to OPTIONS: what it allows as PATCH a v1 client does as PUT. */
export function answerOptions(response: ApiResponse): ApiResponse {
  const headers = response.headers.map(([name, value]) =>
    METHOD_LISTS.has(name) ? ([name, value.replace(/\bPATCH\b/g, "PUT")] as const) : ([name, value] as const),
  );
  return { ...response, headers };
}
