/** Describes in a few words how a trip's request arrived, for the tables of docs/ingress.md. */
import { ask, askH2 } from "./ask.ts";
import type { Ingress } from "./proxy.ts";
import type { Arrived, StandIn } from "./standin.ts";
import type { Trip } from "./trip.ts";

export interface Ends {
  readonly proxy: Ingress;
  readonly carryover: StandIn;
  readonly platform: StandIn;
}

/** `kept`, or what happened instead; over HTTP/1.1 and HTTP/2, in one word when they agree. */
export async function arrivalOf(trip: Trip, ends: Ends): Promise<string> {
  const { method = "GET", target, headers = [], body } = trip;
  const outgoing = {
    method,
    target,
    headers: ["Host", "v1.example.com", ...headers],
    ...(body === undefined ? {} : { body }),
  };
  const h1 = await over(trip, ends, () => ask(ends.proxy.url, outgoing));
  if (!trip.h2) return h1;
  const h2 = await over(trip, ends, () => askH2(ends.proxy.h2Url, outgoing));
  return h1 === h2 ? h1 : `${h1}; over HTTP/2 ${h2}`;
}

async function over(
  trip: Trip,
  { carryover, platform }: Ends,
  send: () => Promise<{ readonly status: number }>,
): Promise<string> {
  carryover.arrived.length = 0;
  platform.arrived.length = 0;
  const { status } = await send();
  const [there] = carryover.arrived;
  const [past] = platform.arrived;
  if (there !== undefined) return difference(trip, there);
  if (past !== undefined) return `to the platform: ${difference(trip, past)}`;
  return status === 0 ? "refused" : `refused with ${status}`;
}

function difference(trip: Trip, arrived: Arrived): string {
  const { look = ({ target }: Arrived) => target, target, headers = [], body = "" } = trip;
  const pairs = headers.flatMap((name, index) => {
    return index % 2 === 0 ? [[name.toLowerCase(), headers[index + 1] ?? ""] as const] : [];
  });
  const sent = look({ method: trip.method ?? "GET", target, headers: pairs, body });
  const came = look(arrived);
  if (came === sent) return "kept";
  return came === "" ? "dropped" : `becomes \`${came.length > 60 ? `${came.slice(0, 60)}…` : came}\``;
}
