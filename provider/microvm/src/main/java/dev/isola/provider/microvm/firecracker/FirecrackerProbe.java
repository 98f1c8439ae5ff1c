package dev.isola.provider.microvm.firecracker;

import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.ContentKey;
import dev.isola.provider.microvm.MachineSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds out whether machines boot here, by booting one. A device {@code /dev/kvm} that can be
 * opened, and even executes instructions, does not prove that a kernel boots. The answer is kept
 * until the host boots again, or Firecracker, the kernel or the agent is replaced.
 */
final class FirecrackerProbe {
  /** A kernel boots in less than a second. */
  private static final Duration TIMEOUT = Duration.ofSeconds(8);

  private static final Path HOST_BOOT = Path.of("/proc/sys/kernel/random/boot_id");
  private static final MachineSize SIZE = new MachineSize(1, 128, 1, false);

  private final Path file;
  private final BootFiles bootFiles;
  private final TemporaryMachines machines;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param file where the answer is kept
   */
  FirecrackerProbe(Path file, BootFiles bootFiles, TemporaryMachines machines) {
    this.file = file;
    this.bootFiles = bootFiles;
    this.machines = machines;
  }

  /**
   * Returns why machines do not boot; empty if they do.
   *
   * @throws IOException if that cannot be found out
   */
  Optional<String> failure(FirecrackerProgram program) throws IOException {
    lock.lock();
    try {
      BootFiles.Boot boot = bootFiles.files();
      String question =
          ContentKey.of(Files.readString(HOST_BOOT).strip(), program.identity(), boot.identity());
      Optional<String> known = known(question);
      String answer = known.isPresent() ? known.get() : tryBoot(program, boot);
      if (known.isEmpty()) {
        Files.createDirectories(file.getParent());
        Files.writeString(file, question + "\n" + answer);
      }
      return Optional.of(answer).filter(text -> !text.isEmpty());
    } finally {
      lock.unlock();
    }
  }

  private Optional<String> known(String question) throws IOException {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    String[] lines = Files.readString(file).split("\n", 2);
    return lines.length == 2 && lines[0].equals(question)
        ? Optional.of(lines[1])
        : Optional.empty();
  }

  private String tryBoot(FirecrackerProgram program, BootFiles.Boot boot) {
    try {
      machines.boot(program, boot, SIZE, Optional.empty(), TIMEOUT, (_, _) -> {});
      return "";
    } catch (IOException e) {
      return "a machine did not boot within "
          + TIMEOUT.toSeconds()
          + " s, although "
          + FirecrackerCheck.KVM
          + " exists ("
          + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
          + ")";
    }
  }
}
