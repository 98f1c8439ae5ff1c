package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The writable layer of a sandbox, in one folder of the host: the workspace, home directories, the
 * upper layer of its image, and the work folders of overlays. The sandbox's disk, if it has one, is
 * mounted on that folder, but visible only to the launcher and the sandbox.
 */
record WritableLayer(SandboxFolder folder) {
  /** Where the agent finds the layer to measure it. */
  static final String INSIDE = "/.isola/layer";

  /** The folder of committed layers in a disk; see disk.h. */
  static final String PUSHED = "layers";

  Path path() {
    return folder.path().resolve("layer");
  }

  /** Returns the image file of the sandbox's disk; it does not exist if disks are not available. */
  Path image() {
    return folder.path().resolve("disk");
  }

  boolean hasDisk() {
    return Files.exists(image());
  }

  Path resolve(String name) {
    return path().resolve(name);
  }

  /** Returns the work folder of the overlay. */
  Path work() {
    return resolve("work");
  }

  /** Creates the folder. */
  void create(SandboxUserIds users) throws IOException {
    Files.createDirectory(path());
    Files.setAttribute(path(), "unix:mode", 0700);
    users.chown(path());
  }

  /** Adds the steps that create subfolders owned by the sandbox's root. */
  void plan(LaunchPlan plan, SandboxUserIds users, String... names) {
    for (String name : names) {
      create(plan, users, resolve(name), name.endsWith("tmp") ? "1777" : "755");
    }
  }

  /** Adds the step that creates a folder owned by the sandbox's root unless it exists. */
  static void create(LaunchPlan plan, SandboxUserIds users, Path path, String mode) {
    plan.step("make", path.toString(), mode, users.root(), users.root());
  }
}
