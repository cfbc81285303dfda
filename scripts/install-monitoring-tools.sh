#!/usr/bin/env bash
# Gets the programs that `npm run monitoring` holds rules, dashboard and metrics against: Prometheus with promtool and
# Alertmanager as Debian's packages, and the types of Grafana's dashboards from npm. They are unpacked into a cache folder where
# the tests look for them; nothing is installed into the system, so no root is needed while apt's package lists are there. Says
# what it got; quick when it got them before.
set -euo pipefail
tools="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci/monitoring"
# The release lines that rules and tests were tried with. Debian mends its packages within a line.
lines="prometheus 2.42. usr/bin/prometheus
promtool 2.42. usr/bin/promtool
alertmanager 0.25. usr/bin/prometheus-alertmanager"
# Programs in Go: nothing but libc beside them, which every Debian has.
packages=(prometheus prometheus-alertmanager)
schema="@grafana/schema@13.2.3"
# Changes with what is done to them below.
wanted="${packages[*]} $schema 3"

if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
  echo "There already, in $tools:"
  cat "$tools/.versions"
  exit 0
fi
mkdir -p "$(dirname "$tools")"
fresh=$(mktemp -d "$tools.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
missing=()

# Debian's: unpacked, never installed: an installed one would start as a service.
fetch() { (cd "$fresh" && apt-get download -qq "${packages[@]}"); }
if ! command -v apt-get >/dev/null; then
  missing+=("Prometheus and Alertmanager: there is no apt-get here")
elif ! { fetch 2>/dev/null || { apt-get update -qq && fetch; }; }; then
  # A machine that never asked for package lists has none, or old ones that name files no longer there: hence the second try.
  missing+=("Prometheus and Alertmanager: apt-get could not download ${packages[*]}")
else
  for file in "$fresh"/*.deb; do dpkg -x "$file" "$fresh"; done
  rm "$fresh"/*.deb
  # Debian's Alertmanager looks for its templates below /usr/share, wherever it lies itself. A path of the same length, so that the
  # program stays as it is otherwise, makes it look from the folder that it is started in: usr/share/prometheus.
  from=/usr/share/prometheus/alertmanager
  to=./././././././././././alertmanager
  [ "${#from}" -eq "${#to}" ]
  sed -i "s#$from#$to#g" "$fresh/usr/bin/prometheus-alertmanager"
fi

# npm's: types only. What the package needs to run in a browser is left out.
if ! command -v npm >/dev/null; then
  missing+=("${schema%@*}: there is no npm here to download it with")
elif ! archive=$(cd "$fresh" && npm pack --silent "$schema" | tail -n 1) || [ -z "$archive" ]; then
  missing+=("${schema%@*}: npm could not download $schema")
else
  mkdir -p "$fresh/node_modules/@grafana/schema"
  tar -xzf "$fresh/$archive" -C "$fresh/node_modules/@grafana/schema" --strip-components=1
  rm "$fresh/$archive"
  printf 'grafana-schema %s\n' "${schema##*@}" >>"$fresh/.versions"
fi

# Each says its version: so it runs here, and is of the line that everything was tried with.
while read -r name line place; do
  [ -e "$fresh/$place" ] || continue
  got=$("$fresh/$place" --version 2>&1 | grep -oE 'version [0-9]+\.[0-9]+\.[0-9]+' | head -n 1 | cut -d ' ' -f 2) ||
    got="that does not run"
  case $got in
    "$line"*) printf '%s %s\n' "$name" "$got" >>"$fresh/.versions" ;;
    *) missing+=("$name: got one $got, the rules were tried with ${line%.}") ;;
  esac
done <<<"$lines"

if [ "${#missing[@]}" -gt 0 ]; then
  printf 'Cannot be had here: %s\n' "${missing[@]}" >&2
  exit 1
fi
printf '%s\n' "$wanted" >"$fresh/.wanted"
chmod 755 "$fresh"
rm -rf "$tools"
mv "$fresh" "$tools"
echo "Unpacked into $tools:"
cat "$tools/.versions"
