#!/usr/bin/env bash
# For `npm run real -- package` and scripts/release: publint and attw (is the npm package sound, do its types resolve?), the CycloneDX
# library (is the bill of materials valid?), check-jsonschema and actionlint (forms and workflows), helm and Node 24.
. "$(dirname "$0")/tools.sh"
modules=(publint@0.3.25 @arethetypeswrong/cli@0.18.5 @cyclonedx/cyclonedx-library@10.3.0 ajv@8.20.0 ajv-formats@3.0.1
  ajv-formats-draft2019@1.6.1 packageurl-js@2.0.1 spdx-expression-parse@4.0.0)
wheel=check-jsonschema==0.39.0
actionlint=v1.7.12
need npm
[ -x "$cache/chart/bin/helm" ] || "$(dirname "$0")/install-chart-tools.sh"
# Shared with .ci/run, pinned to its major.
node24
want package "${modules[*]} $wheel $actionlint"
npm install --silent --no-save --no-audit --no-fund --omit optional --prefix "$fresh" "${modules[@]}"
wheels "$fresh/python" "$wheel"
go_install "$fresh/bin" "github.com/rhysd/actionlint/cmd/actionlint@$actionlint"
expect publint 0.3. "$fresh/node_modules/.bin/publint" --version
expect attw 0.18. "$fresh/node_modules/.bin/attw" --version
expect check-jsonschema 0.39. env PYTHONPATH="$fresh/python" python3 -m check_jsonschema --version
expect actionlint 1.7. "$fresh/bin/actionlint" -version
keep
