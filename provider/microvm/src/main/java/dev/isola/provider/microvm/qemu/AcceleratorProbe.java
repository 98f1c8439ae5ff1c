package dev.isola.provider.microvm.qemu;

import dev.isola.link.VirtioPortConnector;
import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.ContentKey;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether KVM works by booting a machine with it. A device {@code /dev/kvm} that can be
 * opened, and even executes instructions, does not prove that a kernel boots. The answer is kept
 * until the host boots again.
 */
final class AcceleratorProbe {
  /** The setting that chooses: {@code kvm}, {@code emulation}, or neither to find out. */
  static final String SETTING = "accelerator";

  private static final Path DEVICE = Path.of("/dev/kvm");

  /** A kernel boots with KVM in less than a second. */
  private static final Duration TIMEOUT = Duration.ofSeconds(8);

  private static final MachineSize SIZE = new MachineSize(1, 128, 1, false);
  private static final String WORKS = "works";

  /**
   * What was found.
   *
   * @param detail why KVM is not used; empty if it is
   */
  record Finding(Accelerator accelerator, String detail) {}

  private final Path folder;
  private final ProviderConfig config;
  private final BootFiles bootFiles;
  private final ScratchDisks scratchDisks;
  private final TemporaryMachines machines;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Finding known;

  /**
   * @param folder where the answer is kept
   */
  AcceleratorProbe(
      Path folder,
      ProviderConfig config,
      BootFiles bootFiles,
      ScratchDisks scratchDisks,
      TemporaryMachines machines) {
    this.folder = folder;
    this.config = config;
    this.bootFiles = bootFiles;
    this.scratchDisks = scratchDisks;
    this.machines = machines;
  }

  /** Returns how machines run here; boots one on the first call. */
  Finding find(QemuProgram program) {
    Finding found = known;
    if (found == null) {
      lock.lock();
      try {
        found = known;
        if (found == null) {
          found = decide(program);
          known = found;
        }
      } finally {
        lock.unlock();
      }
    }
    return found;
  }

  private Finding decide(QemuProgram program) {
    Optional<String> chosen = config.get(SETTING);
    if (chosen.isPresent() && chosen.get().equals("emulation")) {
      return emulation("the setting accelerator is emulation");
    }
    if (!Files.isReadable(DEVICE) || !Files.isWritable(DEVICE)) {
      return emulation(
          Files.exists(DEVICE) ? DEVICE + " is not accessible" : DEVICE + " does not exist");
    }
    if (chosen.isPresent() && chosen.get().equals("kvm")) {
      return new Finding(Accelerator.KVM, "");
    }
    String answer;
    try {
      answer = remembered(program);
    } catch (IOException | SandboxException e) {
      answer = "a machine with KVM cannot be tried: " + e.getMessage();
    }
    return answer.equals(WORKS) ? new Finding(Accelerator.KVM, "") : emulation(answer);
  }

  private static Finding emulation(String why) {
    return new Finding(Accelerator.EMULATION, why);
  }

  private String remembered(QemuProgram program) throws IOException {
    BootFiles.Boot boot = bootFiles.files();
    String hostBoot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    Path file = folder.resolve("kvm");
    String question = ContentKey.of(hostBoot, program.identity(), boot.identity());
    if (Files.exists(file)) {
      String[] lines = Files.readString(file).split("\n", 2);
      if (lines.length == 2 && lines[0].equals(question)) {
        return lines[1];
      }
    }
    String answer = tryBoot(program, boot);
    Files.createDirectories(folder);
    Files.writeString(file, question + "\n" + answer);
    return answer;
  }

  private String tryBoot(QemuProgram program, BootFiles.Boot boot) throws IOException {
    try (TemporaryMachines.Folder machine = machines.newFolder()) {
      scratchDisks.create(SIZE, machine.file("disk"));
      QemuArguments arguments =
          new QemuArguments(
              program.path(),
              Accelerator.KVM,
              boot,
              SIZE,
              machine.file("disk"),
              machine.file("disk"),
              machine.controlSocket(),
              Optional.empty(),
              false,
              false,
              false,
              OptionalLong.empty());
      try {
        machine.start(arguments.words(), TIMEOUT);
        new VirtioPortConnector(machine.port()).awaitWaiting(TIMEOUT);
        return WORKS;
      } catch (IOException e) {
        return "a machine with KVM did not boot within "
            + TIMEOUT.toSeconds()
            + " s, although "
            + DEVICE
            + " exists ("
            + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
            + ")";
      }
    }
  }
}
