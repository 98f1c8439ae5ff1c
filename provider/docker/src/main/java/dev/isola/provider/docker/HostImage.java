package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The host's own root as an image: what is the sandbox's own (homes, temporary folders, users) is
 * imported once, programs and libraries are the host's folders, mounted read only. Of the host's
 * settings only those are shown that are known to hold no secret, because root of a sandbox may be
 * root to the host's files.
 */
final class HostImage {
  /** The name by which a spec asks for it. */
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
   * @param name what the engine shall call it; another one when the host's layout changes
   * @param archive what is imported
   */
  record Own(String name, byte[] archive) {}

  private HostImage() {}

  /** Returns the part that is the sandbox's own. */
  static Own own() throws IOException {
    TarText tar = new TarText();
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
    byte[] archive = tar.end();
    String hash = HexFormat.of().formatHex(Hash.sha256(archive)).substring(0, 12);
    return new Own("isola-host:" + hash, archive);
  }

  /** Something to mount a setting on, or the setting itself where it is a link. */
  private static void place(TarText tar, String setting) throws IOException {
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
   * Returns the mounts that make it whole.
   *
   * @param hidden folders of the server, covered where they lie in something that is shown
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

  /** A tar archive in memory: the few kinds of entries that the above needs. */
  private static final class TarText {
    private static final int BLOCK = 512;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Set<String> names = new HashSet<>();

    void folder(String name, int mode, int owner) {
      entry(name + "/", mode, owner, '5', "", new byte[0]);
    }

    void link(String name, String target) {
      entry(name, 0777, 0, '2', target, new byte[0]);
    }

    void file(String name, String content) {
      entry(name, 0644, 0, '0', "", content.getBytes(UTF_8));
    }

    /** Adds an entry; engines refuse a name that comes twice. */
    private void entry(String name, int mode, int owner, char type, String target, byte[] content) {
      if (!names.add(name)) {
        return;
      }
      byte[] header = new byte[BLOCK];
      put(header, 0, 100, name);
      octal(header, 100, 8, mode);
      octal(header, 108, 8, owner);
      octal(header, 116, 8, owner);
      octal(header, 124, 12, content.length);
      octal(header, 136, 12, 0);
      header[156] = (byte) type;
      put(header, 157, 100, target);
      put(header, 257, 8, "ustar\0" + "00");
      Arrays.fill(header, 148, 156, (byte) ' ');
      int sum = 0;
      for (byte b : header) {
        sum += b & 0xff;
      }
      octal(header, 148, 7, sum);
      out.writeBytes(header);
      out.writeBytes(content);
      out.writeBytes(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
    }

    private static void put(byte[] header, int at, int room, String text) {
      byte[] bytes = text.getBytes(UTF_8);
      if (bytes.length > room) {
        throw new IllegalArgumentException("too long for this archive: " + text);
      }
      System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    private static void octal(byte[] header, int at, int room, long value) {
      put(header, at, room - 1, String.format("%0" + (room - 1) + "o", value));
    }

    byte[] end() {
      out.writeBytes(new byte[2 * BLOCK]);
      return out.toByteArray();
    }
  }
}
