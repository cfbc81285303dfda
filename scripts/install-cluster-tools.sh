#!/usr/bin/env bash
# Gets the programs of a Kubernetes control plane without a container: `npm run cluster` installs the Helm chart into it. The API
# server, controller manager, scheduler and kubectl are built from the published module, etcd is Debian's package, kwok plays
# the nodes. All of it goes into a cache folder where the tests look for it; nothing is installed into the system. The first time
# takes some eight minutes and 3 GiB of module and build cache; quick when it got them before.
# `--present` only says whether they are there: 0, or 1 and why not.
set -euo pipefail
cache="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci"
tools="$cache/cluster"
kubernetes=1.36.3
kwok=v0.8.0
etcd=3.4
wanted="kubernetes $kubernetes kwok $kwok etcd $etcd"
programs=(kube-apiserver kube-controller-manager kube-scheduler kubectl)

present() {
  if [ ! -e "$tools/.wanted" ]; then
    echo "There is no control plane in $tools: scripts/install-cluster-tools.sh builds one"
  elif [ "$(cat "$tools/.wanted")" != "$wanted" ]; then
    echo "$tools holds $(cat "$tools/.wanted"), not $wanted: scripts/install-cluster-tools.sh rebuilds it"
  else
    for program in etcd kwok "${programs[@]}"; do
      [ -x "$tools/bin/$program" ] && continue
      echo "$tools lacks $program: remove that folder and run scripts/install-cluster-tools.sh"
      return 1
    done
    return 0
  fi
  return 1
}
case ${1:-} in
  --present) present && exit 0 || exit 1 ;;
  "") ;;
  *) echo "Usage: ${0##*/} [--present]" >&2 && exit 2 ;;
esac
if present >/dev/null; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  exit 0
fi
for program in go python3; do
  command -v "$program" >/dev/null && continue
  echo "Cannot be had here: a control plane, since there is no $program" >&2
  exit 1
done
mkdir -p "$cache"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/bin" "$fresh/stages" "$fresh/build" "$fresh/deb"
missing=()
export GOFLAGS="-buildvcs=false -mod=mod" GOBIN="$fresh/bin"
# field NAME MODULE@VERSION: downloads a module and says where a part of it lies.
field() { go mod download -json "$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# Kubernetes' module names its own parts as v0.0.0 and replaces them with folders of its repository. As published modules they
# are v0 of the same release, so a module of our own requires it and replaces them with those.
build_kubernetes() (
  set -e
  cd "$fresh/build"
  go mod init kube.local/build
  requirements=$(field GoMod "k8s.io/kubernetes@v$kubernetes")
  go mod edit -require="k8s.io/kubernetes@v$kubernetes"
  for part in $(grep -oE '^\s*k8s.io/[a-z0-9-]+ v0\.0\.0( //.*)?$' "$requirements" | awk '{ print $1 }'); do
    go mod edit -replace="$part=$part@v0.${kubernetes#*.}"
  done
  # The release as its own build would write it in: clients and charts ask the server for it.
  name=k8s.io/component-base/version
  minor=${kubernetes#*.}
  for program in "${programs[@]}"; do
    go build -trimpath -ldflags "-s -w -X $name.gitVersion=v$kubernetes -X $name.gitMajor=1 -X $name.gitMinor=${minor%.*}" \
      -o "$fresh/bin/$program" "k8s.io/kubernetes/cmd/$program"
  done
)
# Called by itself, since bash forgets `set -e` in what is called for a condition.
set +e
build_kubernetes
built=$?
set -e
[ "$built" -eq 0 ] || missing+=("Kubernetes $kubernetes: go could not build it")

# kwok is told how nodes and pods come up and go by stages, which are files of its module.
if go install -trimpath -ldflags "-s -w" "sigs.k8s.io/kwok/cmd/kwok@$kwok" && source=$(field Dir "sigs.k8s.io/kwok@$kwok"); then
  cp "$source"/kustomize/stage/node/fast/node-*.yaml "$source"/kustomize/stage/node/heartbeat-with-lease/node-*.yaml \
    "$source"/kustomize/stage/pod/fast/pod-*.yaml "$fresh/stages/"
  chmod -R u+w "$fresh/stages"
else
  missing+=("kwok $kwok: go could not build it")
fi

fetch() { (cd "$fresh/deb" && apt-get download -qq etcd-server); }
if ! command -v apt-get >/dev/null; then
  missing+=("etcd: there is no apt-get here")
elif ! { fetch 2>/dev/null || { apt-get update -qq && fetch; }; }; then
  # A machine that never asked for package lists has none, or old ones that name files no longer there: hence the second try.
  missing+=("etcd: apt-get could not download etcd-server")
else
  dpkg -x "$fresh"/deb/*.deb "$fresh/deb"
  mv "$fresh/deb/usr/bin/etcd" "$fresh/bin/"
fi
rm -rf "$fresh/deb" "$fresh/build"

# Each says its version: so it runs here.
version() { "$fresh/bin/$1" "${@:2}" 2>&1 | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1; }
# expect LINE PROGRAM ARGUMENT...: keeps the version when it is of that release line.
expect() {
  local line=$1 got
  shift
  [ -e "$fresh/bin/$1" ] || return 0
  got=$(version "$@") || got="that does not run"
  case $got in
    "$line"*) printf '%s %s\n' "$1" "$got" >>"$fresh/.versions" ;;
    *) missing+=("$1: got one $got, wanted ${line%.}") ;;
  esac
}
expect "$etcd." etcd --version
for program in kube-apiserver kube-controller-manager kube-scheduler; do expect "$kubernetes" "$program" --version; done
expect "$kubernetes" kubectl version --client
expect "${kwok#v}" kwok --version

if [ "${#missing[@]}" -gt 0 ]; then
  printf 'Cannot be had here: %s\n' "${missing[@]}" >&2
  exit 1
fi
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Built into $tools:"
cat "$tools/.versions"
