#!/usr/bin/env bash
# For `npm run bench`: nginx with Lua and cjson, nginx with njs and Envoy (peers), wrk (the load) and Node 24.
. "$(dirname "$0")/tools.sh"
"$(dirname "$0")/install-ingress-tools.sh" "$@"
node24
packages=(nginx libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-http-js lua-cjson lua-resty-core lua-resty-lrucache
  libluajit2-5.1-2 libluajit2-5.1-common libpcre3 libpcre2-8-0 libssl3 wrk)
want bench-tools "${packages[*]}"
debs "$fresh" "${packages[@]}"
# A library that is missing, or is not the one meant, shows here and not in the middle of a bench.
libraries=$(printf '%s:' "$fresh"/usr/lib/*-linux-gnu "$fresh"/lib/*-linux-gnu)
if LD_LIBRARY_PATH=$libraries ldd -r "$fresh/usr/sbin/nginx" "$fresh/usr/bin/wrk" "$fresh"/usr/lib/nginx/modules/*.so 2>&1 |
  grep -E 'not found|undefined symbol: lua'; then
  echo "these are missing beside ${packages[*]}" >&2
  exit 1
fi
expect nginx 1.22. env LD_LIBRARY_PATH="$libraries" "$fresh/usr/sbin/nginx" -v
keep
