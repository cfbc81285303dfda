/** Turns a request into a response: routing, decoding, authentication, action, in this order. */

import { type Authenticate, bearerToken, exchange, exchangeRefreshToken } from "../auth.ts";
import type { Context } from "../context.ts";
import { type ApiRequest, type ApiResponse, type HeaderList, header } from "../http.ts";
import {
  gatewayRefusal,
  isRefusal,
  type Refusal,
  RpcCode,
  refusalBody,
  refusalMessage,
  refusalStatus,
} from "../refusal.ts";
import { parseQuery } from "../wire/decode.ts";
import { needTerms, type RateLimiter } from "./misbehave.ts";
import { createMatcher, pathSegments, type Route } from "./route.ts";

/** What the gateway needs to serve. */
export interface Gateway {
  readonly context: Context;
  readonly secret: string;
  readonly routes: readonly Route[];
  readonly limiter: RateLimiter;
  readonly authenticate: Authenticate;
}

const encoder = new TextEncoder();

/** Below `/sts/`. */
const TOKEN_SERVICE = new Map([
  ["exchange", { methods: ["GET", "POST"], answer: exchange }],
  ["exchange_refresh_token", { methods: ["POST"], answer: exchangeRefreshToken }],
]);

/** Builds the function that answers any request at once. It never throws. */
export function createHandler(gateway: Gateway): (request: ApiRequest) => ApiResponse {
  const match = createMatcher(gateway.routes);
  return (request) => {
    const seen: { route: Route | undefined } = { route: undefined };
    try {
      return success(serve(gateway, match, request, seen));
    } catch (thrown) {
      return failure(isRefusal(thrown) ? thrown : internal(thrown), seen.route, request.target);
    }
  };
}

function internal(thrown: unknown): Refusal {
  return gatewayRefusal(RpcCode.INTERNAL, `the sandbox is broken: ${String(thrown)}`);
}

function serve(
  gateway: Gateway,
  match: ReturnType<typeof createMatcher>,
  request: ApiRequest,
  seen: { route: Route | undefined },
): string {
  const { context, secret } = gateway;
  const [rawPath = "", ...rest] = request.target.split("?");
  const rawQuery = rest.join("?");
  const segments = pathSegments(rawPath);
  const body = request.body ?? new Uint8Array();
  if (body.length > context.settings.maxBodyBytes) {
    throw gatewayRefusal(RpcCode.RESOURCE_EXHAUSTED, `the body is larger than ${context.settings.maxBodyBytes} bytes`);
  }
  const tokenService = segments[0] === "sts" ? TOKEN_SERVICE.get(segments.slice(1).join("/")) : undefined;
  if (tokenService !== undefined) {
    if (!tokenService.methods.includes(request.method)) {
      throw gatewayRefusal(RpcCode.UNIMPLEMENTED, "Method Not Allowed");
    }
    return tokenService.answer(context, secret, request, parseQuery(rawQuery));
  }
  const isForm = isFormPost(request);
  const override = isForm ? (header(request.headers, "x-http-method-override") ?? "").toUpperCase() : "";
  const { route, tail } = match(override === "" ? request.method : override, segments, isForm && override === "");
  seen.route = route;
  // A form that is read for its parameters leaves no body.
  const isParameters = override !== "" || route.method !== request.method;
  const query = parseQuery(isParameters ? `${Buffer.from(body).toString("utf8")}&${rawQuery}` : rawQuery);
  const action = route.prepare({ tail, query, body: isParameters ? new Uint8Array() : body });
  const authorization = header(request.headers, "authorization");
  gateway.limiter.admit(bearerToken(authorization) ?? authorization ?? "");
  const caller = gateway.authenticate(request.headers);
  needTerms(context.settings, route, request.method, rawPath);
  return action(caller);
}

/** A form that is posted may name another method, and stands for the GET of a path that has no POST: stock gateways see to both. */
function isFormPost({ method, headers }: ApiRequest): boolean {
  return method === "POST" && header(headers, "content-type") === "application/x-www-form-urlencoded";
}

function success(text: string): ApiResponse {
  const headers: HeaderList = [
    ["content-type", "application/json"],
    ["grpc-metadata-content-type", "application/grpc"],
  ];
  return { status: 200, headers, body: encoder.encode(text) };
}

function failure(refusal: Refusal, route: Route | undefined, target: string): ApiResponse {
  const domain = `${route?.domain ?? (target.startsWith("/sts/") ? "sts" : "iam")}.platform.example`;
  const body = refusalBody(refusal, domain, (field) => route?.names?.get(field) ?? field);
  const headers: (readonly [string, string])[] = [["content-type", "application/json"]];
  if (route !== undefined && refusal.bare !== true) headers.push(["grpc-metadata-content-type", "application/grpc"]);
  if (refusal.code === RpcCode.UNAUTHENTICATED) headers.push(["www-authenticate", refusalMessage(refusal)]);
  if (refusal.retryAfter !== undefined) headers.push(["retry-after", String(refusal.retryAfter)]);
  return { status: refusalStatus(refusal), headers, body: encoder.encode(body) };
}
