/** A gRPC call to explain, as the HTTP request that it stands for. */
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Config } from "../../config/config.ts";
import type { Router } from "../../router/router.ts";
import { type AskedRequest, type GivenRequest, invalidRequest, readRequest } from "../../runtime/explain/request.ts";

const RPC = /^\/?((?:\w+\.)+\w+)\/(\w+)$/;

/** True for `acme.platform.iam.Groups/List`. */
export function isRpc(text: string): boolean {
  return RPC.test(text.trim());
}

/** `given.data`: the message in JSON. Throws `Problem` INVALID_REQUEST for what the descriptors do not have. */
export async function readRpc(
  given: GivenRequest,
  read: (path: string) => Uint8Array,
  { config, catalogue, route }: { readonly config: Config; readonly catalogue: Catalogue; readonly route: Router },
): Promise<AskedRequest> {
  const [, service, method] = RPC.exec(given.text.trim()) ?? [];
  const name = `${service}/${method}`;
  const { descriptorsOf, domainsOf } = await import("../../grpc/port.ts");
  const { bytesOfJson, decodeRequest, jsonOfRequest, requestOf } = await import("../../grpc/transcode.ts");
  const descriptors = descriptorsOf(config, { domains: domainsOf(catalogue), route });
  if (descriptors === undefined) throw invalidRequest(`${name}: set grpc.descriptors to explain gRPC calls`);
  const rpc = descriptors.rpcs.get(`/${name}`);
  if (rpc === undefined) throw invalidRequest(`${name}: grpc.descriptors has no such rpc of the API`);
  if (rpc.bindings.length === 0) throw invalidRequest(`${name} has no HTTP rule, so carryover does not translate it`);
  // A text that is no path takes body and header fields as any other request does.
  const { headers, body } = readRequest({ ...given, text: "POST /" }, read);
  const json = body.length === 0 ? "{}" : Buffer.from(body).toString();
  const message = decodeRequest(rpc, bytesOfJson(rpc, json, descriptors.registry));
  const http = requestOf(rpc, jsonOfRequest(rpc, message, descriptors.registry));
  return { ...http, headers, notes: [`${name} over gRPC is this request over HTTP`] };
}
