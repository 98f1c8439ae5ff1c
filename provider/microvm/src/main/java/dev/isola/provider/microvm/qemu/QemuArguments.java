package dev.isola.provider.microvm.qemu;

import dev.isola.link.MachineArchitecture;
import dev.isola.provider.microvm.BootFiles.Boot;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The command line of QEMU. Machines that continue from the same template or saved machine have the
 * same hardware, so that there is one place that describes it. Nothing on it is specific to a
 * sandbox but its own files.
 *
 * @param memory the file with the machine's memory; empty for memory of its own
 * @param shared whether changes of the memory go to that file
 * @param incoming whether the machine continues from a state that {@link Qmp} names, instead of
 *     booting
 * @param earlyRoot whether the machine mounts its disks before it waits for its boot record
 * @param user the user and group that QEMU runs as; empty for those of the server
 */
record QemuArguments(
    Path program,
    Accelerator accelerator,
    Boot boot,
    MachineSize size,
    Path rootDisk,
    Path scratchDisk,
    Path controlSocket,
    Optional<Path> memory,
    boolean shared,
    boolean incoming,
    boolean earlyRoot,
    OptionalLong user) {
  /** The name of the port that the agent opens. */
  private static final String PORT = "isola.agent";

  /** How much of the console is kept, for messages about machines that do not boot. */
  private static final int CONSOLE_SIZE = 65_536;

  List<String> words() {
    return words(MachineArchitecture.ofHost());
  }

  List<String> words(MachineArchitecture architecture) {
    List<String> words = new ArrayList<>();
    words.add(program.toString());
    words.addAll(
        List.of("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-sandbox"));
    words.add(
        "on,obsolete=deny,spawn=deny,resourcecontrol=deny,elevateprivileges="
            + (user.isPresent() ? "allow" : "deny")); // QEMU itself has to change its user
    words.addAll(
        List.of(
            "-machine",
            board(architecture) + ",memory-backend=memory",
            "-accel",
            accelerator.option(),
            "-cpu",
            accelerator.processor(architecture),
            "-smp",
            Integer.toString(size.processors()),
            "-m",
            size.memoryMb() + "M",
            "-object",
            memoryBackend(),
            "-kernel",
            boot.kernel().toString(),
            "-initrd",
            boot.initramfs().toString(),
            "-append",
            kernelCommandLine(architecture, earlyRoot),
            "-chardev",
            "ringbuf,id=console,size=" + CONSOLE_SIZE,
            "-serial",
            "chardev:console",
            "-device",
            "virtio-serial-pci",
            "-chardev",
            "null,id=" + QemuPort.BACKEND, // until a server connects
            "-device",
            "virtserialport,chardev=" + QemuPort.BACKEND + ",name=" + PORT,
            "-drive",
            "if=none,id=root,format=raw,readonly=on,file=" + escape(rootDisk),
            "-device",
            "virtio-blk-pci,drive=root",
            "-drive",
            "if=none,id=scratch,format=raw,cache=unsafe,discard=unmap,file=" + escape(scratchDisk),
            "-device",
            "virtio-blk-pci,drive=scratch",
            "-qmp",
            "unix:" + escape(controlSocket) + ",server=on,wait=off"));
    if (size.network()) {
      words.addAll(
          List.of(
              "-netdev",
              "user,id=net,ipv6=off",
              "-device",
              "virtio-net-pci,netdev=net,mac=02:00:00:00:00:01,romfile="));
    }
    if (incoming) {
      words.addAll(List.of("-incoming", "defer"));
    }
    if (user.isPresent()) {
      words.addAll(List.of("-runas", user.getAsLong() + ":" + user.getAsLong()));
    }
    return words;
  }

  private String memoryBackend() {
    return memory
        .map(
            file ->
                "memory-backend-file,id=memory,size=%dM,mem-path=%s,share=%s"
                    .formatted(size.memoryMb(), escape(file), shared ? "on" : "off"))
        .orElseGet(() -> "memory-backend-ram,id=memory,size=%dM".formatted(size.memoryMb()));
  }

  private static String board(MachineArchitecture architecture) {
    return switch (architecture) {
      case X86_64 -> "pc";
      case AARCH64 -> "virt";
    };
  }

  static String kernelCommandLine(MachineArchitecture architecture, boolean earlyRoot) {
    String console =
        switch (architecture) {
          case X86_64 -> "ttyS0 reboot=t no5lvl";
          case AARCH64 -> "ttyAMA0";
        };
    return "console="
        + console
        + " quiet panic=-1 mitigations=off cryptomgr.notests random.trust_cpu=on"
        + " lsm=landlock,yama" // fewer instructions for each system call
        + " isola.channel=port:"
        + PORT
        + (earlyRoot ? " isola.root=early:" + SandboxSpec.DEFAULT_MOUNT : "");
  }

  /** Doubles commas, which separate options. */
  private static String escape(Path path) {
    return path.toString().replace(",", ",,");
  }
}
