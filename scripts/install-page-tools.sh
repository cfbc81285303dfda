#!/usr/bin/env bash
# For `npm run real -- page`: Debian's Chromium with the libraries and the font that this machine lacks, unpacked. playwright-core drives it.
. "$(dirname "$0")/tools.sh"
packages=(chromium fonts-dejavu-core)
want page "${packages[*]} 2"
need apt-get dpkg
mkdir -p "$fresh/debs/partial"
# Downloads what an installation would need here, and installs nothing.
download=(apt-get install -qq -y --no-install-recommends --download-only --reinstall -o APT::Sandbox::User=root
  -o Dir::Cache::archives="$fresh/debs" "${packages[@]}")
"${download[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${download[@]}" >/dev/null; }
for file in "$fresh"/debs/*.deb; do dpkg -x "$file" "$fresh"; done
rm -r "$fresh/debs"
mkdir -p "$fresh/bin"
cat >"$fresh/fonts.conf" <<'END'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
END
# Debian's own start script looks for its files below /etc and /usr. Some libraries are in folders of their own.
(cd "$fresh" && find . -name '*.so*' -printf '%h\n' | sort -u >folders)
cat >"$fresh/bin/chromium" <<'END'
#!/usr/bin/env bash
tools=$(cd "$(dirname "$0")/.." && pwd)
LD_LIBRARY_PATH=$(sed "s|^|$tools/|" "$tools/folders" | paste -sd:)
export LD_LIBRARY_PATH FONTCONFIG_FILE="$tools/fonts.conf" XDG_CACHE_HOME="$tools/cache"
exec "$tools/usr/lib/chromium/chromium" "$@"
END
chmod 755 "$fresh/bin/chromium"
expect chromium "" "$fresh/bin/chromium" --no-sandbox --version
keep
