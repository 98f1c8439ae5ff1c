package dev.isola.provider.microvm.qemu;

import dev.isola.link.MachineArchitecture;
import dev.isola.link.VirtioPortConnector;
import dev.isola.provider.microvm.BootFiles.Boot;
import dev.isola.provider.microvm.CachedFiles;
import dev.isola.provider.microvm.ContentKey;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.qemu.QemuMachines.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Machines that were booted once and stopped while their agents waited for a boot record. Sandboxes
 * continue from them: they map the template's memory and get copies of the pages that they change.
 */
final class QemuTemplates {
  /** Each takes the disk space of the pages that a boot touches. */
  private static final int KEPT = 8;

  private static final String PREFIX = "template-";
  private static final Duration SAVE_TIMEOUT = Duration.ofSeconds(30);

  /**
   * A stopped machine.
   *
   * @param memory the file with its memory
   * @param state the file with the state of its devices
   * @param scratchDisk its disk for changed files; of no use unless the machine has mounted it
   */
  record Template(Path memory, Path state, Path scratchDisk) {
    Origin origin() {
      return new Origin(Optional.of(memory), state);
    }
  }

  /** Whether the disks of a template are mounted, so that its copies need copies of its disks. */
  enum Disks {
    MOUNTED,
    /** Copies may have disks with other content. */
    NOT_MOUNTED
  }

  private final CachedFiles files;
  private final ScratchDisks scratchDisks;
  private final TemporaryMachines machines;

  QemuTemplates(Path folder, ScratchDisks scratchDisks, TemporaryMachines machines) {
    this.files = new CachedFiles(folder);
    this.scratchDisks = scratchDisks;
    this.machines = machines;
  }

  /**
   * Returns the template for machines of a size and image, which is booted if there is none.
   *
   * @param program QEMU, and a text that changes with it
   */
  Template of(
      QemuProgram program,
      Accelerator accelerator,
      Boot boot,
      MachineSize size,
      Path rootDisk,
      Disks disks,
      Duration timeout)
      throws IOException {
    MachineArchitecture architecture = MachineArchitecture.ofHost();
    String key =
        ContentKey.of(
            program.identity(),
            accelerator.option(),
            accelerator.processor(architecture),
            boot.identity(),
            size.identity(),
            rootDisk.getFileName().toString(),
            QemuArguments.kernelCommandLine(architecture, disks == Disks.MOUNTED));
    Path folder =
        files.get(
            PREFIX + key,
            target -> make(target, program, accelerator, boot, size, rootDisk, disks, timeout));
    files.retain(KEPT, PREFIX);
    return new Template(
        folder.resolve("memory"), folder.resolve("state"), folder.resolve("scratch"));
  }

  /** Removes templates that killed processes have left unfinished. */
  void removeAbandoned() throws IOException {
    files.removeAbandoned();
  }

  private void make(
      Path target,
      QemuProgram program,
      Accelerator accelerator,
      Boot boot,
      MachineSize size,
      Path rootDisk,
      Disks disks,
      Duration timeout)
      throws IOException {
    Files.createDirectory(target);
    Path scratch = target.resolve("scratch");
    scratchDisks.create(size, scratch);
    try (TemporaryMachines.Folder folder = machines.newFolder()) {
      QemuArguments arguments =
          new QemuArguments(
              program.path(),
              accelerator,
              boot,
              size,
              rootDisk,
              scratch,
              folder.controlSocket(),
              Optional.of(target.resolve("memory")),
              true,
              false,
              disks == Disks.MOUNTED,
              OptionalLong.empty());
      folder.start(arguments.words(), timeout);
      new VirtioPortConnector(folder.port()).awaitWaiting(timeout);
      try (Qmp qmp = Qmp.connect(folder.controlSocket());
          StateReceiver receiver =
              StateReceiver.listen(folder.stateSocket(), target.resolve("state"))) {
        qmp.migrate(folder.stateSocket(), false, SAVE_TIMEOUT);
        receiver.await(SAVE_TIMEOUT);
        qmp.execute("quit", Map.of(), SAVE_TIMEOUT);
      }
      folder.awaitEnd(SAVE_TIMEOUT);
    }
  }
}
