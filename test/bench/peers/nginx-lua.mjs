/**
 * nginx with Lua that translates one v1 list. (One worker; cjson parses, three names are replaced in place, cjson
 * encodes.)
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../scripts/free-ports.mjs";
import { startForeign } from "../processes.mjs";
import { findTool, triplet } from "../tools.mjs";

const MODULES = ["ndk_http_module.so", "ngx_http_lua_module.so"];

const modulesOf = (root) => MODULES.map((name) => join(root, "usr/lib/nginx/modules", name));
const cjsonOf = (root) => join(root, "usr/lib", triplet(root), "lua/5.1");

/** How to run an nginx that has Lua and cjson, or undefined. */
export function findNginxLua() {
  return findTool("nginx", ["-v"], (root) => [...modulesOf(root), join(cjsonOf(root), "cjson.so")]);
}

/** Starts it in front of `upstream`; its files go into `folder`. */
export async function startNginxLua({ command, env, root }, upstream, folder) {
  const port = await freePort();
  const files = join(folder, "nginx");
  await mkdir(files, { recursive: true });
  await writeFile(join(files, "nginx.conf"), configuration({ root, port, upstream: new URL(upstream).host }));
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  return startForeign(command, ["-p", files, "-c", "nginx.conf", "-e", "stderr"], { env, ready, url });
}

/** No master process, so that the one worker is the process started; no access log; nothing of a page goes to disk. */
const configuration = ({ root, port, upstream }) => `
daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
${modulesOf(root)
  .map((file) => `load_module ${file};`)
  .join("\n")}
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 100000000;
  lua_package_path "${join(root, "usr/share/lua/5.1")}/?.lua;;";
  lua_package_cpath "${cjsonOf(root)}/?.so;;";
  init_by_lua_block { require "cjson" }
  upstream platform {
    server ${upstream};
    keepalive 64;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location = /iam/v1/groups {
      content_by_lua_block {
        local cjson = require "cjson"
        local answer = ngx.location.capture("/page")
        if answer.status ~= 200 then return ngx.exit(answer.status) end
        local items = cjson.decode(answer.body).groups
        for i = 1, #items do
          local record = items[i]
          record.id, record.uid = record.uid, nil
          record.createdAt, record.createTime = record.createTime, nil
          record.updatedAt, record.updateTime = record.updateTime, nil
        end
        local body = cjson.encode({ items = items })
        ngx.header["content-type"] = "application/json"
        ngx.header["content-length"] = #body
        ngx.print(body)
      }
    }
    location = / { return 204; }
    location = /page {
      internal;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 16k;
      proxy_buffers 32 16k;
      proxy_pass http://platform/iam/v2beta1/groups?page_size=200;
    }
  }
}
`;
