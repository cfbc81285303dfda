#!/usr/bin/env bash
# For the tests of rules, dashboard and metrics: Prometheus with promtool and Alertmanager from Debian, and the types of Grafana's
# dashboards from npm.
. "$(dirname "$0")/tools.sh"
schema=@grafana/schema@13.2.3
packages=(prometheus prometheus-alertmanager)
want monitoring "${packages[*]} $schema 3"
need npm
debs "$fresh" "${packages[@]}"
# Debian's Alertmanager looks for its templates below /usr/share, wherever it lies itself. A path of the same length makes it look
# from the folder that it is started in: usr/share/prometheus.
sed -i "s#/usr/share/prometheus/alertmanager#./././././././././././alertmanager#g" "$fresh/usr/bin/prometheus-alertmanager"
# Types only: what the package needs to run in a browser is left out.
types="$fresh/node_modules/@grafana/schema"
mkdir -p "$types"
tar -xzf "$fresh/$(cd "$fresh" && npm pack --silent "$schema" | tail -n 1)" -C "$types" --strip-components=1
rm "$fresh"/*.tgz
expect prometheus 2.42. "$fresh/usr/bin/prometheus" --version
expect promtool 2.42. "$fresh/usr/bin/promtool" --version
expect alertmanager 0.25. "$fresh/usr/bin/prometheus-alertmanager" --version
expect grafana-schema "${schema##*@}" grep '"version"' "$types/package.json"
keep
