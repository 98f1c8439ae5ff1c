package dev.isola.host.launch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files in {@code /etc} that every sandbox has of its own. */
final class EtcFiles {
  private static final int LONGEST = 1 << 16;

  private EtcFiles() {}

  /**
   * Adds the steps that create the files.
   *
   * @param resolvConf the content of {@code resolv.conf}
   * @param people whether to create {@code passwd} and {@code group}; an image has its own
   */
  static void plan(LaunchPlan plan, String hostname, String resolvConf, boolean people) {
    put(plan, "hostname", hostname + "\n");
    put(plan, "hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost\n");
    put(plan, "resolv.conf", resolvConf);
    if (people) {
      String shell = Files.isExecutable(Path.of("/bin/bash")) ? "/bin/bash" : "/bin/sh";
      put(plan, "passwd", passwd(shell));
      put(plan, "group", group());
    }
  }

  /** Returns the content of a file in the host's {@code /etc}; empty if it cannot be read. */
  static String readHostFile(String name) {
    try (InputStream file = Files.newInputStream(Path.of("/etc", name))) {
      return new String(file.readNBytes(LONGEST), StandardCharsets.UTF_8);
    } catch (IOException none) {
      return "";
    }
  }

  private static void put(LaunchPlan plan, String name, String content) {
    plan.step("file", "/etc/" + name, content);
  }

  private static String passwd(String shell) {
    return "root:x:0:0:root:/root:"
        + shell
        + "\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin"
        + "\nuser:x:1000:1000:user:/home/user:"
        + shell
        + "\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
  }

  private static String group() {
    return "root:x:0:\ndaemon:x:1:\ntty:x:5:\nusers:x:100:user\nuser:x:1000:\nnogroup:x:65534:\n";
  }
}
