/** The cheapest possible platform: nginx that serves files (a record, a page of 200, the windows of a long list). */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../scripts/free-ports.mjs";
import { startForeign } from "../processes.mjs";

const LIST = "/iam/v2beta1/groups";

/**
 * `page`: what the list is for everybody, but for whom Authorization holds `long`: that one gets the windows of `long`, by
 * query. `record`: what any group is. All are text; `folder` takes them.
 */
export async function startCanned({ command, env }, { page, record, long }, folder) {
  const port = await freePort();
  const files = join(folder, "canned");
  await mkdir(join(files, "long"), { recursive: true });
  await mkdir(join(files, "short"), { recursive: true });
  await writeFile(join(files, "record"), record);
  await writeFile(join(files, "short", "page_size=200"), page);
  for (const [query, text] of long) await writeFile(join(files, "long", query), text);
  await writeFile(join(files, "nginx.conf"), configuration(port, files));
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${url}${LIST}?page_size=200`).then(
      ({ status }) => status === 200,
      () => false,
    );
  return startForeign(command, ["-p", files, "-c", "nginx.conf", "-e", "stderr"], { env, ready, url });
}

const configuration = (port, files) => `
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
  keepalive_timeout 60s;
  tcp_nodelay on;
  open_file_cache max=1000;
  open_file_cache_valid 1h;
  etag off;
  if_modified_since off;
  default_type application/json;
  root ${files};
  map $http_authorization $length {
    ~long long;
    default short;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location = ${LIST} { try_files /$length/$args =404; }
    location ${LIST}/ { try_files /record =404; }
  }
}
`;
