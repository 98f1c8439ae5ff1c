#!/bin/sh
# Creates a small root file system in FOLDER from programs of this machine (bash, git, curl, core utilities), with the user `user`.
# usage: small-root.sh FOLDER
set -eu
root=$1
programs="bash sh ls cat echo true false sleep pwd env id head tail wc grep sed cp mv rm mkdir rmdir chmod chown ln \
touch stat date dd tr sort cut seq mktemp readlink realpath printf tee base64 sha256sum dirname basename uname \
test kill ps stty tty find xargs awk git curl tar setpriv setsid mkfifo sync pgrep"

# Copies a file with its shared libraries.
copy() {
    mkdir -p "$root$(dirname "$1")"
    cp -L "$1" "$root$1"
    { ldd "$1" 2>/dev/null || true; } | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' |
    while read -r library; do
        [ -e "$root$library" ] || { mkdir -p "$root$(dirname "$library")"; cp -L "$library" "$root$library"; }
    done
}

mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/etc" "$root/tmp" "$root/root" \
    "$root/home/user" "$root/var/tmp"
for folder in bin sbin lib lib64; do
    ln -s "usr/$folder" "$root/$folder"
done
for program in $programs; do
    path=$(PATH=/usr/bin:/bin:/usr/sbin:/sbin command -v "$program" || true)
    case $path in
        /*) copy "$(dirname "$path")/$program" ;;
        *) [ -x "/usr/bin/$program" ] && copy "/usr/bin/$program" ;;
    esac || echo "small-root: no $program here" >&2
done
core=$(git --exec-path)
mkdir -p "$root$core" "$root/usr/share/git-core/templates"
for helper in git-upload-pack git-receive-pack git-remote-http git-upload-archive; do
    ln -sf /usr/bin/git "$root$core/$helper"
done
ln -sf /usr/bin/git "$root$core/git"

# Python, if this machine has it, for the code interpreter and a small web server.
if [ -x /usr/bin/python3 ]; then
    python=$(readlink -f /usr/bin/python3)
    copy "$python"
    ln -sf "$(basename "$python")" "$root/usr/bin/python3"
    ln -sf python3 "$root/usr/bin/python"
    library=/usr/lib/$(basename "$python")
    mkdir -p "$root$library"
    tar -C "$library" --exclude=test --exclude=dist-packages --exclude=idlelib --exclude='config-*' \
        --exclude=__pycache__ --exclude=ensurepip --exclude=pydoc_data -cf - . | tar -C "$root$library" -xf -
    for module in "$root$library"/lib-dynload/*.so; do
        { ldd "$module" 2>/dev/null || true; } | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | while read -r needed; do
            [ -e "$root$needed" ] || { mkdir -p "$root$(dirname "$needed")"; cp -L "$needed" "$root$needed"; }
        done
    done
fi

cat > "$root/etc/passwd" <<EOF
root:x:0:0:root:/root:/bin/bash
user:x:1000:1000:user:/home/user:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/bin/false
EOF
cat > "$root/etc/group" <<EOF
root:x:0:
sudo:x:27:user
user:x:1000:
nogroup:x:65534:
EOF
printf 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nexport PATH\n' > "$root/etc/profile"
chmod 1777 "$root/tmp" "$root/var/tmp"
chown 1000:1000 "$root/home/user" 2>/dev/null || true
