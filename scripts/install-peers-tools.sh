#!/usr/bin/env bash
# Gets the programs that `npm run peers` tries carryover with: the fronts of scripts/install-ingress-tools.sh (nginx, HAProxy, Envoy), and from
# PyPI schemathesis, which makes requests of an OpenAPI document. It goes with all that it needs, each at one version, into a cache folder where
# the tests look for it; nothing is installed into the system. Says what it got; quick when it got it before.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-ingress-tools.sh
tools="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci/peers"
wheels=(schemathesis==4.32.5 anyio==4.16.0 certifi==2026.10.18 charset-normalizer==3.5.2 click==8.5.1 graphql-core==3.3.2 harfile==0.6.0
  hypothesis==6.170.15 hypothesis-graphql==0.13.5 idna==3.20 iniconfig==2.3.1 jsonschema_rs==0.60.3 markdown-it-py==4.3.0 MarkupSafe==3.0.4
  mdurl==0.1.2 packaging==26.3 pluggy==1.7.0 Pygments==2.21.0 pyrate-limiter==4.5.1 pytest==9.2.0 PyYAML==6.0.3 requests==2.34.2 rich==15.0.0
  sortedcontainers==2.4.0 typing_extensions==4.16.0 urllib3==2.8.0 Werkzeug==3.1.9)
wanted="${wheels[*]} $(python3 --version 2>&1)"

if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  exit 0
fi
if ! command -v python3 >/dev/null; then
  echo "Cannot be had here: schemathesis, since there is no python3" >&2
  exit 1
fi
mkdir -p "$(dirname "$tools")"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
# With `--no-deps` the list above is all there is: one that is missing fails below, where the program is run once.
if ! python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --no-deps --only-binary :all: \
  --target "$fresh/python" "${wheels[@]}"; then
  echo "Cannot be had here: pip could not install schemathesis" >&2
  exit 1
fi
if ! said=$(PYTHONPATH="$fresh/python" python3 -m schemathesis.cli --version 2>&1); then
  printf 'Cannot be had here: schemathesis, which does not start:\n%s\n' "$said" >&2
  exit 1
fi
printf 'schemathesis %s\n' "$(grep -oE '[0-9]+\.[0-9]+\.[0-9]+' <<<"$said" | head -n 1)" >"$fresh/.versions"
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Put into $tools:"
cat "$tools/.versions"
