package dev.isola.provider.microvm.firecracker;

import dev.isola.codec.time.Deadline;
import dev.isola.host.image.Image;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.InitListener;
import dev.isola.link.UnixSocketAcceptor;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRestarter;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.MachineRecords;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.firecracker.FirecrackerMachine.Hardware;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Boots sandboxes as virtual machines of Firecracker. The machine of a sandbox continues from a
 * template that was booted once; its init then dials the server and learns which sandbox it is.
 */
final class FirecrackerBooter implements Booter {
  /** What Firecracker needs besides the memory of the guest. */
  private static final int OVERHEAD_MB = 64;

  /** Threads of Firecracker besides those of the processors. */
  private static final int THREADS = 8;

  private final ProviderContext context;
  private final ProviderConfig config;
  private final Path kvm;
  private final MachineHost host;
  private final TemporaryMachines machines;
  private final FirecrackerTemplates templates;
  private final FirecrackerProbe probe;

  /**
   * @param kvm the device of KVM
   */
  FirecrackerBooter(ProviderConfig config, ProviderContext context, Path kvm) {
    this.config = config;
    this.context = context;
    this.kvm = kvm;
    Path data = context.dataFolder();
    this.host = new MachineHost(config, context);
    this.machines =
        new TemporaryMachines(context.instance(), data.resolve("run"), host.scratchDisks());
    this.templates = new FirecrackerTemplates(data.resolve("templates"), machines);
    this.probe = new FirecrackerProbe(data.resolve("boot/probe"), host.bootFiles(), machines);
  }

  private FirecrackerCheck check() {
    return new FirecrackerCheck(
        FirecrackerProgram.find(config), SandboxUserIds.rangesAvailable(), kvm);
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    return new FirecrackerDescription(host).info(capabilities, check());
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return FirecrackerDescription.AGENT_CAPABILITIES;
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
  public Health health() {
    FirecrackerCheck check = check();
    Optional<Health> missing =
        MachineHost.missing(new FirecrackerDescription(host).prerequisites(check));
    if (missing.isPresent()) {
      return missing.get();
    }
    FirecrackerProgram program = check.program().orElseThrow();
    try {
      host.ensureRunning();
      machines.removeAbandoned();
      return probe
          .failure(program)
          .<Health>map(
              why ->
                  new Health.Unhealthy(
                      why,
                      "use a machine whose KVM boots virtual machines, or the provider qemu, which"
                          + " works without KVM"))
          .orElseGet(() -> new Health.Healthy("Firecracker " + program.version().orElseThrow()));
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    } catch (IOException e) {
      return new Health.Unhealthy(
          "a machine cannot be tried: " + e.getMessage(),
          "check the free space and permissions of " + context.dataFolder());
    }
  }

  @Override
  public void validate(SandboxSpec spec) {
    host.validate(spec);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return host.imageDigest(spec);
  }

  /**
   * @throws dev.isola.spi.error.ProviderUnavailable if Firecracker cannot be used
   */
  private FirecrackerProgram program() {
    FirecrackerCheck check = check();
    check
        .problem()
        .ifPresent(
            problem -> {
              throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem.reason(), problem.fix())
                  .exception();
            });
    return check.program().orElseThrow();
  }

  private FirecrackerCommand command(SandboxId id, SandboxFolder folder) throws IOException {
    return FirecrackerCommand.of(
        program(), folder.path(), SandboxUserIds.of(context.instance(), id, folder.path()));
  }

  @Override
  public AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive)
      throws IOException {
    FirecrackerFolder machine = command(id, folder).folder();
    machine.create();
    return UnixSocketAcceptor.bind(machine.agentSocket(), machine::giveToUser, alive);
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    Deadline deadline = Deadline.in(request.timeout());
    SandboxSpec spec = request.spec();
    NetworkRecord.of(spec).write(request.folder());
    Image image = host.acquireImage(spec, request.folder());
    Machine machine = new Machine(MachineSize.of(spec.limits(), false), image.name());
    BootRecord record =
        MachineRecords.of(context.instance(), spec, request.record(), image, "", "");
    MachineFolder.of(request.folder()).write(machine, record.encode());
    host.group(spec.id()).create(limits(spec.limits(), machine.size()));
    FirecrackerFolder folder = command(spec.id(), request.folder()).folder();
    folder.create();
    Path scratch = folder.file(FirecrackerFolder.SCRATCH_DISK);
    host.scratchDisks().create(machine.size(), scratch);
    folder.giveToUser(scratch);
    return start(spec.id(), request.folder(), deadline);
  }

  @Override
  public void configure(SandboxId id, SandboxFolder folder, AgentSandbox.Builder sandbox) {
    sandbox
        .filtered(() -> NetworkRecord.isFiltered(folder))
        .observedExit(() -> host.observedExit(id));
  }

  private static ResourceLimits limits(ResourceLimits asked, MachineSize size) {
    return asked
        .withMemoryMb(size.memoryMb() + OVERHEAD_MB)
        .withThreads(THREADS + size.processors());
  }

  private AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
      throws IOException {
    host.awaitEmpty(id);
    return start(id, folder, Deadline.in(timeout));
  }

  /** Starts the machine of a sandbox from its template. */
  private AgentProcess start(SandboxId id, SandboxFolder sandbox, Deadline deadline)
      throws IOException {
    Machine machine = MachineFolder.of(sandbox).readMachine();
    MachineSize size = machine.size();
    Path root = host.rootDisk(machine);
    FirecrackerCommand command = command(id, sandbox);
    FirecrackerFolder folder = command.folder();
    folder.clear();
    folder.link(root, FirecrackerFolder.ROOT_DISK);
    templates.link(folder, program(), host.bootFiles().files(), size, root, deadline.left());
    AgentProcess process = run(id, sandbox, command, deadline);
    FirecrackerApi api = new FirecrackerApi(folder.api());
    try {
      api.awaitReady(process::isAlive, deadline.left());
      folder.protect();
    } catch (IOException e) {
      throw startFailed(id, e);
    }
    try (InitListener listener =
        InitListener.bind(folder.agentSocket(), folder::giveToUser, process::isAlive)) {
      new FirecrackerMachine(api)
          .restore(
              new Hardware(size.processors(), size.memoryMb(), Optional.empty()), deadline.left());
      listener.boot(host.bootRecord(sandbox), deadline.left());
    } catch (IOException e) {
      throw startFailed(id, e);
    }
    return process;
  }

  private static SandboxException startFailed(SandboxId id, IOException e) {
    return AgentStarter.startFailed(id, "the machine did not start: " + e.getMessage(), e);
  }

  /** Starts Firecracker in the control groups of the sandbox and in a network without devices. */
  private AgentProcess run(
      SandboxId id, SandboxFolder sandbox, FirecrackerCommand command, Deadline deadline) {
    LaunchPlan plan = host.plan(id, sandbox, command.folder().api());
    List<String> words = new ArrayList<>(List.of("unshare", "--net"));
    if (!SandboxUserIds.rangesAvailable()) {
      words.add("--map-current-user");
    }
    words.addAll(List.of("--wd", command.folder().path().toString(), "--"));
    words.addAll(command.words());
    plan.run(words);
    return host.launch(id, plan, deadline.left());
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    host.release(id, folder);
  }

  @Override
  public void close() {
    host.close();
  }
}
