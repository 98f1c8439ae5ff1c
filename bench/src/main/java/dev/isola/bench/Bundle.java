package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * An OCI bundle whose root contains one static program, as {@code /bin/true} and {@code
 * /bin/pause}. Namespaces and mounts are those of {@code runc spec}.
 */
record Bundle(Path path) {
  private static final String CONFIG =
      """
      {"ociVersion":"1.0.2",
       "process":{"terminal":false,"user":{"uid":0,"gid":0},"args":["@PROGRAM@"],
        "env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],"cwd":"/",
        "capabilities":{"bounding":["CAP_KILL"],"effective":["CAP_KILL"],"permitted":["CAP_KILL"]},
        "noNewPrivileges":true},
       "root":{"path":"@ROOT@","readonly":true},
       "hostname":"bench",
       "mounts":[
        {"destination":"/proc","type":"proc","source":"proc"},
        {"destination":"/dev","type":"tmpfs","source":"tmpfs",
         "options":["nosuid","strictatime","mode=755","size=65536k"]},
        {"destination":"/dev/pts","type":"devpts","source":"devpts",
         "options":["nosuid","noexec","newinstance","ptmxmode=0666","mode=0620"]},
        {"destination":"/dev/shm","type":"tmpfs","source":"shm",
         "options":["nosuid","noexec","nodev","mode=1777","size=65536k"]},
        {"destination":"/sys","type":"sysfs","source":"sysfs",
         "options":["nosuid","noexec","nodev","ro"]}],
       "linux":{
        "resources":{"devices":[{"allow":false,"access":"rwm"}]},
        "namespaces":[{"type":"pid"},{"type":"network"},{"type":"ipc"},{"type":"uts"},
         {"type":"mount"}],
        "maskedPaths":["/proc/kcore","/proc/keys","/proc/timer_list","/sys/firmware"],
        "readonlyPaths":["/proc/bus","/proc/fs","/proc/irq","/proc/sys","/proc/sysrq-trigger"]}}
      """;

  /** Creates the root folder for all bundles. */
  static Path root(Path folder, RawProgram program) throws IOException {
    Path root = folder.resolve("rootfs");
    if (!Files.exists(root)) {
      for (String name : new String[] {"bin", "proc", "dev", "sys", "tmp"}) {
        Files.createDirectories(root.resolve(name));
      }
      for (String name : new String[] {"true", "pause"}) {
        Path file = root.resolve("bin").resolve(name);
        Files.copy(program.path(), file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    }
    return root;
  }

  /** Creates a bundle that runs {@code program}. */
  static Bundle make(Path folder, Path root, String program) throws IOException {
    Files.createDirectories(folder);
    String config = CONFIG.replace("@PROGRAM@", program).replace("@ROOT@", root.toString());
    Files.writeString(folder.resolve("config.json"), config);
    return new Bundle(folder);
  }
}
