/**
 * Gateways that translate a v1 get and a v1 list of groups as their users write it, one worker each: nginx with Lua (cjson), nginx with njs,
 * Envoy with a Lua filter.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../scripts/free-ports.mjs";
import { startForeign } from "../processes.mjs";
import { CACHE, findTool, triplet } from "../tools.mjs";

const modulesOf = (root, names) => names.map((name) => join(root, "usr/lib/nginx/modules", name));
const cjsonOf = (root) => join(root, "usr/lib", triplet(root), "lua/5.1");
const LUA = ["ndk_http_module.so", "ngx_http_lua_module.so"];
const NJS = ["ngx_http_js_module.so"];
const ENVOY = join(CACHE, "ingress/pypi/envoy");

/** By key: how each is found (undefined: not here), started in front of `upstream`, and what it is called. `folder` takes its files. */
export const GATEWAYS = {
  lua: {
    name: "nginx + Lua (cjson)",
    find: () => findTool("nginx", ["-v"], (root) => [...modulesOf(root, LUA), join(cjsonOf(root), "cjson.so")]),
    start: (found, upstream, folder) => startNginx(found, upstream, join(folder, "lua"), LUA, luaParts),
  },
  njs: {
    name: "nginx + njs",
    find: () => findTool("nginx", ["-v"], (root) => modulesOf(root, NJS)),
    start: async (found, upstream, folder) => {
      const files = join(folder, "njs");
      await mkdir(files, { recursive: true });
      await writeFile(join(files, "translate.js"), NJS_SCRIPT);
      return startNginx(found, upstream, files, NJS, njsParts);
    },
  },
  envoy: { name: "Envoy + Lua (string.gsub)", find: findEnvoy, start: startEnvoy },
};

async function startNginx({ command, env, root }, upstream, files, modules, parts) {
  const port = await freePort();
  await mkdir(files, { recursive: true });
  const { http, get, list } = parts(root);
  const text = configuration({
    loaded: modulesOf(root, modules),
    port,
    upstream: new URL(upstream).host,
    http,
    get,
    list,
  });
  await writeFile(join(files, "nginx.conf"), text);
  const url = `http://127.0.0.1:${port}`;
  return startForeign(command, ["-p", files, "-c", "nginx.conf", "-e", "stderr"], { env, ready: answers(url), url });
}

const answers = (url) => () =>
  fetch(`${url}/iam/v1/groups`).then(
    () => true,
    () => false,
  );

/** No master process, so that the one worker is the process started; no access log; nothing of a page goes to disk. */
const configuration = ({ loaded, port, upstream, http, get, list }) => `
daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
${loaded.map((file) => `load_module ${file};`).join("\n")}
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 100000000;
  subrequest_output_buffer_size 1m;
  ${http}
  upstream platform {
    server ${upstream};
    keepalive 64;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location = /iam/v1/groups { ${list} }
    location ~ ^/iam/v1/groups/ { ${get} }
    location /iam/v2beta1/ {
      internal;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 16k;
      proxy_buffers 32 16k;
      proxy_pass http://platform;
    }
  }
}
`;

function luaParts(root) {
  const translated = (target, args, translate) => `content_by_lua_block {
        local cjson = require "cjson"
        local answer = ngx.location.capture(${target}, { args = ${args} })
        if answer.status ~= 200 then return ngx.exit(answer.status) end
        local v2 = cjson.decode(answer.body)
        ${translate}
        local body = cjson.encode(v1)
        ngx.header["content-type"] = "application/json"
        ngx.header["content-length"] = #body
        ngx.print(body)
      }`;
  return {
    http: `lua_package_path "${join(root, "usr/share/lua/5.1")}/?.lua;;";
  lua_package_cpath "${cjsonOf(root)}/?.so;;";
  init_by_lua_block {
    require "cjson"
    function rename(record)
      record.id, record.uid = record.uid, nil
      record.createdAt, record.createTime = record.createTime, nil
      record.updatedAt, record.updateTime = record.updateTime, nil
      return record
    end
  }`,
    get: translated('"/iam/v2beta1" .. ngx.var.uri:sub(8)', "ngx.var.args", "local v1 = rename(v2)"),
    list: translated(
      '"/iam/v2beta1/groups"',
      '"page_size=200"',
      "for i = 1, #v2.groups do rename(v2.groups[i]) end local v1 = { items = v2.groups }",
    ),
  };
}

