package dev.isola.provider.microvm.qemu;

import dev.isola.codec.time.Deadline;
import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.image.Image;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.SandboxShape;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.BootRecord;
import dev.isola.link.ChangeTracking;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.MachineRecords;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.qemu.AcceleratorProbe.Finding;
import dev.isola.provider.microvm.qemu.QemuMachines.Origin;
import dev.isola.provider.microvm.qemu.QemuTemplates.Disks;
import dev.isola.provider.microvm.qemu.QemuTemplates.Template;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Boots sandboxes as virtual machines of QEMU. The machine of a sandbox continues from a template
 * that was booted once, and its agent then learns which sandbox it is.
 */
final class QemuBooter implements Booter {
  /** Whether machines continue from templates. */
  private static final String TEMPLATES_SETTING = "templates";

  /** The address in QEMU's user network, which ends in the network namespace of the sandbox. */
  private static final String ADDRESS = "10.0.2.15/24 10.0.2.2";

  /** Where the agent mounts the changed files and the image. */
  private static final String UPPER = "/.isola/layer/upper";

  private static final String IMAGE = "/.isola/image";

  /** Threads of QEMU: virtual processors, the event loop, a pool for disks. */
  private static final int QEMU_THREADS = 160;

  private final ProviderContext context;
  private final ProviderConfig config;
  private final BridgeNetwork bridge;
  private final MachineHost host;
  private final QemuMachines machines;
  private final TemporaryMachines temporary;
  private final QemuTemplates templates;
  private final AcceleratorProbe accelerators;
  private final SavedMachines saved;

  QemuBooter(ProviderConfig config, ProviderContext context) {
    this.config = config;
    this.context = context;
    Path data = context.dataFolder();
    this.bridge = new BridgeNetwork(context.instance());
    this.host = new MachineHost(config, context);
    this.machines = new QemuMachines(context, host);
    this.temporary = new TemporaryMachines(data.resolve("run"));
    this.templates = new QemuTemplates(data.resolve("templates"), host.scratchDisks(), temporary);
    this.accelerators =
        new AcceleratorProbe(
            data.resolve("boot"), config, host.bootFiles(), host.scratchDisks(), temporary);
    this.saved = new SavedMachines(data.resolve("saved"));
  }

  private QemuDescription description() {
    return new QemuDescription(host, bridge);
  }

  @Override
  public ProviderInfo info() {
    Optional<QemuProgram> program = QemuProgram.find(config);
    return description().info(program, program.map(accelerators::find));
  }

  @Override
  public Set<Class<? extends Capability>> capabilities() {
    return QemuDescription.CAPABILITIES;
  }

  @Override
  public Health health() {
    Optional<QemuProgram> program = QemuProgram.find(config);
    Optional<Health> missing =
        MachineHost.missing(description().prerequisites(program, Optional.empty()));
    if (missing.isPresent()) {
      return missing.get();
    }
    try {
      host.agent().path();
      host.ensureRunning();
      temporary.removeAbandoned();
      templates.removeAbandoned();
      saved.removeAbandoned();
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    } catch (IOException e) {
      return new Health.Unhealthy(
          "the data folder cannot be used: " + e.getMessage(),
          "check the permissions of the data folder");
    }
    Finding finding = accelerators.find(program.orElseThrow());
    if (!host.hasDefaultImage()) {
      return new Health.Degraded(
          "there is no image " + host.defaultImage() + ", so that every request must name one",
          "isola image build " + host.defaultImage());
    }
    return new Health.Healthy(
        "QEMU "
            + program.get().version()
            + (finding.accelerator() == Accelerator.KVM
                ? " with KVM"
                : ", emulated: " + finding.detail()));
  }

  @Override
  public void validate(SandboxSpec spec) {
    host.validate(spec);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return host.imageDigest(spec);
  }

