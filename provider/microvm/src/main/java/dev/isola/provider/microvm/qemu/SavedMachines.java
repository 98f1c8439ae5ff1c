package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.SandboxShape;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.launch.SavedArchive;
import dev.isola.link.local.Booter.SavedSandbox;
import dev.isola.link.local.ProcessFolders;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.link.local.TreeRemoval;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Machines that were saved while they ran: their memory, the state of their devices and their
 * changed files. Each has a folder named after the server process that uses it, so that the next
 * one removes it if that process was killed.
 */
final class SavedMachines {
  private static final String DISK_ARCHIVE = "disk.tar";
  private static final Pattern STORED_NAME =
      Pattern.compile("shape|machine|secret|state|disk\\.tar");

  private static final Duration TIMEOUT = Duration.ofSeconds(25);

  private final ProcessFolders folders;

  /**
   * @param folder where they are; need not exist
   */
  SavedMachines(Path folder) {
    this.folders = new ProcessFolders(folder);
  }

  /** Saves a machine whose commands are frozen; it runs again afterwards. */
  SavedSandbox save(SandboxRecord record, SandboxFolder source, SandboxUserIds users, Path data)
      throws IOException {
    MachineFolder machine = MachineFolder.of(source);
    MachineFolder target = new MachineFolder(folders.create());
    try {
      target.writeMachine(machine.readMachine());
      SandboxShape.read(source.path()).write(target.path());
      HostPaths paths = new HostPaths(data, source.path(), users.hasRange());
      try {
        saveState(machine, target, users, paths);
        ScratchDisks.copy(machine.scratchDisk(), target.scratchDisk());
      } finally {
        resume(machine);
      }
      return new SavedSandbox(target.path(), record.secret());
    } catch (IOException | RuntimeException e) {
      TreeRemoval.remove(target.path());
      throw e;
    }
  }

  /** Continues a machine that was stopped to be saved; does nothing if it runs. */
  static void resume(MachineFolder machine) throws IOException {
    // A connection of its own: that of a save that took too long is closed.
    try (Qmp qmp = Qmp.connect(machine.controlSocket())) {
      qmp.resume(TIMEOUT);
    }
  }

  private static void saveState(
      MachineFolder machine, MachineFolder target, SandboxUserIds users, HostPaths paths)
      throws IOException {
    Files.deleteIfExists(machine.stateSocket()); // left behind by a killed server
    try (Qmp qmp = Qmp.connect(machine.controlSocket());
        StateReceiver receiver = StateReceiver.listen(machine.stateSocket(), target.state())) {
      if (users.hasRange()) {
        Files.setAttribute(machine.stateSocket(), "unix:uid", Math.toIntExact(users.firstId()));
      }
      qmp.migrate(paths.of(machine.stateSocket()), true, TIMEOUT);
      receiver.await(TIMEOUT);
    }
  }

  /** Returns a saved machine as an archive. The disk is an archive in it, because it is sparse. */
  InputStream archive(SavedSandbox saved) throws IOException {
    MachineFolder machine = new MachineFolder(saved.folder());
    SavedArchive.tar(
        List.of(
            "--create",
            "--sparse",
            "--file=" + saved.folder().resolve(DISK_ARCHIVE),
            "--directory=" + saved.folder(),
            machine.scratchDisk().getFileName().toString()));
    SavedArchive.writeSecret(saved);
    return SavedArchive.of(
        saved.folder(), List.of("shape", "machine", "secret", "state", DISK_ARCHIVE));
  }

  /** Restores the result of {@link #archive}. */
  SavedSandbox open(InputStream archive) throws IOException {
    Path folder = folders.create();
    try {
      SavedArchive.unpack(archive, folder, STORED_NAME);
      SavedArchive.requireFiles(folder, List.of("shape", "machine", "state", DISK_ARCHIVE));
      Secret secret = SavedArchive.readSecret(folder);
      SavedArchive.tar(
          List.of(
              "--extract",
              "--file=" + folder.resolve(DISK_ARCHIVE),
              "--directory=" + folder,
              new MachineFolder(folder).scratchDisk().getFileName().toString()));
      Files.delete(folder.resolve(DISK_ARCHIVE));
      return new SavedSandbox(folder, secret);
    } catch (IOException | RuntimeException e) {
      TreeRemoval.remove(folder);
      throw e;
    }
  }

  void discard(SavedSandbox saved) throws IOException {
    TreeRemoval.remove(saved.folder());
  }

  /** Removes what server processes that are gone have saved. */
  void removeAbandoned() throws IOException {
    for (Path abandoned : folders.abandoned()) {
      TreeRemoval.remove(abandoned);
    }
  }
}
