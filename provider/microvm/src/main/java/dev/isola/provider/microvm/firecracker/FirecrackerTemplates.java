package dev.isola.provider.microvm.firecracker;

import dev.isola.provider.microvm.BootFiles.Boot;
import dev.isola.provider.microvm.CachedFiles;
import dev.isola.provider.microvm.ContentKey;
import dev.isola.provider.microvm.MachineSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Machines that were booted once and saved while their init waited for a boot record. Sandboxes
 * continue from them: they map the template's memory and get copies of the pages that they change.
 */
final class FirecrackerTemplates {
  /** Each takes the disk space of the machine's memory. */
  private static final int KEPT = 4;

  private static final String PREFIX = "template-";
  private static final Duration SAVE_TIMEOUT = Duration.ofSeconds(60);

  private final CachedFiles files;
  private final TemporaryMachines machines;

  FirecrackerTemplates(Path folder, TemporaryMachines machines) {
    this.files = new CachedFiles(folder);
    this.machines = machines;
  }

  /**
   * Makes the template for machines of a size and image available in a folder; it is booted if
   * there is none.
   */
  void link(
      FirecrackerFolder target,
      FirecrackerProgram program,
      Boot boot,
      MachineSize size,
      Path rootDisk,
      Duration timeout)
      throws IOException {
    String key =
        ContentKey.of(
            program.identity(),
            boot.identity(),
            size.identity(),
            rootDisk.getFileName().toString());
    Path template =
        files.get(PREFIX + key, made -> make(made, program, boot, size, rootDisk, timeout));
    String state = FirecrackerFolder.SNAPSHOT.state();
    String memory = FirecrackerFolder.SNAPSHOT.memory();
    target.link(template.resolve(state), state);
    target.link(template.resolve(memory), memory);
    files.retain(KEPT, PREFIX);
  }

  private void make(
      Path target,
      FirecrackerProgram program,
      Boot boot,
      MachineSize size,
      Path rootDisk,
      Duration timeout)
      throws IOException {
    Files.createDirectory(target);
    machines.boot(
        program,
        boot,
        size,
        Optional.of(rootDisk),
        timeout,
        (machine, folder) -> {
          machine.save(SAVE_TIMEOUT);
          for (String name :
              new String[] {
                FirecrackerFolder.SNAPSHOT.state(), FirecrackerFolder.SNAPSHOT.memory()
              }) {
            Files.move(folder.file(name), target.resolve(name));
            FirecrackerFolder.giveToServer(target.resolve(name));
          }
        });
  }
}
