package dev.isola.conformance.escape;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.proc.ProcessStat;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Facts about the host to compare a sandbox with: ids, and digests in place of secrets. */
final class HostFacts {
  private static final int DIGESTED = 1 << 20;
  private static final int VARIABLES = 64;

  /** Variables that a sandbox sets itself, possibly to the same value. */
  private static final Set<String> COMMON =
      Set.of(
          "PATH",
          "HOME",
          "LANG",
          "LC_ALL",
          "TERM",
          "USER",
          "LOGNAME",
          "SHELL",
          "PWD",
          "SHLVL",
          "_",
          "TZ",
          "HOSTNAME");

  private final Map<String, List<String>> facts = new HashMap<>();

  private HostFacts() {}

  static Map<String, List<String>> collect() {
    HostFacts host = new HostFacts();
    host.kernel();
    host.disks();
    host.passwords();
    host.keys();
    host.environment();
    return host.facts;
  }

  private void kernel() {
    put("boot", text(Path.of("/proc/sys/kernel/random/boot_id")));
    for (String kind : List.of("pid", "mnt", "net", "ipc", "uts", "user", "cgroup")) {
      put("namespace-" + kind, digits(link(Path.of("/proc/self/ns", kind))));
    }
    put(
        "session",
        ProcessStat.read(Path.of("/proc/self"))
            .map(self -> Long.toString(self.session()))
            .orElse(""));
  }

  /**
   * Major number, minor number and name of each disk, and of a loop device, which most machines
   * have.
   */
  private void disks() {
    List<String> words = new ArrayList<>();
    for (String line : text(Path.of("/proc/partitions")).lines().skip(2).toList()) {
      String[] fields = line.strip().split("\\s+");
      if (fields.length == 4) {
        words.addAll(List.of(fields[0], fields[1], fields[3]));
      }
    }
    if (Files.exists(Path.of("/dev/loop0"))) {
      words.addAll(List.of("7", "0", "loop0"));
    }
    facts.put("disks", words);
  }

  private void passwords() {
    List<String> words = new ArrayList<>();
    for (String name : List.of("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-")) {
      digest(Path.of(name), words);
    }
    facts.put("passwords", words);
  }

  private void keys() {
    List<String> words = new ArrayList<>();
    digestAll(Path.of("/etc/ssh"), "ssh_host_*_key", words);
    digestAll(Path.of("/etc/ssl/private"), "*", words);
    digestAll(Path.of(System.getProperty("user.home", "/"), ".ssh"), "*", words);
    facts.put("keys", words);
  }

  private void environment() {
    facts.put(
        "environment",
        System.getenv().entrySet().stream()
            .filter(entry -> !COMMON.contains(entry.getKey()) && !entry.getValue().isEmpty())
            .map(entry -> digest((entry.getKey() + "=" + entry.getValue()).getBytes(UTF_8)))
            .limit(VARIABLES)
            .toList());
  }

  private static void digestAll(Path folder, String pattern, List<String> words) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern)) {
      files.forEach(file -> digest(file, words));
    } catch (IOException e) {
      // Missing or unreadable: there is nothing to compare with.
    }
  }

  private static void digest(Path file, List<String> words) {
    try {
      byte[] content = Files.isRegularFile(file) ? Files.readAllBytes(file) : new byte[0];
      if (content.length > 0 && content.length <= DIGESTED) {
        words.addAll(List.of(file.toString(), digest(content)));
      }
    } catch (IOException e) {
      // Missing or unreadable, as above.
    }
  }

  /** FNV-1a, as in the probe program: identifies content without revealing it. */
  static String digest(byte[] content) {
    long digest = 0xcbf29ce484222325L;
    for (byte b : content) {
      digest = (digest ^ (b & 0xff)) * 0x100000001b3L;
    }
    return Long.toHexString(digest);
  }

  private void put(String name, String value) {
    if (!value.isEmpty()) {
      facts.put(name, List.of(value));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }

  private static String link(Path path) {
    try {
      return Files.readSymbolicLink(path).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static String digits(String text) {
    return text.replaceAll("\\D", "");
  }
}
