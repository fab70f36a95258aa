#!/bin/sh
# Fetches the demo's real photographs, videos and texts from Debian packages into a folder (42 MB,
# about two seconds; nothing is installed, no root needed). Does nothing if they are there already.
#   examples/multimodal/fetch_data.sh [FOLDER]      (default: build/demo-data)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
data=${1:-$root/build/demo-data}
packages="lomiri-wallpapers-16.04 palapeli-data python3-imageio python-kivy-examples
  r-cran-janeaustenr sword-comm-tdavid sword-comm-mhcc sword-text-web"

[ -f "$data/complete" ] && exit 0

fail() {
  echo "fetch_data.sh: $*" >&2
  exit 1
}
for tool in apt-get dpkg-deb; do
  command -v $tool >/dev/null || fail "needs $tool: the demo's data comes from Debian packages"
done

rm -rf "$data/fetch"
mkdir -p "$data/fetch/deb" "$data/photos" "$data/video" "$data/text" "$data/licences"
data=$(cd "$data" && pwd)
cd "$data/fetch/deb"

# A machine that has never run "apt-get update" has no lists to download from.
if ! apt-get download --print-uris sword-comm-mhcc >/dev/null 2>&1; then
  [ "$(id -u)" = 0 ] || fail "apt has no package lists: run 'sudo apt-get update' once, then try again"
  apt-get update -qq || fail "'apt-get update' failed: is the Debian mirror reachable?"
fi
# shellcheck disable=SC2086
apt-get download -qq -o APT::Sandbox::User=root $packages >log 2>&1 || {
  cat log >&2
  fail "downloading the data packages failed: is the Debian mirror reachable?"
}
for package in $packages; do
  dpkg-deb -x "${package}"_*.deb "../$package" || fail "cannot unpack $package: delete '$data' and try again"
done
cd ..

for package in $packages; do
  cp "$package/usr/share/doc/$package/copyright" "$data/licences/$package"
done
cp lomiri-wallpapers-16.04/usr/share/backgrounds/*_by_*.jpg "$data/photos/"
# Two of them are drawings by a program, not photographs.
rm -f "$data/photos/analogpattern_by_Peter_Nerlich.jpg" "$data/photos/umang_by_Abhishek_Mudgal.jpg"
cp palapeli-data/usr/share/palapeli/collection/*.jpg "$data/photos/"
cp palapeli-data/usr/share/palapeli/collection/*.desktop "$data/licences/"
images=python3-imageio/usr/lib/python3/dist-packages/imageio/resources/images
cp $images/cockatoo.mp4 $images/realshort.mp4 "$data/video/"
cp python-kivy-examples/usr/share/kivy-examples/widgets/cityCC0.mpg "$data/video/"
mkdir -p "$data/text/janeaustenr"
cp r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr/data/Rdata.rd[bx] "$data/text/janeaustenr/"
cp -r sword-comm-mhcc/usr/share/sword/modules/comments/zcom/mhcc "$data/text/"
cp -r sword-comm-tdavid/usr/share/sword/modules/comments/zcom/tdavid "$data/text/"
cp -r sword-text-web/usr/share/sword/modules/texts/ztext/engWEB2015eb "$data/text/"

cd "$data"
rm -rf fetch
count=$(find photos -name '*.jpg' | wc -l)
[ "$count" = 18 ] || fail "found $count photographs instead of 18: the packages have changed"
touch complete
echo "fetch_data.sh: 18 photographs, 3 videos, 4 text collections in $data" >&2
