package dev.isola.app.purge;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Traces of a data folder in tables of the kernel, which remain when the folder was removed: the
 * programs that processes run, and the sources of mounts in their namespaces. A guest process can
 * change neither.
 *
 * @param data the data folder, which may not exist
 * @param inFileSystem the same path, relative to the root of its file system
 */
record DataFolderTraces(Path data, String inFileSystem) {
  private static final Path PROC = Path.of("/proc");
  private static final int ROOT = 3;
  private static final int MOUNT_POINT = 4;

  static DataFolderTraces of(Path data) {
    return new DataFolderTraces(data, inFileSystem(data));
  }

  /** Returns whether a process of a sandbox uses the agent or files of the folder. */
  boolean showIn(long pid, SandboxId sandbox) {
    return runsFrom(pid) || mountsIn(pid, sandbox);
  }

  /** Returns whether the program of a process is in the folder, or was before it was removed. */
  private boolean runsFrom(long pid) {
    try {
      return Files.readSymbolicLink(PROC.resolve(pid + "/exe")).startsWith(data);
    } catch (IOException goneOrNotOurs) {
      return false;
    }
  }

  /** Returns whether the agent or a file of the sandbox is mounted in the process's namespace. */
  private boolean mountsIn(long pid, SandboxId sandbox) {
    for (String line : lines(PROC.resolve(pid + "/mountinfo"))) {
      String[] fields = line.split(" ", MOUNT_POINT + 2);
      if (fields.length > MOUNT_POINT) {
        String source = unescape(fields[ROOT]);
        if (source.startsWith(inFileSystem + "/")
            && (source.contains("/bin/isola-agent-")
                || source.contains("/sandboxes/" + sandbox + "/"))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Returns the mount points in the folder, innermost first. */
  List<String> mounts() {
    List<String> mounts = new ArrayList<>();
    for (String line : lines(PROC.resolve("self/mountinfo"))) {
      String[] fields = line.split(" ", MOUNT_POINT + 2);
      if (fields.length > MOUNT_POINT
          && Path.of(unescape(fields[MOUNT_POINT]).replace("//deleted", "")).startsWith(data)) {
        mounts.addFirst(unescape(fields[MOUNT_POINT]));
      }
    }
    return mounts;
  }

  /** Returns the loop devices whose file is in the folder. */
  List<String> loopDevices() {
    List<String> devices = new ArrayList<>();
    String[] names = Path.of("/sys/block").toFile().list();
    for (String name : names == null ? new String[0] : names) {
      if (name.startsWith("loop")) {
        List<String> file = lines(Path.of("/sys/block", name, "loop/backing_file"));
        if (!file.isEmpty() && Path.of(file.getFirst()).startsWith(data)) {
          devices.add("/dev/" + name);
        }
      }
    }
    return devices;
  }

  private static String inFileSystem(Path data) {
    String best = "";
    String root = "";
    for (String line : lines(PROC.resolve("self/mountinfo"))) {
      String[] fields = line.split(" ", MOUNT_POINT + 2);
      if (fields.length > MOUNT_POINT) {
        String point = unescape(fields[MOUNT_POINT]);
        if (data.startsWith(point) && point.length() >= best.length()) {
          best = point;
          root = unescape(fields[ROOT]);
        }
      }
    }
    String inside = data.toString().substring(best.equals("/") ? 0 : best.length());
    return root.equals("/") ? inside : root + inside;
  }

  /** Decodes the octal escapes of the kernel for whitespace and backslashes. */
  private static String unescape(String text) {
    return text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }

  private static List<String> lines(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException goneOrNotOurs) {
      return List.of();
    }
  }
}
