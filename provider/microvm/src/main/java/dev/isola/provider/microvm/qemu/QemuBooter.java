package dev.isola.provider.microvm.qemu;

import dev.isola.codec.time.Deadline;
import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.AgentSandbox;
import dev.isola.link.ChangeTracking;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter;
import dev.isola.link.local.MemoryForker;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRestarter;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
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
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
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

  /** Where the agent mounts the changed files and the image. */
  private static final String UPPER = "/.isola/layer/upper";

  private static final String IMAGE = "/.isola/image";

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
    Path data = context.dataFolder();
    this.bridge = new BridgeNetwork(context.instance());
    this.host = new MachineHost(config, context);
    this.temporary = new TemporaryMachines(data.resolve("run"));
    this.templates = new QemuTemplates(data.resolve("templates"), host.scratchDisks(), temporary);
    this.accelerators =
        new AcceleratorProbe(
            data.resolve("boot"), config, host.bootFiles(), host.scratchDisks(), temporary);
    this.machines = new QemuMachines(config, context, host, bridge, accelerators);
    this.saved = new SavedMachines(context, host, machines);
  }

  private QemuDescription description() {
    return new QemuDescription(host, bridge);
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    Optional<QemuProgram> program = QemuProgram.find(config);
    return description().info(capabilities, program, program.map(accelerators::find));
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return QemuDescription.AGENT_CAPABILITIES;
  }

  @Override
  public Optional<SandboxRestarter> restarter() {
    return Optional.of(this::restart);
  }

  @Override
  public Optional<SandboxFreezer> freezer() {
    return host.freezer();
  }

  @Override
  public Optional<MemoryForker> memoryForker() {
    return Optional.of(saved);
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
    Machine machine = machines.prepare(request);
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

  private AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
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
        machines.program(),
        machines.accelerator(),
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
    AgentProcess process = machines.run(id, folder, machine, origin, deadline);
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
  public void configure(SandboxId id, SandboxFolder folder, AgentSandbox.Builder sandbox) {
    sandbox
        .filtered(() -> NetworkRecord.isFiltered(folder))
        .changeTracking(() -> Optional.of(changeTracking(folder)))
        .observedExit(() -> host.observedExit(id))
        .usageDecorator(agentUsage -> adjustUsage(id, agentUsage));
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

  /** All files are in the overlay, so that its upper layer has every change. */
  private ChangeTracking changeTracking(SandboxFolder folder) {
    try {
      String digest = host.image(MachineFolder.of(folder).readMachine()).digest();
      return new ChangeTracking(
          Optional.of(new ChangeTracking.OverlayDiff(UPPER, IMAGE, digest)), List.of());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The guest does not see that the host lets its processors wait. */
  private UsageReporting adjustUsage(SandboxId id, UsageReporting agentUsage) {
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
