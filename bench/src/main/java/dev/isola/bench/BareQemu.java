package dev.isola.bench;

import dev.isola.app.cli.DataFolder;
import dev.isola.link.MachineArchitecture;
import dev.isola.provider.microvm.GuestKernel;
import dev.isola.provider.microvm.Initramfs;
import dev.isola.provider.microvm.KernelImage;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A virtual machine booted by hand: QEMU, the same kernel, and an initramfs that has nothing but a
 * static program. It runs the program and ends; it has no disk, no agent and no network.
 */
record BareQemu(String version, List<String> words) implements Peer {
  static final String NAME = "qemu-boot";

  static Peer open(BenchEnvironment environment) throws IOException, InterruptedException {
    MachineArchitecture architecture = MachineArchitecture.ofHost();
    boolean arm = architecture == MachineArchitecture.AARCH64;
    String program = "qemu-system-" + architecture.machine();
    LocalProgram.requireInstalled(program);
    RawProgram raw =
        environment
            .program()
            .orElseThrow(() -> new IOException("isola-raw is not built (make -C bench)"));
    Path data = DataFolder.path(null, System.getenv(), System.getProperty("user.name"));
    GuestKernel kernel =
        GuestKernel.find(ProviderConfig.EMPTY, data)
            .orElseThrow(() -> new IOException("no kernel in " + data.resolve("kernel")));
    Path folder = Files.createDirectory(environment.folder().resolve(NAME));
    Path unpacked = folder.resolve("kernel");
    KernelImage.unpack(kernel.image(), unpacked);
    Path initramfs = folder.resolve("initramfs");
    Initramfs.write(initramfs, raw.path(), List.of());
    String version =
        LocalProgram.output(List.of(program, "--version")).lines().findFirst().orElse("");
    List<String> machine =
        List.of(
            program,
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
            "-machine",
            arm ? "virt" : "pc",
            "-m",
            "256M",
            "-kernel",
            unpacked.toString(),
            "-initrd",
            initramfs.toString(),
            "-append",
            "quiet panic=-1 reboot=t mitigations=off cryptomgr.notests random.trust_cpu=on");
    try {
      return with(version, machine, "kvm", "host");
    } catch (IOException noKvm) {
      return with(version, machine, "tcg", arm ? "max" : "max,cx16=off");
    }
  }

  private static Peer with(String version, List<String> machine, String accelerator, String cpu)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("timeout", "--signal=KILL", "20"));
    words.addAll(machine);
    words.addAll(List.of("-accel", accelerator, "-cpu", cpu));
    BareQemu found = new BareQemu(version + ", " + accelerator, List.copyOf(words));
    LocalProgram.run(Map.of(), found.words);
    return found;
  }

  @Override
  public List<BenchSubject> createSubjects() {
    return List.of(BenchSubject.timed(NAME, () -> LocalProgram.run(Map.of(), words)));
  }

  @Override
  public List<BenchSubject> execSubjects() {
    return List.of(); // the machine has no channel
  }

  @Override
  public void close() {}
}
