#!/usr/bin/env bash
# For `npm run real -- cluster`: a Kubernetes control plane without a container. The API server, controller manager, scheduler and kubectl
# are built from the published module, etcd is Debian's, kwok plays the nodes. The first time takes some eight minutes and 3 GiB of
# module and build cache. `--present` only says whether they are there.
. "$(dirname "$0")/tools.sh"
kubernetes=1.36.3
kwok=v0.8.0
etcd=3.4
programs=(kube-apiserver kube-controller-manager kube-scheduler kubectl)
want cluster "kubernetes $kubernetes kwok $kwok etcd $etcd"
need go python3
mkdir "$fresh/bin" "$fresh/stages" "$fresh/build"
export GOFLAGS="$GOFLAGS -mod=mod"

# Kubernetes' module names its own parts as v0.0.0 and replaces them with folders of its repository. As published modules they
# are v0 of the same release, so a module of our own requires it and replaces them with those.
(
  cd "$fresh/build"
  go mod init kube.local/build
  requirements=$(module GoMod "k8s.io/kubernetes@v$kubernetes")
  go mod edit -require="k8s.io/kubernetes@v$kubernetes"
  for part in $(grep -oE '^\s*k8s.io/[a-z0-9-]+ v0\.0\.0( //.*)?$' "$requirements" | awk '{ print $1 }'); do
    go mod edit -replace="$part=$part@v0.${kubernetes#*.}"
  done
  # The release as its own build would write it in: clients and charts ask the server for it.
  name=k8s.io/component-base/version
  minor=${kubernetes#*.}
  go build -trimpath -ldflags "-s -w -X $name.gitVersion=v$kubernetes -X $name.gitMajor=1 -X $name.gitMinor=${minor%.*}" \
    -o "$fresh/bin" "${programs[@]/#/k8s.io/kubernetes/cmd/}"
)
# kwok is told how nodes and pods come up and go by stages, which are files of its module.
go_install "$fresh/bin" "sigs.k8s.io/kwok/cmd/kwok@$kwok"
stages="$(module Dir "sigs.k8s.io/kwok@$kwok")/kustomize/stage"
cp "$stages"/node/fast/node-*.yaml "$stages"/node/heartbeat-with-lease/node-*.yaml "$stages"/pod/fast/pod-*.yaml "$fresh/stages/"
chmod -R u+w "$fresh/stages"
debs "$fresh/deb" etcd-server
mv "$fresh/deb/usr/bin/etcd" "$fresh/bin/"
rm -rf "$fresh/deb" "$fresh/build"

expect etcd "$etcd." "$fresh/bin/etcd" --version
for program in kube-apiserver kube-controller-manager kube-scheduler; do expect "$program" "$kubernetes" "$fresh/bin/$program" --version; done
expect kubectl "$kubernetes" "$fresh/bin/kubectl" version --client
expect kwok "${kwok#v}" "$fresh/bin/kwok" --version
keep
