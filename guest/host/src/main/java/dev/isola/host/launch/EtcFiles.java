package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files in {@code /etc} that are a sandbox's own, whatever it stands on. */
final class EtcFiles {
  private EtcFiles() {}

  /**
   * Writes them to {@code folder} and adds the steps that put them in place.
   *
   * @param resolvConf the content of the file of that name
   * @param people whether the users, too, are the sandbox's own; an image has users already
   */
  static void plan(Plan plan, Path folder, String hostname, String resolvConf, boolean people)
      throws IOException {
    Files.createDirectory(folder);
    put(plan, folder, "hostname", hostname + "\n");
    put(plan, folder, "hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost\n");
    put(plan, folder, "resolv.conf", resolvConf);
    if (people) {
      String shell = Files.isExecutable(Path.of("/bin/bash")) ? "/bin/bash" : "/bin/sh";
      put(plan, folder, "passwd", passwd(shell));
      put(plan, folder, "group", group());
    }
  }

  private static void put(Plan plan, Path folder, String name, String content) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, content);
    plan.step("bind", file.toString(), "/etc/" + name, "ro");
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
