package dev.isola.provider.docker;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The host's root as an image. The sandbox's own part (home directories, temporary folders, users)
 * is imported once; programs and libraries are read-only mounts of the host's folders. Of the
 * host's configuration only files known to contain no secrets are mounted, because the root of a
 * sandbox may have the permissions of the host's root.
 */
final class HostImage {
  /** The name of this image in a spec. */
  static final String NAME = "host";

  private static final Path ROOT = Path.of("/");

  private static final List<String> FOLDERS =
      List.of("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix", "gnu");

  private static final List<String> SETTINGS =
      List.of(
          "alternatives",
          "bash.bashrc",
          "ca-certificates",
          "ca-certificates.conf",
          "debian_version",
          "fonts",
          "inputrc",
          "ld.so.cache",
          "ld.so.conf",
          "ld.so.conf.d",
          "localtime",
          "magic",
          "maven",
          "mime.types",
          "nsswitch.conf",
          "os-release",
          "perl",
          "pki/tls/certs",
          "profile",
          "profile.d",
          "protocols",
          "python3",
          "rpc",
          "services",
          "skel",
          "ssl/certs",
          "ssl/openssl.cnf",
          "terminfo",
          "timezone");

  /**
   * @param name the name in the engine, which changes with the host's layout
   * @param archive the archive to import
   */
  record BaseArchive(String name, Bytes archive) {}

  private HostImage() {}

  /** Returns the sandbox's own part. */
  static BaseArchive baseArchive() throws IOException {
    TarArchive tar = new TarArchive();
    for (String folder :
        List.of("dev", "etc", "home", "proc", "run", "srv", "sys", "var", ".isola")) {
      tar.folder(folder, 0755, 0);
    }
    tar.folder("root", 0700, 0);
    tar.folder("home/user", 0755, 1000);
    tar.folder("tmp", 01777, 0);
    tar.folder("var/tmp", 01777, 0);
    tar.link("var/run", "/run");
    for (String name : FOLDERS) {
      Path folder = ROOT.resolve(name);
      if (Files.isSymbolicLink(folder)) {
        tar.link(name, Files.readSymbolicLink(folder).toString());
      } else if (Files.isDirectory(folder)) {
        tar.folder(name, 0755, 0);
      }
    }
    String shell = Files.isExecutable(Path.of("/bin/bash")) ? "/bin/bash" : "/bin/sh";
    tar.file(
        "etc/passwd",
        "root:x:0:0:root:/root:"
            + shell
            + "\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin"
            + "\nuser:x:1000:1000:user:/home/user:"
            + shell
            + "\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    tar.file(
        "etc/group",
        "root:x:0:\ndaemon:x:1:\ntty:x:5:\nusers:x:100:user\nuser:x:1000:\nnogroup:x:65534:\n");
    for (String setting : SETTINGS) {
      place(tar, setting);
    }
    byte[] archive = tar.toBytes();
    String hash = Sha256.hex(archive).substring(0, 12);
    return new BaseArchive(
        "isola-host-" + hash, Bytes.of(archive)); // Podman 4 loses the tag of an import.
  }

  /** Adds a mount point for a configuration file, or the file itself if it is a link. */
  private static void place(TarArchive tar, String setting) throws IOException {
    Path path = ROOT.resolve("etc").resolve(setting);
    for (int slash = setting.indexOf('/'); slash > 0; slash = setting.indexOf('/', slash + 1)) {
      if (Files.exists(path)) {
        tar.folder("etc/" + setting.substring(0, slash), 0755, 0);
      }
    }
    if (Files.isSymbolicLink(path)) {
      tar.link("etc/" + setting, Files.readSymbolicLink(path).toString());
    } else if (Files.isDirectory(path)) {
      tar.folder("etc/" + setting, 0755, 0);
    } else if (Files.isRegularFile(path)) {
      tar.file("etc/" + setting, "");
    }
  }

  /**
   * Returns the mounts of the host's folders.
   *
   * @param hidden folders of the server, which are covered if a mount would expose them
   */
  static List<Map<String, Object>> mounts(List<Path> hidden) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    for (String name : FOLDERS) {
      Path folder = ROOT.resolve(name);
      if (!Files.isSymbolicLink(folder) && Files.isDirectory(folder)) {
        mounts.add(Mounts.bind(folder.toString(), folder.toString(), true));
        for (Path secret : hidden) {
          if (secret.startsWith(folder)) {
            mounts.add(Mounts.tmpfs(secret.toString(), 0));
          }
        }
      }
    }
    for (String setting : SETTINGS) {
      Path path = ROOT.resolve("etc").resolve(setting);
      if (!Files.isSymbolicLink(path) && Files.exists(path)) {
        mounts.add(Mounts.bind(path.toString(), path.toString(), true));
      }
    }
    return mounts;
  }
}
