package dev.isola.provider.microvm.qemu;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.SandboxShape;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.launch.SavedArchive;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.MemoryForker;
import dev.isola.link.local.ProcessFolders;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.link.local.TreeRemoval;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.qemu.QemuMachines.Origin;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Machines that were saved while they ran: their memory, the state of their devices and their
 * changed files. Each has a folder named after the server process that uses it, so that the next
 * one removes it if that process was killed.
 */
final class SavedMachines implements MemoryForker {
  private static final String DISK_ARCHIVE = "disk.tar";
  private static final Pattern STORED_NAME =
      Pattern.compile("shape|machine|secret|state|disk\\.tar");

  private static final Duration TIMEOUT = Duration.ofSeconds(25);

  private final ProviderContext context;
  private final MachineHost host;
  private final QemuMachines machines;
  private final ProcessFolders folders;

  SavedMachines(ProviderContext context, MachineHost host, QemuMachines machines) {
    this.context = context;
    this.host = host;
    this.machines = machines;
    this.folders = new ProcessFolders(context.dataFolder().resolve("saved"));
  }

  /** Saves a machine whose commands are frozen; it runs again afterwards. */
  @Override
  public SavedSandbox save(SandboxRecord record, SandboxFolder source) throws IOException {
    SandboxShape shape = SandboxShape.read(source.path());
    Optional<String> obstacle = shape.obstacle();
    if (obstacle.isPresent()) {
      throw Capability.unsupported(
          QemuDescription.NAME,
          "a fork of the processes of sandbox " + record.id() + ", because " + obstacle.get());
    }
    SandboxUserIds users = SandboxUserIds.of(context.instance(), record.id(), source.path());
    MachineFolder machine = MachineFolder.of(source);
    MachineFolder target = new MachineFolder(folders.create());
    try {
      target.writeMachine(machine.readMachine());
      shape.write(target.path());
      HostPaths paths = new HostPaths(context.dataFolder(), source.path(), users.hasRange());
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
  @Override
  public InputStream archive(SavedSandbox saved) throws IOException {
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

  @Override
  public SavedSandbox open(InputStream archive) throws IOException {
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

  @Override
  public RestoredSandbox restore(BootRequest request, SavedSandbox saved) throws IOException {
    Deadline deadline = Deadline.in(request.timeout());
    SandboxId id = request.spec().id();
    SandboxFolder folder = request.folder();
    MachineFolder source = new MachineFolder(saved.folder());
    Machine machine = machines.prepare(request);
    Optional<String> difference =
        SandboxShape.read(source.path()).difference(SandboxShape.read(folder.path()));
    if (difference.isPresent()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a fork of memory must equal its source: " + difference.get(),
              "request the same spec")
          .sandbox(id)
          .exception();
    }
    ScratchDisks.copy(source.scratchDisk(), MachineFolder.of(folder).scratchDisk());
    Origin origin = new Origin(Optional.empty(), source.state());
    AgentProcess process = machines.run(id, folder, machine, Optional.of(origin), deadline);
    return new RestoredSandbox(process, machines.record(request, machine, host.image(machine)));
  }

  @Override
  public void discard(SavedSandbox saved) throws IOException {
    TreeRemoval.remove(saved.folder());
  }

  /** Removes what server processes that are gone have saved. */
  void removeAbandoned() throws IOException {
    for (Path abandoned : folders.abandoned()) {
      TreeRemoval.remove(abandoned);
    }
  }
}
