/** carryover before platforms whose frames a test sees: it passes gRPC on, without descriptors unless flags name them. */
import type { Exchange } from "../../../src/model/exchange.ts";
import { type Carryover, type CarryoverOptions, startCarryover } from "../../support/carryover.ts";
import { later } from "../../support/take-down.ts";
import { platform, type RpcPlatform } from "./rpc.ts";

export interface Passing extends Carryover {
  readonly rpc: string;
  readonly exchanges: Exchange[];
}

type More = Pick<CarryoverOptions, "logLine" | "grpcTimeouts">;

export async function passing(
  urls: Pick<CarryoverOptions, "v2Url" | "v1Url" | "stsUrl">,
  flags: Readonly<Record<string, string>> = {},
  more: More = {},
): Promise<Passing> {
  const exchanges: Exchange[] = [];
  const started = await startCarryover({
    ...urls,
    flags: { listenGrpcPort: "0", ...flags },
    onExchange: (exchange) => exchanges.push(exchange),
    ...more,
  });
  later(started.close);
  return { ...started, rpc: started.grpcUrl ?? "", exchanges };
}

/** Before a v2 that serves each call with `serve`. */
export async function inFrontOf(
  serve: Parameters<typeof platform>[0],
  flags: Readonly<Record<string, string>> = {},
  more: More = {},
): Promise<Passing & { readonly behind: RpcPlatform }> {
  const behind = await platform(serve);
  return { ...(await passing({ v2Url: behind.url }, flags, more)), behind };
}
