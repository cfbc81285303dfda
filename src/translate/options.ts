/** Which methods does v2 allow on a path, in v1's words? (Design: OPTIONS.) */
import type { ApiRequest, ApiResponse, HeaderList } from "../model/message.ts";

const METHOD_LISTS: ReadonlySet<string> = new Set(["allow", "access-control-allow-methods"]);

/** OPTIONS for v2's own path: what a v1 client would do as PUT is asked for as PATCH (a browser's preflight). */
export function optionsRequest(target: string, client: HeaderList): ApiRequest {
  const headers = client.map(([name, value]) =>
    name === "access-control-request-method" && value === "PUT" ? ([name, "PATCH"] as const) : ([name, value] as const),
  );
  return { method: "OPTIONS", target, headers };
}

/** v2's answer to OPTIONS: what it allows as PATCH a v1 client does as PUT. */
export function answerOptions(response: ApiResponse): ApiResponse {
  const headers = response.headers.map(([name, value]) =>
    METHOD_LISTS.has(name) ? ([name, value.replace(/\bPATCH\b/g, "PUT")] as const) : ([name, value] as const),
  );
  return { ...response, headers };
}
