package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.SavedSandbox;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.link.local.TreeRemoval;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.ScratchDisks;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Machines that were saved while they ran: their memory, the state of their devices and their
 * changed files. Each has a folder named after the server process that uses it, so that the next
 * one removes it if that process was killed.
 */
final class SavedMachines {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The process that uses it: pid and start time. */
  private static final Pattern NAME = Pattern.compile("(\\d+)-(\\d+)-[0-9a-f]+");

  private static final Duration TIMEOUT = Duration.ofSeconds(25);

  private final Path folder;

  /**
   * @param folder where they are; need not exist
   */
  SavedMachines(Path folder) {
    this.folder = folder;
  }

  /** Saves a machine whose commands are frozen; it runs again afterwards. */
  SavedSandbox save(SandboxRecord record, SandboxFolder source, SandboxUserIds users, Path data)
      throws IOException {
    MachineFolder machine = MachineFolder.of(source);
    MachineFolder target = new MachineFolder(newFolder());
    try {
      target.writeMachine(machine.readMachine());
      HostPaths paths = new HostPaths(data, source.path(), users.hasRange());
      try (Qmp qmp = Qmp.connect(machine.controlSocket(), TIMEOUT)) {
        try {
          saveState(qmp, machine, target, users, paths);
          ScratchDisks.copy(machine.scratchDisk(), target.scratchDisk());
        } finally {
          qmp.execute("cont", Map.of(), TIMEOUT);
        }
      }
      return new SavedSandbox(target.path(), record.secret());
    } catch (IOException | RuntimeException e) {
      TreeRemoval.remove(target.path());
      throw e;
    }
  }

  private static void saveState(
      Qmp qmp, MachineFolder machine, MachineFolder target, SandboxUserIds users, HostPaths paths)
      throws IOException {
    Files.deleteIfExists(machine.stateSocket()); // left behind by a killed server
    try (StateReceiver receiver = StateReceiver.listen(machine.stateSocket(), target.state())) {
      if (users.hasRange()) {
        Files.setAttribute(machine.stateSocket(), "unix:uid", Math.toIntExact(users.firstId()));
      }
      qmp.migrate(paths.of(machine.stateSocket()), true, TIMEOUT);
      receiver.await(TIMEOUT);
    }
  }

  private Path newFolder() throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    long pid = ProcessHandle.current().pid();
    long start = AgentProcess.startTimeOf(pid).orElse(0L);
    return Files.createDirectory(
        folder.resolve(pid + "-" + start + "-" + HexFormat.of().formatHex(random)), OWNER_ONLY);
  }

  void discard(SavedSandbox saved) throws IOException {
    TreeRemoval.remove(saved.folder());
  }

  /** Removes what server processes that are gone have saved. */
  void removeAbandoned() throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder)) {
      for (Path found : folders) {
        Matcher name = NAME.matcher(found.getFileName().toString());
        boolean inUse =
            name.matches()
                && AgentProcess.startTimeOf(Long.parseLong(name.group(1)))
                    .filter(start -> start == Long.parseLong(name.group(2)))
                    .isPresent();
        if (!inUse) {
          TreeRemoval.remove(found);
        }
      }
    }
  }
}
