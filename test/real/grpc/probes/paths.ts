/** Probes of paths, methods, and of the fields that say that a request is gRPC. */
import type { Unusual } from "./request.ts";
import type { Probe } from "./table.ts";

const path = (what: string, of: (types: string) => string): Probe => ({
  what,
  request: ({ types }) => ({ path: of(types) }),
});

const method = (name: string): Probe => ({
  what: `${name} in place of POST`,
  request: () => ({ method: name }),
});

export const paths: readonly Probe[] = [
  path("the usual call", (types) => `/${types}.iam.Groups/List`),
  path("an unknown method", (types) => `/${types}.iam.Groups/Liste`),
  path("an unknown service of a known package", (types) => `/${types}.iam.Grapes/List`),
  path("an unknown package", () => "/nobody.knows.Groups/List"),
  path("a service without a package", () => "/Groups/List"),
  path("no slash in front", (types) => `${types}.iam.Groups/List`),
  path("two slashes in front", (types) => `//${types}.iam.Groups/List`),
  path("two slashes within", (types) => `/${types}.iam.Groups//List`),
  path("a slash at the end", (types) => `/${types}.iam.Groups/List/`),
  path("no method", (types) => `/${types}.iam.Groups`),
  path("an empty method", (types) => `/${types}.iam.Groups/`),
  path("an empty service", () => "//List"),
  path("a slash alone", () => "/"),
  path("an empty path", () => ""),
  path("an asterisk", () => "*"),
  path("a query", (types) => `/${types}.iam.Groups/List?x=1`),
  path("an empty query", (types) => `/${types}.iam.Groups/List?`),
  path("a fragment", (types) => `/${types}.iam.Groups/List#x`),
  path("percent-encoding in the method", (types) => `/${types}.iam.Groups/%4cist`),
  path("an encoded slash", (types) => `/${types}.iam.Groups%2fList`),
  path("a method in lower case", (types) => `/${types}.iam.Groups/list`),
  path("a service in lower case", (types) => `/${types}.iam.groups/List`),
  path("dot segments", (types) => `/${types}.iam.Groups/../${types}.iam.Groups/List`),
  path("a backslash", (types) => `\\${types}.iam.Groups\\List`),
  path("a space at the end", (types) => `/${types}.iam.Groups/List `),
  path("a URL as path", (types) => `http://platform.test/${types}.iam.Groups/List`),
  path("a path of HTTP", () => "/iam/v1/groups"),
  path("a path of 9,000 bytes", (types) => `/${types}.iam.Groups/${"L".repeat(9_000)}`),
  method("GET"),
  method("PUT"),
  method("DELETE"),
  method("HEAD"),
  method("OPTIONS"),
  method("post"),
  { what: "CONNECT", request: () => ({ method: "CONNECT", without: [":scheme", ":path"] }) },
];

const type = (what: string, value: string | undefined): Probe => ({
  what,
  request: () => ({ without: ["content-type"], plus: value === undefined ? [] : [["content-type", value]] }),
});

const fields = (what: string, unusual: Unusual): Probe => ({ what, request: () => unusual });

export const media: readonly Probe[] = [
  type("application/grpc+proto", "application/grpc+proto"),
  type("application/grpc+json", "application/grpc+json"),
  type("application/grpc;charset=utf-8", "application/grpc;charset=utf-8"),
  type("application/grpc+proto; charset=utf-8", "application/grpc+proto; charset=utf-8"),
  type("Application/GRPC", "Application/GRPC"),
  type("application/grpc-web", "application/grpc-web"),
  type("application/grpc-web+proto", "application/grpc-web+proto"),
  type("application/grpcx", "application/grpcx"),
  type("application/grpc+", "application/grpc+"),
  type("application/grpc with a space in front", " application/grpc"),
  type("application/json", "application/json"),
  type("text/plain", "text/plain"),
  type("an empty content-type", ""),
  type("no content-type", undefined),
  fields("two content-types", { plus: [["content-type", "application/grpc"]] }),
  fields("no te", { without: ["te"] }),
  fields("te: gzip", { without: ["te"], plus: [["te", "gzip"]] }),
  fields("te: trailers, gzip", { without: ["te"], plus: [["te", "trailers, gzip"]] }),
  fields("no :scheme", { without: [":scheme"] }),
  fields(":scheme https", {
    fields: (all) => all.map(([name, value]) => [name, name === ":scheme" ? "https" : value]),
  }),
  fields("no :path", { without: [":path"] }),
  fields("no :method", { without: [":method"] }),
  fields("no :authority, and no host", { without: [":authority"] }),
  fields("host in place of :authority", { without: [":authority"], plus: [["host", "platform.test"]] }),
  fields(":authority and the same host", { plus: [["host", "platform.test"]] }),
  fields(":authority and another host", { plus: [["host", "elsewhere.test"]] }),
  fields("two hosts", {
    without: [":authority"],
    plus: [
      ["host", "platform.test"],
      ["host", "platform.test"],
    ],
  }),
  fields("an empty :authority", {
    fields: (all) => all.map(([name, value]) => [name, name === ":authority" ? "" : value]),
  }),
  fields(":authority with credentials", {
    fields: (all) => all.map(([name, value]) => [name, name === ":authority" ? "user@platform.test" : value]),
  }),
  fields("a field before the pseudo fields", {
    fields: (all) => [["te", "trailers"], ...all.filter(([name]) => name !== "te")],
  }),
  fields("two :path", { fields: (all) => [...all.slice(0, 3), ...all.slice(2)] }),
  fields("an unknown pseudo field", { fields: (all) => [[":version", "2"], ...all] }),
];