  @Override
  public AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive)
      throws IOException {
    return machines.connector(id, folder);
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    Deadline deadline = Deadline.in(request.timeout());
    SandboxId id = request.spec().id();
    SandboxFolder folder = request.folder();
    Machine machine = prepare(request);
    Path disk = MachineFolder.of(folder).scratchDisk();
    if (!usesTemplates()) {
      host.scratchDisks().create(machine.size(), disk);
      return start(id, folder, machine, Optional.empty(), deadline);
    }
    Template template = template(machine, Disks.MOUNTED, deadline);
    ScratchDisks.copy(template.scratchDisk(), disk);
    return start(id, folder, machine, Optional.of(template.origin()), deadline);
  }

  private boolean usesTemplates() {
    return !config.get(TEMPLATES_SETTING).orElse("true").equals("false");
  }

  /** Records the machine of a sandbox and creates its control groups. */
  private Machine prepare(BootRequest request) throws IOException {
    SandboxSpec spec = request.spec();
    SandboxFolder folder = request.folder();
    NetworkRecord network = NetworkRecord.of(spec);
    network.write(folder);
    Image image = host.acquireImage(spec, folder);
    boolean bridged = network.mode() == NetworkMode.BRIDGE;
    Machine machine = new Machine(MachineSize.of(spec.limits(), bridged), image.name());
    BootRecord record =
        MachineRecords.of(
            context.instance(),
            spec,
            request.record(),
            image,
            ADDRESS,
            bridged ? bridge.resolvConf() : "");
    MachineFolder.of(folder).write(machine, record.encode());
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

  private QemuProgram program() {
    return QemuProgram.find(config)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        QemuProgram.name() + " is not installed",
                        QemuProgram.REMEDY)
                    .exception());
  }

  private Accelerator accelerator() {
    return accelerators.find(program()).accelerator();
  }

  @Override
  public AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
      throws IOException {
    Deadline deadline = Deadline.in(timeout);
    host.awaitEmpty(id);
    Machine machine = MachineFolder.of(folder).readMachine();
    Optional<Origin> origin =
        usesTemplates()
            ? Optional.of(template(machine, Disks.NOT_MOUNTED, deadline).origin())
            : Optional.empty();
    return start(id, folder, machine, origin, deadline);
  }

  private Template template(Machine machine, Disks disks, Deadline deadline) throws IOException {
    return templates.of(
        program(),
        accelerator(),
        host.bootFiles().files(),
        machine.size(),
        host.rootDisk(machine),
        disks,
        deadline.left());
  }

  private AgentProcess start(
      SandboxId id,
      SandboxFolder folder,
      Machine machine,
      Optional<Origin> origin,
      Deadline deadline)
      throws IOException {
    AgentProcess process =
        machines.run(id, folder, machine, program(), accelerator(), origin, deadline);
    machines.boot(id, folder, deadline);
    return process;
  }

  @Override
  public void verify(BootedSandbox booted) {
    SandboxId id = booted.sandbox().id();
    try {
      NetworkRecord network =
          NetworkRecord.read(booted.folder())
              .orElseThrow(() -> new IOException("its network record is missing"));
      if (network.mode() == NetworkMode.BRIDGE) {
        bridge.attach(id, booted.agent(), network.bandwidthMbps());
      }
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the network of sandbox " + id + " cannot be set up: " + e.getMessage(),
              "destroy it and create a new one")
          .sandbox(id)
          .exception(e);
    }
  }

  @Override
  public boolean isFiltered(SandboxFolder folder) {
    return NetworkRecord.isFiltered(folder);
  }

  /** A server that was killed while it saved a machine has left it stopped. */
  @Override
  public void recover(SandboxId id, SandboxFolder folder) throws IOException {
    try {
      SavedMachines.resume(MachineFolder.of(folder));
    } catch (AgentAbsentException ended) {
      // The machine is gone, which the next call reports.
    }
  }

  @Override
  public InputStream archive(SavedSandbox origin) throws IOException {
    return saved.archive(origin);
  }

  @Override
  public SavedSandbox open(InputStream archive) throws IOException {
    return saved.open(archive);
  }

  @Override
  public SavedSandbox save(SandboxRecord record, SandboxFolder folder) throws IOException {
    Optional<String> obstacle = SandboxShape.read(folder.path()).obstacle();
    if (obstacle.isPresent()) {
      throw Capability.unsupported(
          QemuDescription.NAME,
          "a fork of the processes of sandbox " + record.id() + ", because " + obstacle.get());
    }
    return saved.save(
        record,
        folder,
        SandboxUserIds.of(context.instance(), record.id(), folder.path()),
        context.dataFolder());
  }

  @Override
  public RestoredSandbox restore(BootRequest request, SavedSandbox origin) throws IOException {
    Deadline deadline = Deadline.in(request.timeout());
    SandboxId id = request.spec().id();
    MachineFolder source = new MachineFolder(origin.folder());
    Machine machine = prepare(request);
    SandboxShape shape = SandboxShape.read(source.path());
    Optional<String> difference = shape.difference(SandboxShape.read(request.folder().path()));
    if (difference.isPresent()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a fork of memory must equal its source: " + difference.get(),
              "request the same spec")
          .sandbox(id)
          .exception();
    }
    MachineFolder files = MachineFolder.of(request.folder());
    ScratchDisks.copy(source.scratchDisk(), files.scratchDisk());
    AgentProcess process =
        machines.run(
            id,
            request.folder(),
            machine,
            program(),
            accelerator(),
            Optional.of(new Origin(Optional.empty(), source.state())),
            deadline);
    SandboxSpec spec = request.spec();
    Image image = host.image(machine);
    return new RestoredSandbox(
        process,
        MachineRecords.of(
            context.instance(),
            spec,
            request.record(),
            image,
            ADDRESS,
            machine.size().network() ? bridge.resolvConf() : ""));
  }

  @Override
  public void discard(SavedSandbox origin) throws IOException {
    saved.discard(origin);
  }

  @Override
  public Optional<Exit> observedExit(SandboxId id) {
    return host.observedExit(id);
  }

  /** All files are in the overlay, so that its upper layer has every change. */
  @Override
  public Optional<ChangeTracking> changeTracking(SandboxId id, SandboxFolder folder) {
    try {
      String digest = host.image(MachineFolder.of(folder).readMachine()).digest();
      return Optional.of(
          new ChangeTracking(
              Optional.of(new ChangeTracking.OverlayDiff(UPPER, IMAGE, digest)), List.of()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The guest does not see that the host lets its processors wait. */
  @Override
  public UsageReporting adjustUsage(SandboxId id, UsageReporting agentUsage) {
    if (!host.measuresProcessorTime()) {
      return agentUsage;
    }
    ControlGroup group = host.group(id);
    return () -> {
      UsageReporting.Usage inside = agentUsage.usage();
      return new UsageReporting.Usage(
          group.usage().cpuTime(),
          inside.memoryBytes(),
          inside.memoryPeakBytes(),
          inside.diskBytes(),
          inside.receivedBytes(),
          inside.sentBytes(),
          inside.processes(),
          inside.uptime());
    };
  }

  @Override
  public Optional<SandboxFreezer> freezer(SandboxId id) {
    return host.freezer(id);
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    if (NetworkRecord.read(folder).filter(net -> net.mode() == NetworkMode.BRIDGE).isPresent()) {
      bridge.remove(id);
    }
    machines.release(id);
    host.release(id, folder);
  }

  @Override
  public void close() {
    host.close();
  }
}
