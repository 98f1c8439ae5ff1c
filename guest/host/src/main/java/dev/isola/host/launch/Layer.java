package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a sandbox can write and keep, all in one folder of the host so that it can be measured at
 * once: the workspace, homes, and the upper layer of its image.
 */
record Layer(SandboxFolder folder) {
  /** Where the agent finds it inside, to measure it. */
  static final String INSIDE = "/.isola/layer";

  Path path() {
    return folder.path().resolve("layer");
  }

  Path of(String name) {
    return path().resolve(name);
  }

  /** Returns the folder that an overlay needs beside its upper one. */
  Path work() {
    return folder.path().resolve("work");
  }

  /** Makes it, with the folders {@code names} in it, the sandbox's own. */
  void make(Users users, String... names) throws IOException {
    make(path(), users, 0700);
    for (String name : names) {
      make(of(name), users, name.endsWith("tmp") ? 01777 : 0755);
    }
  }

  void makeWork(Users users) throws IOException {
    make(work(), users, 0700);
  }

  /** Makes a folder beside it, the sandbox's own. */
  void makeBeside(String name, Users users) throws IOException {
    make(folder.path().resolve(name), users, 0700);
  }

  private static void make(Path path, Users users, int mode) throws IOException {
    Files.createDirectory(path);
    Files.setAttribute(path, "unix:mode", mode);
    users.give(path);
  }
}