const njsParts = () => ({
  http: "js_import translate.js;",
  get: "js_content translate.get;",
  list: "js_content translate.list;",
});

const NJS_SCRIPT = `
function rename(record) {
  record.id = record.uid;
  record.createdAt = record.createTime;
  record.updatedAt = record.updateTime;
  delete record.uid;
  delete record.createTime;
  delete record.updateTime;
  return record;
}

async function translated(r, path, args, translate) {
  const answer = await r.subrequest(path, { args });
  if (answer.status !== 200) return r.return(answer.status);
  r.headersOut["Content-Type"] = "application/json";
  r.return(200, JSON.stringify(translate(JSON.parse(answer.responseText))));
}

const get = (r) => translated(r, r.uri.replace("/v1/", "/v2beta1/"), "", rename);
const list = (r) =>
  translated(r, "/iam/v2beta1/groups", "page_size=200", (page) => ({ items: page.groups.map(rename) }));

export default { get, list };
`;

async function findEnvoy() {
  if (!existsSync(ENVOY)) return undefined;
  const { stdout } = await promisify(execFile)(ENVOY, ["--version"]);
  return { version: `Envoy ${/\/(\d+\.\d+\.\d+)\//.exec(stdout)?.[1]}` };
}

/** Envoy has no JSON for Lua of its own: names are replaced in the text, wherever they stand. */
async function startEnvoy(_, upstream, folder) {
  const [port, files] = [await freePort(), join(folder, "envoy")];
  await mkdir(files, { recursive: true });
  await writeFile(join(files, "envoy.json"), JSON.stringify(envoyConfiguration(port, new URL(upstream))));
  const url = `http://127.0.0.1:${port}`;
  const args = ["-c", join(files, "envoy.json"), "--concurrency", "1", "--disable-hot-restart", "-l", "error"];
  return startForeign(ENVOY, args, { env: { ...process.env, HOME: homedir() }, ready: answers(url), url });
}

const ENVOY_LUA = `
function envoy_on_request(handle)
  local path = handle:headers():get(":path")
  local list = path == "/iam/v1/groups"
  handle:streamInfo():dynamicMetadata():set("v1", "list", list)
  handle:headers():replace(":path", list and "/iam/v2beta1/groups?page_size=200" or path:gsub("/v1/", "/v2beta1/", 1))
end

function envoy_on_response(handle)
  if handle:headers():get(":status") ~= "200" then return end
  local body = handle:body(true)
  local text = body:getBytes(0, body:length())
  text = text:gsub('"uid":', '"id":'):gsub('"createTime":', '"createdAt":'):gsub('"updateTime":', '"updatedAt":')
  if handle:streamInfo():dynamicMetadata():get("v1")["list"] then
    text = text:gsub('"groups":', '"items":', 1):gsub('%],"nextPageToken":[^%]]*$', ']}')
  end
  handle:headers():replace("content-length", body:setBytes(text))
end
`;

function envoyConfiguration(port, { hostname, port: platform }) {
  const address = (number) => ({ socket_address: { address: "127.0.0.1", port_value: Number(number) } });
  const type = (name) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  const manager = {
    "@type": type("network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "v1",
    route_config: {
      virtual_hosts: [
        { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "platform" } }] },
      ],
    },
    http_filters: [
      {
        name: "lua",
        typed_config: { "@type": type("http.lua.v3.Lua"), default_source_code: { inline_string: ENVOY_LUA } },
      },
      { name: "router", typed_config: { "@type": type("http.router.v3.Router") } },
    ],
  };
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(platform) } }] }];
  return {
    static_resources: {
      listeners: [
        { name: "v1", address: address(port), filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] },
      ],
      clusters: [{ name: "platform", type: "STATIC", load_assignment: { cluster_name: hostname, endpoints } }],
    },
  };
}
