/** Which calls did one request cause, and how long did they take? */
import type { Exchange, Upstream } from "../model/exchange.ts";
import type { SendLayer } from "../model/message.ts";

/**
 * Notes every call in `exchange`, also failed ones (status 0); `now` is the monotonic clock in milliseconds.
 * One layer per request, around a Send that all requests share.
 */
export function createTimed(exchange: Exchange, upstream: Upstream, now: () => number): SendLayer {
  return (next) => async (request, options) => {
    const startedAt = now();
    let status = 0;
    try {
      const response = await next(request, options);
      status = response.status;
      return response;
    } finally {
      const ms = now() - startedAt;
      const query = request.target.indexOf("?");
      const path = query < 0 ? request.target : request.target.slice(0, query);
      exchange.upstreamMs += ms;
      exchange.calls.push({ upstream, method: request.method, path, status, ms });
    }
  };
}
