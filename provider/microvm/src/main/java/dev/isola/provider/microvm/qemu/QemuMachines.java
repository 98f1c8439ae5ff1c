package dev.isola.provider.microvm.qemu;

import dev.isola.codec.time.Deadline;
import dev.isola.host.image.Image;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.SandboxShape;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.BootRecord;
import dev.isola.link.MachineArchitecture;
import dev.isola.link.VirtioPortConnector;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.SandboxFolder;
import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.CachedFiles;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.MachineRecords;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
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
  /** The address in QEMU's user network, which ends in the network namespace of the sandbox. */
  private static final String ADDRESS = "10.0.2.15/24 10.0.2.2";

  /** Threads of QEMU: virtual processors, the event loop, a pool for disks. */
  private static final int QEMU_THREADS = 160;

  /** A descriptor that the launcher assigns. */
  private static final int STATE_DESCRIPTOR = 3;

  private final ProviderConfig config;
  private final ProviderContext context;
  private final MachineHost host;
  private final BridgeNetwork bridge;
  private final AcceleratorProbe accelerators;
  private final Map<SandboxId, VirtioPortConnector> connectors = new ConcurrentHashMap<>();

  QemuMachines(
      ProviderConfig config,
      ProviderContext context,
      MachineHost host,
      BridgeNetwork bridge,
      AcceleratorProbe accelerators) {
    this.config = config;
    this.context = context;
    this.host = host;
    this.bridge = bridge;
    this.accelerators = accelerators;
  }

  QemuProgram program() {
    return QemuProgram.find(config)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        QemuProgram.name() + " is not installed",
                        QemuProgram.REMEDY)
                    .exception());
  }

  Accelerator accelerator() {
    return accelerators.find(program()).accelerator();
  }

  /** Records the machine of a sandbox and creates its control groups. */
  Machine prepare(BootRequest request) throws IOException {
    SandboxSpec spec = request.spec();
    SandboxFolder folder = request.folder();
    NetworkRecord network = NetworkRecord.of(spec);
    network.write(folder);
    Image image = host.acquireImage(spec, folder);
    boolean bridged = network.mode() == NetworkMode.BRIDGE;
    Machine machine = new Machine(MachineSize.of(spec.limits(), bridged), image.name());
    MachineFolder.of(folder).write(machine, record(request, machine, image).encode());
    String runtime = "QEMU " + program().version() + " " + accelerator().option();
    SandboxShape.of(spec, Optional.of(image), runtime, host.agent().path()).write(folder.path());
    host.group(spec.id()).create(limits(spec.limits(), machine.size()));
    return machine;
  }

  private ResourceLimits limits(ResourceLimits asked, MachineSize size) {
    return asked
        .withMemoryMb(size.memoryMb() + accelerator().overheadMb())
        .withThreads(QEMU_THREADS + size.processors());
  }

  /** Returns what the agent of a machine receives. */
  BootRecord record(BootRequest request, Machine machine, Image image) throws IOException {
    return MachineRecords.of(
        context.instance(),
        request.spec(),
        request.record(),
        image,
        ADDRESS,
        machine.size().network() ? bridge.resolvConf() : "");
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
            program().path(),
            accelerator(),
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
