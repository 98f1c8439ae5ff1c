package dev.isola.provider.microvm.qemu;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.MachineArchitecture;
import dev.isola.link.VirtioPortConnector;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.CachedFiles;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** Starts the QEMU of a sandbox, in its control groups and in a network without devices. */
final class QemuMachines {
  /** A descriptor that the launcher assigns. */
  private static final int STATE_DESCRIPTOR = 3;

  private final ProviderContext context;
  private final MachineHost host;
  private final Map<SandboxId, VirtioPortConnector> connectors = new ConcurrentHashMap<>();

  QemuMachines(ProviderContext context, MachineHost host) {
    this.context = context;
    this.host = host;
  }

  /**
   * A machine that is continued.
   *
   * @param memory the file with its memory; empty if the state contains it
   * @param state the file with its state
   */
  record Origin(Optional<Path> memory, Path state) {}

  /** Returns a connector to the agent of a sandbox, over which it also gets its boot record. */
  VirtioPortConnector connector(SandboxId id, SandboxFolder folder) throws IOException {
    VirtioPortConnector connector =
        new VirtioPortConnector(
            new QemuPort(
                MachineFolder.of(folder).controlSocket(),
                folder.path(),
                paths(folder)::of,
                user(id, folder)));
    connectors.put(id, connector);
    return connector;
  }

  /** Forgets a sandbox. */
  void release(SandboxId id) {
    VirtioPortConnector known = connectors.remove(id);
    if (known != null) {
      known.close(); // a connection that carried the boot record and was not used further
    }
  }

  private HostPaths paths(SandboxFolder folder) {
    return new HostPaths(context.dataFolder(), folder.path(), SandboxUserIds.rangesAvailable());
  }

  /** Returns the user that the QEMU of a sandbox runs as; empty for that of the server. */
  private OptionalLong user(SandboxId id, SandboxFolder folder) throws IOException {
    SandboxUserIds users = SandboxUserIds.of(context.instance(), id, folder.path());
    return users.hasRange() ? OptionalLong.of(users.firstId()) : OptionalLong.empty();
  }

  /** Gives the machine that runs its boot record, and waits until it is set up. */
  void boot(SandboxId id, SandboxFolder folder, Deadline deadline) throws IOException {
    try {
      VirtioPortConnector known = connectors.get(id);
      VirtioPortConnector connector = known == null ? connector(id, folder) : known;
      connector.boot(host.bootRecord(folder), deadline.left());
    } catch (IOException e) {
      throw AgentStarter.startFailed(id, "the machine does not answer: " + e.getMessage(), e);
    }
  }

  /**
   * Starts QEMU.
   *
   * @param origin empty for a machine that boots
   */
  AgentProcess run(
      SandboxId id,
      SandboxFolder folder,
      Machine machine,
      QemuProgram program,
      Accelerator accelerator,
      Optional<Origin> origin,
      Deadline deadline)
      throws IOException {
    MachineFolder files = MachineFolder.of(folder);
    files.removeSockets();
    OptionalLong user = user(id, folder);
    if (user.isPresent()) { // QEMU opens it again for writing when the state is loaded
      Files.setAttribute(files.scratchDisk(), "unix:uid", Math.toIntExact(user.getAsLong()));
    }
    HostPaths paths = paths(folder);
    BootFiles.Boot boot = host.bootFiles().files();
    LaunchPlan plan = host.plan(id, folder, files.controlSocket());
    origin.ifPresent(
        from -> plan.step("open", from.state().toString(), Integer.toString(STATE_DESCRIPTOR)));
    paths.plan(plan);
    QemuArguments arguments =
        new QemuArguments(
            program.path(),
            accelerator,
            new BootFiles.Boot(
                paths.of(kernel(boot, origin)), paths.of(boot.initramfs()), boot.identity()),
            machine.size(),
            paths.of(host.rootDisk(machine)),
            paths.of(files.scratchDisk()),
            paths.of(files.controlSocket()),
            origin.flatMap(Origin::memory).map(paths::of),
            false,
            origin.isPresent(),
            false,
            user);
    List<String> words = new ArrayList<>(List.of("unshare", "--net"));
    if (user.isEmpty()) {
      words.add("--map-current-user");
    }
    words.add("--");
    words.addAll(arguments.words());
    plan.run(words);
    AgentProcess process = host.launch(id, plan, deadline.left());
    if (origin.isPresent()) {
      try (Qmp qmp = Qmp.connect(files.controlSocket())) {
        qmp.load(STATE_DESCRIPTOR, origin.get().memory().isEmpty(), deadline.left());
      }
    }
    return process;
  }

  private Path kernel(BootFiles.Boot boot, Optional<Origin> origin) throws IOException {
    return origin.isEmpty() || MachineArchitecture.ofHost() == MachineArchitecture.AARCH64
        ? boot.kernel()
        : new CachedFiles(context.dataFolder().resolve("boot")).get("stub", KernelStub::write);
  }
}
