package dev.isola.provider.microvm.firecracker;

import dev.isola.host.launch.SandboxUserIds;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How a Firecracker process is started: directly, or as root by the jailer, which confines it to a
 * root of its own as a user of its own. Control groups are those of Isola: the process is started
 * in them, and the jailer is not asked to create any.
 *
 * @param words the command line
 * @param folder where the process works; the command is started there
 */
record FirecrackerCommand(List<String> words, FirecrackerFolder folder) {
  /** The jailer accepts no other ids. */
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9-]{1,64}");

  private static final String FOLDER = "j";

  /** Disks, sockets, and one descriptor for each connection of the agent. */
  private static final int MAX_DESCRIPTORS = 256;

  FirecrackerCommand {
    words = List.copyOf(words);
  }

  /** The name of a machine; each has a folder of its own, and paths of sockets are limited. */
  private static final String MACHINE = "m";

  /**
   * Returns the command of a process with files in a folder: jailed if it has a user of its own.
   *
   * @param folder the folder of this machine alone
   */
  static FirecrackerCommand of(FirecrackerProgram program, Path folder, SandboxUserIds users) {
    return users.hasRange()
        ? jailed(
            program.path(),
            program.jailer().orElseThrow().path(),
            MACHINE,
            folder.resolve(FOLDER),
            Math.toIntExact(users.firstId()),
            Optional.empty())
        : direct(program.path(), MACHINE, folder.resolve(FOLDER));
  }

  /**
   * Returns the command of a process that is not confined.
   *
   * @param id appears in the list of processes
   */
  static FirecrackerCommand direct(Path program, String id, Path folder) {
    return new FirecrackerCommand(
        List.of(program.toString(), "--id", require(id), "--api-sock", FirecrackerFolder.API),
        new FirecrackerFolder(folder, Optional.empty()));
  }

  /**
   * Returns the command of a jailed process.
   *
   * @param id appears in the list of processes
   * @param base a folder of this machine alone; the jailer creates the root of the process below it
   * @param user the user and group of the process
   * @param network the network namespace of the process; empty for that of the server
   */
  static FirecrackerCommand jailed(
      Path program, Path jailer, String id, Path base, int user, Optional<Path> network) {
    Path root = base.resolve(program.getFileName()).resolve(require(id)).resolve("root");
    List<String> words =
        new ArrayList<>(
            List.of(
                jailer.toString(),
                "--id",
                id,
                "--exec-file",
                program.toString(),
                "--uid",
                Integer.toString(user),
                "--gid",
                Integer.toString(user),
                "--chroot-base-dir",
                base.toString(),
                "--resource-limit",
                "no-file=" + MAX_DESCRIPTORS));
    network.ifPresent(
        namespace -> {
          words.add("--netns");
          words.add(namespace.toString());
        });
    words.addAll(List.of("--", "--api-sock", FirecrackerFolder.API));
    return new FirecrackerCommand(words, new FirecrackerFolder(root, Optional.of(user)));
  }

  private static String require(String id) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException("Firecracker does not accept the id " + id);
    }
    return id;
  }
}
