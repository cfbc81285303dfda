#!/usr/bin/env bash
# Gets what `npm run bench` uses when it is there: nginx with Lua and cjson (a peer) and wrk (the load), as Debian's packages.
# They are unpacked into a cache folder where the bench looks for them; nothing is installed into the system, so no root is
# needed while apt's package lists are there. Says nothing and takes no time when they were unpacked before.
set -euo pipefail
packages=(nginx libnginx-mod-http-ndk libnginx-mod-http-lua lua-cjson lua-resty-core lua-resty-lrucache
  libluajit2-5.1-2 libluajit2-5.1-common libpcre3 libpcre2-8-0 libssl3 wrk)
tools="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci/bench-tools"
[ "$(cat "$tools/.packages" 2>/dev/null)" = "${packages[*]}" ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "there is no apt-get here: install nginx with Lua, lua-cjson and wrk by other means" >&2
  exit 1
fi
mkdir -p "$(dirname "$tools")"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
fetch() { (cd "$fresh" && apt-get download -qq "${packages[@]}"); }
# A machine that never asked for package lists has none, or old ones that name files no longer there.
fetch || { apt-get update -qq && fetch; }
for file in "$fresh"/*.deb; do dpkg -x "$file" "$fresh"; done
rm "$fresh"/*.deb
printf '%s\n' "${packages[*]}" >"$fresh/.packages"
# A library that is missing, or is not the one meant, shows here and not in the middle of a bench.
libraries=$(printf '%s:' "$fresh"/usr/lib/*-linux-gnu "$fresh"/lib/*-linux-gnu)
if LD_LIBRARY_PATH=$libraries ldd -r "$fresh/usr/sbin/nginx" "$fresh/usr/bin/wrk" "$fresh"/usr/lib/nginx/modules/*.so 2>&1 |
  grep -E 'not found|undefined symbol: lua'; then
  echo "these are missing beside ${packages[*]}" >&2
  exit 1
fi
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
