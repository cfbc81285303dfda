/**
 * Runs replicas behind nginx as `deploy/nginx/carryover.conf` configures it: one nginx with one worker, and one port
 * for each policy.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../scripts/free-ports.mjs";
import { startForeign } from "../processes.mjs";

const SHIPPED = join(import.meta.dirname, "../../deploy/nginx/carryover.conf");

export const HASH = "hash by Authorization";

/** What chooses the process, as nginx writes it. */
export const POLICIES = {
  least_conn: "least_conn;",
  "random two": "random two least_conn;",
  [HASH]: "hash $http_authorization consistent;",
};

/**
 * `ways`: each with a name, the `policy` (a key of POLICIES) and the URLs of its replicas. Resolves with one server, whose
 * `urls` are by name.
 */
export async function startFront({ command, env }, ways, folder) {
  const files = join(folder, "front");
  await mkdir(files, { recursive: true });
  const shipped = await readFile(SHIPPED, "utf8");
  const urls = new Map();
  const parts = [];
  for (const [index, way] of ways.entries()) {
    const port = await freePort();
    urls.set(way.name, `http://127.0.0.1:${port}`);
    parts.push(configuration(shipped, { ...way, port, upstream: `way${index}` }));
  }
  await writeFile(join(files, "nginx.conf"), around(parts));
  const [first] = urls.values();
  const ready = () =>
    fetch(first).then(
      () => true,
      () => false,
    );
  const server = await startForeign(command, ["-p", files, "-c", "nginx.conf", "-e", "stderr"], {
    env,
    ready,
    url: "",
  });
  return { ...server, urls };
}

/** The shipped file with the ports, the policy and a name of its own. Throws when it holds no such place any more. */
function configuration(shipped, { policy, replicas, port, upstream }) {
  const servers = replicas.map((url) => `  server ${new URL(url).host} max_fails=1 fail_timeout=1s;`).join("\n");
  const edits = [
    [/^upstream carryover \{$/m, `upstream ${upstream} {`],
    [/^ {2}zone carryover /m, `  zone ${upstream} `],
    [/^ {2}least_conn;$/m, `  ${POLICIES[policy]}`],
    [/(^ {2}server 127\.0\.0\.1:\d+ .*\n)+/m, `${servers}\n`],
    [/^ {2}listen 80;$/m, `  listen 127.0.0.1:${port} backlog=1024;`],
    [/http:\/\/carryover;/g, `http://${upstream};`],
  ];
  return edits.reduce((text, [place, put]) => {
    if (text.search(place) < 0) throw new Error(`${SHIPPED} has nothing like ${place}`);
    return text.replace(place, put.replaceAll("$", "$$$$"));
  }, shipped);
}

/** No master process, so that the one worker is the process started. */
const around = (parts) => `
daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 100000000;
${parts.join("\n")}
}
`;
