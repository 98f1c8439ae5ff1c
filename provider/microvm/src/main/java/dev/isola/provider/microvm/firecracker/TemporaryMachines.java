package dev.isola.provider.microvm.firecracker;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.AgentChannel;
import dev.isola.link.InitListener;
import dev.isola.link.local.ProcessFolders;
import dev.isola.link.local.TreeRemoval;
import dev.isola.provider.microvm.BootFiles.Boot;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.firecracker.FirecrackerMachine.Hardware;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Machines that are not sandboxes: they become a template, or show that machines boot here. Each
 * has a folder named after the server process that uses it, so that the next one ends it if that
 * process was killed. A machine also ends by itself after two minutes.
 */
final class TemporaryMachines {
  private static final Path PROC = Path.of("/proc");
  private static final String LIFETIME_SECONDS = "120";

  /** What the user of these machines follows from; no sandbox has the same. */
  private static final SandboxId ID = new SandboxId("firecrackerprobe");

  private final InstanceId instance;
  private final ProcessFolders folders;
  private final ScratchDisks scratchDisks;

  /**
   * @param folder where they are; need not exist
   */
  TemporaryMachines(InstanceId instance, Path folder, ScratchDisks scratchDisks) {
    this.instance = instance;
    this.folders = new ProcessFolders(folder);
    this.scratchDisks = scratchDisks;
  }

  /** Uses a machine whose init waits for a boot record. */
  interface Use {
    void apply(FirecrackerMachine machine, FirecrackerFolder folder) throws IOException;
  }

  /**
   * Boots a machine and ends it after its use.
   *
   * @param rootDisk its first disk; empty for its scratch disk
   * @param timeout for the boot
   */
  void boot(
      FirecrackerProgram program,
      Boot boot,
      MachineSize size,
      Optional<Path> rootDisk,
      Duration timeout,
      Use use)
      throws IOException {
    removeAbandoned();
    Path own = folders.create();
    try {
      FirecrackerCommand command =
          limited(FirecrackerCommand.of(program, own, SandboxUserIds.of(instance, ID, own)));
      FirecrackerFolder folder = command.folder();
      folder.create();
      folder.link(boot.kernel(), FirecrackerFolder.KERNEL);
      folder.link(boot.initramfs(), FirecrackerFolder.INITRAMFS);
      Path scratch = folder.file(FirecrackerFolder.SCRATCH_DISK);
      scratchDisks.create(size, scratch);
      if (rootDisk.isPresent()) {
        folder.link(rootDisk.get(), FirecrackerFolder.ROOT_DISK);
      } else {
        ScratchDisks.copy(scratch, folder.file(FirecrackerFolder.ROOT_DISK));
        folder.giveToUser(folder.file(FirecrackerFolder.ROOT_DISK));
      }
      folder.giveToUser(scratch);
      Deadline deadline = Deadline.in(timeout);
      try (FirecrackerProcess process = FirecrackerProcess.start(command, timeout);
          InitListener listener =
              InitListener.bind(folder.agentSocket(), folder::giveToUser, process::isAlive)) {
        folder.protect();
        FirecrackerMachine machine = new FirecrackerMachine(new FirecrackerApi(folder.api()));
        machine.boot(new Hardware(size.processors(), size.memoryMb(), Optional.empty()));
        try (AgentChannel _ = listener.awaitWaiting(deadline.left())) {
          use.apply(machine, folder);
        }
      }
    } finally {
      end(own);
    }
  }

  private static FirecrackerCommand limited(FirecrackerCommand command) throws IOException {
    HostProgram limiter =
        HostProgram.find("timeout")
            .orElseThrow(() -> new IOException("timeout is not installed (coreutils)"));
    List<String> words =
        new ArrayList<>(List.of(limiter.path().toString(), "--signal=KILL", LIFETIME_SECONDS));
    words.addAll(command.words());
    return new FirecrackerCommand(words, command.folder());
  }

  /** Ends the machines of server processes that are gone. */
  void removeAbandoned() throws IOException {
    for (Path abandoned : folders.abandoned()) {
      end(abandoned);
    }
  }

  /** Kills the processes that work in a folder, and removes it. */
  private static void end(Path folder) throws IOException {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
      for (Path process : processes) {
        if (worksIn(process, folder)) {
          ProcessHandle.of(Long.parseLong(process.getFileName().toString()))
              .filter(_ -> worksIn(process, folder))
              .ifPresent(ProcessHandle::destroyForcibly);
        }
      }
    }
    TreeRemoval.remove(folder);
  }

  /** Returns whether a process has its working folder, or its root if it is jailed, in a folder. */
  private static boolean worksIn(Path process, Path folder) {
    for (String link : List.of("cwd", "root")) {
      try {
        if (Files.readSymbolicLink(process.resolve(link)).startsWith(folder)) {
          return true;
        }
      } catch (IOException goneOrForeign) {
        return false;
      }
    }
    return false;
  }
}
