package dev.isola.provider.microvm;

import dev.isola.host.image.ImageStore;
import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** An image with the programs of this machine that the conformance kit uses. */
public final class MachineTestImage {
  private static final String SCRIPT =
      """
      set -eu
      cd "$1"
      mkdir -p usr/bin usr/sbin usr/lib usr/lib64 etc tmp var/tmp root home/user dev proc sys run
      chmod 1777 tmp var/tmp
      chmod 700 root
      ln -s usr/bin bin; ln -s usr/sbin sbin; ln -s usr/lib lib; ln -s usr/lib64 lib64
      printf 'root:x:0:0:root:/root:/bin/sh\\nuser:x:1000:1000:user:/home/user:/bin/sh\\n' >etc/passwd
      printf 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\\n' >>etc/passwd
      printf 'root:x:0:\\ntty:x:5:\\nuser:x:1000:\\nnogroup:x:65534:\\n' >etc/group
      if [ "$(id -u)" = 0 ]; then chown 1000:1000 home/user; fi
      for name in sh bash awk base64 basename cat chmod chown cksum cp cut date dd df dirname du echo env expr false find \\
        getent grep head hostname id kill ln ls md5sum mkdir mkfifo mknod mktemp mount mv nice nohup nproc od pgrep printf \\
        ps pwd readlink realpath rm rmdir sed seq setsid sha256sum sleep sort split stat stty sync tail tar tee test \\
        timeout touch tr true truncate tty umount uname uniq unshare wc xargs yes python3; do
        file=$(command -v "$name") || continue
        case $file in /*) ;; *) file=/usr/bin/$name; [ -x "$file" ] || continue ;; esac
        cp -L "$file" "usr/bin/$name"
        { ldd "$file" 2>/dev/null || :; } | grep -o '/[^ ]*' | while read -r library; do
          target=.$(readlink -f "$(dirname "$library")")/$(basename "$library")
          mkdir -p "$(dirname "$target")"
          [ -e "$target" ] || cp -L "$library" "$target"
        done
      done
      # The python3 on the PATH may be a script that selects one of several.
      rm -f usr/bin/python3
      real=$(ls /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9] 2>/dev/null | tail -n 1)
      if [ -n "$real" ]; then
        cp -L "$real" usr/bin/python3
        modules=$("$real" -c 'import os; print(os.path.dirname(os.__file__))')
        mkdir -p ".$modules"
        (cd "$modules" && tar -c --exclude=test --exclude=idlelib --exclude=__pycache__ --exclude='config-*' \\
          --exclude=dist-packages --exclude=site-packages --exclude=ensurepip --exclude=pydoc_data .) | tar -x -C ".$modules"
        { ldd "$real"; find ".$modules" -name '*.so' -exec ldd {} + 2>/dev/null; } | grep -o '=> /[^ ]*' | cut -c4- | sort -u |
          while read -r library; do
            target=.$(readlink -f "$(dirname "$library")")/$(basename "$library")
            mkdir -p "$(dirname "$target")"
            [ -e "$target" ] || cp -L "$library" "$target"
          done
      fi
      """;

  private MachineTestImage() {}

  /** Adds the image to the store in {@code shared} under the name of the default image. */
  public static void addTo(Path shared) throws IOException, InterruptedException {
    Path root = Files.createTempDirectory("isola-image");
    try {
      Process process =
          new ProcessBuilder("bash", "-c", SCRIPT, "image", root.toString())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .start();
      if (!process.waitFor(2, TimeUnit.MINUTES) || process.exitValue() != 0) {
        throw new IOException("the image cannot be made");
      }
      new ImageStore(shared).importFrom("base", root);
    } finally {
      TreeRemoval.remove(root);
    }
  }
}
