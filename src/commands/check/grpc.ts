/** What `check` asks about gRPC: does each upstream speak it, and do the descriptors describe what is translated? */
import type { ClientHttp2Stream } from "node:http2";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { gapsOf } from "../../grpc/descriptors.ts";
import { descriptorsOf, domainsOf } from "../../grpc/port.ts";
import { createGrpcSessions } from "../../grpc/sessions.ts";
import type { Upstream } from "../../model/exchange.ts";
import { Problem } from "../../model/problem.ts";
import { createRouter } from "../../router/router.ts";
import { fail, type Judgement, listed, note, ok, warn } from "./finding.ts";

/** To be asked only with `listen.grpc.port`. */
export async function checkGrpc(config: Config, catalogue: Catalogue): Promise<readonly Judgement[]> {
  const { v2, v1, sts } = config.upstream;
  const asked: Judgement[] = [];
  for (const [name, upstream] of [
    ["v2", v2],
    ["v1", v1],
    ["sts", sts],
  ] as const) {
    if (upstream !== undefined) asked.push(await reached(name, upstream, config));
  }
  return [...asked, ...describes(config, catalogue)];
}

async function reached(
  name: Upstream,
  { url, grpcUrl, tls, timeouts }: NonNullable<Config["upstream"]["v1"]>,
  { limits }: Config,
): Promise<Judgement> {
  const { origin } = new URL(grpcUrl ?? url);
  const sessions = createGrpcSessions({
    ...{ url: origin, tls, connections: 1, connectMs: timeouts.connectSeconds * 1_000 },
    headerBytes: limits.responseHeaderBytes,
    accepted: () => true,
    now: () => performance.now(),
  });
  try {
    const headers = { ":method": "POST", ":path": "/grpc.health.v1.Health/Check" };
    const origin = { credential: "", begun: false, since: 0, deadline: Number.POSITIVE_INFINITY };
    const stream = await new Promise<ClientHttp2Stream>((begin, refuse) => {
      sessions.enter(origin, { start: (place) => place.open(headers, { begin, refuse }), refuse });
    });
    stream.on("error", () => {});
    stream.close();
    return ok(`upstream.${name} speaks HTTP/2 at ${origin}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const path = `upstream.${name}.grpcUrl`;
    const what = `upstream.${name} does not speak HTTP/2 at ${origin} (${error.reason})`;
    // Its clients may exchange tokens over HTTP.
    return (name === "sts" ? warn : fail)(what, `set ${path} to where it serves gRPC`);
  } finally {
    sessions.close();
  }
}

function describes(config: Config, catalogue: Catalogue): readonly Judgement[] {
  const route = createRouter({ ...catalogue, extraPrefixes: config.listen.extraPrefixes });
  try {
    const descriptors = descriptorsOf(config, { domains: domainsOf(catalogue), route });
    if (descriptors === undefined) {
      const what = "grpc.descriptors is not set: v1 calls over gRPC are not translated";
      return [note(what, "set it to a FileDescriptorSet of the API")];
    }
    const { translated, operations, fields } = gapsOf(descriptors, catalogue.resources);
    const { leftOut } = descriptors;
    const remedy = "write the file from the API's current proto files";
    return [
      ok(`grpc.descriptors: ${translated} rpcs of v1 are translated`),
      ...(operations.length === 0 ? [] : [warn(`grpc.descriptors has no rpc for ${listed(operations)}`, remedy)]),
      ...(fields.length === 0 ? [] : [note(`grpc.descriptors lacks fields of v1 records: ${listed(fields)}`)]),
      ...(leftOut.length === 0
        ? []
        : [note(`grpc.descriptors: not used, since types are missing: ${listed(leftOut)}`)]),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fail(error.faults.map(({ what }) => what).join("; "), "name a FileDescriptorSet of the API")];
  }
}
