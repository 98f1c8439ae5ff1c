package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a sandbox can write and keep, all in one folder of the host: the workspace, homes, and the
 * upper layer of its image, with all that overlays need besides. On that folder the sandbox's disk
 * is mounted, where it has one, but not where the server could see it: only the launcher looks into
 * it.
 */
record WritableLayer(SandboxFolder folder) {
  /** Where the agent finds it inside, to measure it. */
  static final String INSIDE = "/.isola/layer";

  /** Where in a disk the layers are that were pushed; see disk.h. */
  static final String PUSHED = "layers";

  Path path() {
    return folder.path().resolve("layer");
  }

  /** Returns the file that holds the sandbox's disk; there is none where there are no disks. */
  Path image() {
    return folder.path().resolve("disk");
  }

  boolean hasDisk() {
    return Files.exists(image());
  }

  Path resolve(String name) {
    return path().resolve(name);
  }

  /** Returns the folder that an overlay needs beside its upper one. */
  Path work() {
    return resolve("work");
  }

  /** Makes it. */
  void create(SandboxUserIds users) throws IOException {
    Files.createDirectory(path());
    Files.setAttribute(path(), "unix:mode", 0700);
    users.chown(path());
  }

  /** Adds the steps that make folders in it, the sandbox's own. */
  void plan(LaunchPlan plan, SandboxUserIds users, String... names) {
    for (String name : names) {
      create(plan, users, resolve(name), name.endsWith("tmp") ? "1777" : "755");
    }
  }

  /** Adds the step that makes a folder of the sandbox's own, which may be there already. */
  static void create(LaunchPlan plan, SandboxUserIds users, Path path, String mode) {
    plan.step("make", path.toString(), mode, users.root(), users.root());
  }
}
