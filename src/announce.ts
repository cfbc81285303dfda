/** What does `serve` say once it listens? (Addresses only: the configuration takes none that holds a credential.) */
import type { Catalogue } from "./catalogue.ts";
import type { Config } from "./config.ts";
import { VERSION } from "./version.ts";

/** Where both sides listen. */
export interface Addresses {
  readonly url: string;
  readonly adminUrl: string;
}

/** Who is served from where; one line each for what v2 does not serve, since silence there is found out by clients. */
export function announcement(config: Config, catalogue: Catalogue, { url, adminUrl }: Addresses): string {
  return [
    `carryover ${VERSION}: v1 clients at ${url}, v2 ${catalogue.version} at ${config.upstream.v2.url}, admin at ${adminUrl}, ${catalogue.resources.length} resources`,
    `  v1 requests: ${served(config)}`,
    `  operations that only v1 has: ${onlyV1(config)}`,
    `  token exchange: ${exchange(config)}`,
  ].join("\n");
}

function served({ cutover: { rulesFile, mode } }: Config): string {
  return rulesFile === undefined
    ? `${mode} (cutover.mode)`
    : `by the rules of ${rulesFile}, else ${mode} (cutover.mode)`;
}

function onlyV1({ upstream: { v1 }, fallback }: Config): string {
  if (v1 === undefined) return "refused with 501 (upstream.v1.url is not set)";
  return fallback === "native" ? `native v1 at ${v1.url}` : "refused with 501 (fallback: refuse)";
}

function exchange({ upstream: { sts } }: Config): string {
  return sts === undefined
    ? "none, /sts/exchange is answered with 404 (upstream.sts.url is not set)"
    : `/sts/exchange goes to ${sts.url}`;
}
