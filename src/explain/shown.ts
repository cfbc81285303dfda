/** How is a request shown, without its secrets? */
import type { HeaderList } from "../model/message.ts";
import type { ShownRequest } from "./explanation.ts";
import { shownHeader, shownJson, shownTarget } from "./secrets.ts";

/** Header fields that every call has, or that say nothing. */
const QUIET: ReadonlySet<string> = new Set(["accept", "host", "via", "x-request-id", "traceparent", "tracestate"]);

interface Whole {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly body?: Uint8Array;
}

/** Method, target, fields and body, masked. */
export function shownRequest({ method, target, headers, body }: Whole): ShownRequest {
  return {
    method,
    target: shownTarget(target),
    body: body === undefined || body.length === 0 ? null : shownJson(Buffer.from(body).toString("utf8")),
    headers: headers
      .filter(([name]) => !QUIET.has(name))
      .map(([name, value]) => [name, shownHeader(name, value)] as const),
  };
}
