/**
 * Settings that are usual elsewhere and break what the recipes guarantee. (docs/ingress.md shows the effect of each.)
 */

export interface Mistake {
  /** The program's name. */ readonly of: string;
  /** As the docs call it. */
  readonly setting: string;
  /** The recipe with it. Throws when the recipe has no place for it. */
  readonly edit: (recipe: string) => string;
}

const instead =
  (from: string, to: string) =>
  (recipe: string): string => {
    if (!recipe.includes(from)) throw new Error(`the recipe has no ${from}`);
    return recipe.replace(from, to);
  };

export const MISTAKES: readonly Mistake[] = [
  {
    of: "nginx",
    setting: "`proxy_pass` with a path or `$uri`: `proxy_pass http://$side$uri$is_args$args`",
    edit: instead("proxy_pass http://$side;", "proxy_pass http://$side$uri$is_args$args;"),
  },
  {
    of: "nginx",
    setting: "`rewrite`, even one that changes nothing: `rewrite ^(.*)$ $1 break`",
    edit: instead("proxy_pass http://$side;", "rewrite ^(.*)$ $1 break; proxy_pass http://$side;"),
  },
  { of: "nginx", setting: "no `large_client_header_buffers`", edit: instead("large_client_header_buffers 4 32k;", "") },
  { of: "haproxy", setting: "no `tune.bufsize`", edit: instead("tune.bufsize 65536", "") },
  {
    of: "haproxy",
    setting: "`http-request normalize-uri path-merge-slashes` and `percent-decode-unreserved`",
    edit: (recipe) =>
      instead(
        "frontend api",
        [
          "frontend api",
          "  http-request normalize-uri path-merge-slashes",
          "  http-request normalize-uri percent-decode-unreserved",
        ].join("\n"),
      )(instead("global", "global\n  expose-experimental-directives")(recipe)),
  },
  {
    of: "haproxy",
    setting: "`http-request set-path %[path,url_dec]`",
    edit: instead("frontend api", "frontend api\n  http-request set-path %[path,url_dec]"),
  },
  { of: "envoy", setting: "`normalize_path: true`", edit: instead("normalize_path: false", "normalize_path: true") },
  { of: "envoy", setting: "`merge_slashes: true`", edit: instead("merge_slashes: false", "merge_slashes: true") },
  {
    of: "envoy",
    setting: "`path_with_escaped_slashes_action: UNESCAPE_AND_FORWARD`",
    edit: instead("KEEP_UNCHANGED", "UNESCAPE_AND_FORWARD"),
  },
  {
    of: "caddy",
    setting: "`rewrite` with `{path}`: `rewrite * {path}?{query}`",
    edit: instead("@grpc header", "rewrite * {path}?{query}\n\t@grpc header"),
  },
  { of: "caddy", setting: "no `compression off`", edit: instead("compression off", "") },
];
