/**
 * The programs that the recipes are for, and how to check and run each. (`scripts/install-ingress-tools.sh` installs
 * them.)
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** What a recipe leaves open, by the name it has in the file. */
export type Values = Readonly<Record<string, string>>;

export type Wire = "HTTP/1.1" | "HTTP/2";

export interface Program {
  readonly name: string;
  /** With the release line the recipe is for. */
  readonly title: string;
  /** Its recipe in `docs/ingress`. */
  readonly recipe: string;
  /** Does it look at `/readyz` itself? */
  readonly checksHealth: boolean;
  /** Does it take HTTP/2 without TLS on the port of HTTP/1.1? Else it has one of its own. */
  readonly oneListener: boolean;
  /** The protocol of a TLS client that offers both. */
  readonly prefers: Wire;
  /** Over which an answer that breaks off seems to be whole to the client. */
  readonly hidesBreaks: readonly Wire[];
  /** Does it send a GET again when a connection used before is closed without an answer? */
  readonly repeatsReads: boolean;
  readonly path: string;
  /** Writes what must lie in `folder` beside the recipe, which lies there under its own name. */
  prepare(folder: string): Promise<void>;
  /** The program's own check of its configuration. */
  check(folder: string): readonly string[];
  /** In the foreground, as one process that leaves nothing behind. */
  run(folder: string): readonly string[];
}

const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/ingress");
export const RECIPES = resolve(import.meta.dirname, "../../../docs/ingress");

const nothing = async (): Promise<void> => {};

/** What a system's own nginx.conf has around `conf.d/*.conf`, with every file inside the test's folder. */
const NGINX_AROUND = `daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http { access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include nginx.conf;
}
`;

const nginx = (folder: string): string[] => ["-p", folder, "-c", "around.conf", "-e", "stderr"];

const CADDY = {
  recipe: "Caddyfile",
  checksHealth: true,
  oneListener: true,
  prefers: "HTTP/2" as const,
  hidesBreaks: [],
  repeatsReads: true,
  prepare: nothing,
  check: (folder: string) => ["validate", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")],
  run: (folder: string) => ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")],
};

export const PROGRAMS: readonly Program[] = [
  {
    name: "nginx",
    title: "nginx 1.22",
    recipe: "nginx.conf",
    checksHealth: false,
    oneListener: false,
    prefers: "HTTP/2",
    hidesBreaks: [],
    repeatsReads: false,
    path: join(TOOLS, "usr/sbin/nginx"),
    prepare: (folder) => writeFile(join(folder, "around.conf"), NGINX_AROUND),
    check: (folder) => ["-t", ...nginx(folder)],
    run: nginx,
  },
  {
    name: "haproxy",
    title: "HAProxy 2.6",
    recipe: "haproxy.cfg",
    checksHealth: true,
    oneListener: true,
    prefers: "HTTP/1.1",
    hidesBreaks: ["HTTP/2"],
    repeatsReads: false,
    path: join(TOOLS, "usr/sbin/haproxy"),
    prepare: nothing,
    check: (folder) => ["-c", "-f", join(folder, "haproxy.cfg")],
    run: (folder) => ["-db", "-f", join(folder, "haproxy.cfg")],
  },
  {
    name: "envoy",
    title: "Envoy 1.40",
    recipe: "envoy.yaml",
    checksHealth: true,
    oneListener: true,
    prefers: "HTTP/2",
    hidesBreaks: [],
    repeatsReads: false,
    path: join(TOOLS, "pypi/envoy"),
    prepare: nothing,
    check: (folder) => ["--mode", "validate", "-l", "warn", "-c", join(folder, "envoy.yaml")],
    run: (folder) => [
      ...["-l", "warn", "--concurrency", "1", "--disable-hot-restart"],
      ...["-c", join(folder, "envoy.yaml")],
    ],
  },
  { ...CADDY, name: "caddy", title: "Caddy 2.11", path: join(TOOLS, "pypi/caddy") },
  {
    ...CADDY,
    name: "caddy-debian",
    title: "Caddy 2.6",
    path: join(TOOLS, "usr/bin/caddy"),
    hidesBreaks: ["HTTP/1.1", "HTTP/2"],
  },
];

/** The version that was got. Throws with the remedy when the program is not there: a test never passes without it. */
export function installed({ name, path }: Program): string {
  const remedy = `run scripts/install-ingress-tools.sh (tests of the ingress recipes need ${name})`;
  if (!existsSync(path)) throw new Error(`${path} is not there: ${remedy}`);
  const version = new RegExp(`^${name} (.+)$`, "m").exec(readFileSync(join(TOOLS, ".versions"), "utf8"))?.[1];
  if (version === undefined) throw new Error(`${TOOLS} does not say which ${name} it holds: ${remedy}`);
  return version;
}

/** What the programs see of the environment: their own libraries, and `folder` for all that they keep. */
export function environment(folder: string): Values {
  const libraries = ["usr/lib", "lib"].flatMap((place) => {
    const names = existsSync(join(TOOLS, place)) ? readdirSync(join(TOOLS, place)) : [];
    return names.filter((name) => name.endsWith("-linux-gnu")).map((name) => join(TOOLS, place, name));
  });
  return {
    PATH: process.env["PATH"] ?? "",
    LD_LIBRARY_PATH: libraries.join(":"),
    HOME: folder,
    TMPDIR: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    // Caddy's own admin port, which is no part of the recipe.
    CADDY_ADMIN: `unix/${join(folder, "admin.sock")}`,
  };
}

/** The recipe with its open names filled in. Throws for a name that has no value. */
export function filledIn(recipe: string, values: Values): string {
  return recipe.replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
    const value = new Map(Object.entries(values)).get(name);
    if (value === undefined) throw new Error(`nothing says what \${${name}} is`);
    return value;
  });
}
