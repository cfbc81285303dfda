/** What stands before the paths of each upstream, where a call is shown? */
import type { Config } from "../config.ts";

/** An address without a slash at its end, or a shell variable in its place. */
export interface Bases {
  readonly v1: string;
  readonly v2: string;
  readonly sts: string;
}

/** `known`: whether v2's address was configured; without it `$V2` stands there. */
export function basesOf({ upstream }: Pick<Config, "upstream">, known: boolean): Bases {
  return {
    v1: bare(upstream.v1?.url) ?? "$V1",
    v2: known ? (bare(upstream.v2.url) ?? "$V2") : "$V2",
    sts: bare(upstream.sts?.url) ?? "$STS",
  };
}

function bare(url: string | undefined): string | undefined {
  return url?.replace(/\/+$/, "");
}
