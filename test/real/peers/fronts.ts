/** The fronts that the gate is tried behind, and how each reports what it read. */

import { later } from "../../end-to-end/app/rig.ts";
import { startCarryover } from "../../support/carryover.ts";
import { PROGRAMS, type Program } from "../ingress/programs.ts";
import { type Ingress, startProxy } from "../ingress/proxy.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { startTap, type Tap } from "./tap.ts";

export interface Front {
  readonly program: Program;
  /** The recipe of docs/ingress with a stamp on every request that goes on: an id, and method and target as read. */
  readonly stamped: (recipe: string) => string;
}

export interface Chain {
  readonly front: Ingress;
  readonly tap: Tap;
  readonly platform: Platform;
}

const program = (name: string): Program => {
  const found = PROGRAMS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no program ${name}`);
  return found;
};

const after =
  (place: string, ...lines: readonly string[]) =>
  (recipe: string): string => {
    if (!recipe.includes(place)) throw new Error(`the recipe has no ${place}`);
    return recipe.replace(place, [place, ...lines].join("\n"));
  };

export const FRONTS: readonly Front[] = [
  {
    program: program("nginx"),
    stamped: after(
      "proxy_set_header X-Forwarded-Host $http_host;",
      "  proxy_set_header X-Front-Id $request_id;",
      '  proxy_set_header X-Front-Read "$request_method $request_uri";',
    ),
  },
  {
    program: program("haproxy"),
    stamped: (recipe) =>
      after(
        "http-request set-header X-Forwarded-Host %[req.hdr(host)] if { req.hdr(host) -m found }",
        "  http-request set-header X-Front-Id %[uuid()]",
        // What it wrote came over HTTP/2 without a scheme and a host in front.
        '  http-request set-header X-Front-Read "%[method] %[url]" unless { fc_http_major 2 }',
        '  http-request set-header X-Front-Read "%[method] %[pathq]" if { fc_http_major 2 }',
        // Its own default uses a connection for several clients only from their second request on.
      )(after("  retries 0", "  http-reuse always")(recipe)),
  },
  {
    program: program("envoy"),
    stamped: (recipe) =>
      after(
        "request_headers_to_add:",
        '                    - header: { key: x-front-id, value: "%STREAM_ID%" }',
        "                      append_action: OVERWRITE_IF_EXISTS_OR_ADD",
        '                    - header: { key: x-front-read, value: "%REQ(:METHOD)% %REQ(:PATH)%" }',
        "                      append_action: OVERWRITE_IF_EXISTS_OR_ADD",
        // A refusal in HTTP/2 is a connection that closes, which takes a second otherwise.
      )(after("stat_prefix: api", "                delayed_close_timeout: 0.01s")(recipe)),
  },
];

/** A front, carryover behind it for v1 and v2 alike, and the platform behind that; gone after the test. */
export async function chainOf({ program: one, stamped }: Front): Promise<Chain> {
  const platform = await startPlatform();
  const carryover = await startCarryover({
    v2Url: platform.url,
    v1Url: platform.url,
    stsUrl: platform.url,
    flags: {
      listenTrustedProxies: "127.0.0.1",
      limitsHeaderBytes: "20KiB",
      listenExtraPrefixes: "/x,/next,/hidden,/inner",
    },
  });
  later(carryover.close);
  const tap = await startTap(carryover.url);
  const behind = { carryoverUrl: tap.url, adminUrl: carryover.adminUrl, platformUrl: tap.url, edit: stamped };
  return { front: await startProxy(one, behind), tap, platform };
}
