#!/bin/sh
# Spoils a tree in every way that a capture must be able to mend; demo/run.sh uses it.
# usage: demo/spoil.sh DIRECTORY
set -eu
cd "$1"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
find crates -type f -name '*.rs' | sort >"$list"

# The files whose number leaves this rest when divided by twenty.
every_twentieth() {
    awk -v rest="$1" 'NR % 20 == rest' "$list"
}

every_twentieth 1 | while IFS= read -r file; do echo '// edited' >>"$file"; done
every_twentieth 2 | while IFS= read -r file; do : >"$file"; done
every_twentieth 3 | xargs rm
every_twentieth 4 | while IFS= read -r file; do mv "$file" "$file.old"; done
every_twentieth 5 | xargs chmod 600
every_twentieth 6 | while IFS= read -r file; do echo '// new' >"$file.new"; done
# A file becomes a directory, another one a link, and so do a directory and a link.
every_twentieth 7 | head -n 20 | while IFS= read -r file; do
    rm "$file"
    mkdir "$file"
    echo inside >"$file/inside"
done
every_twentieth 8 | head -n 20 | while IFS= read -r file; do
    rm "$file"
    ln -s /etc/hostname "$file"
done
victim=$(find crates -mindepth 1 -maxdepth 1 -type d | sort | head -n 1)
rm -r "$victim"
ln -s /tmp "$victim"
rm link
echo 'no link any more' >./link
rm dangling
mkdir dangling
chmod 644 hello.sh
echo full >empty/file
mkdir -p deep/er/and/deeper
mkdir another-empty
rm "$(printf 'caf\351')"
