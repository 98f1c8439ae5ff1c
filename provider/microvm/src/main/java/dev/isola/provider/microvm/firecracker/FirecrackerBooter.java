package dev.isola.provider.microvm.firecracker;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.CgroupFreezer;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.Launcher;
import dev.isola.host.launch.LauncherBinary;
import dev.isola.host.launch.OrphanedCgroups;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.BootRecord;
import dev.isola.link.InitListener;
import dev.isola.link.InstalledProgram;
import dev.isola.link.UnixSocketAcceptor;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineRecords;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.RootDisks;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.firecracker.FirecrackerMachine.Hardware;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
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
  /** The image of a sandbox whose client names none; a machine cannot use the host's root. */
  static final String IMAGE_SETTING = "image";

  private static final String DEFAULT_IMAGE = "base";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** The host kills the machine before the server. */
  private static final String OOM_SCORE = "100";

  /** What Firecracker needs besides the memory of the guest. */
  private static final int OVERHEAD_MB = 64;

  /** Threads of Firecracker besides those of the processors. */
  private static final int THREADS = 8;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final ProviderContext context;
  private final ProviderConfig config;
  private final Path kvm;
  private final ImageStore images;
  private final ControlGroups groups = ControlGroups.ofHost();
  private final OrphanedCgroups orphans;
  private final InstalledProgram agent;
  private final Launcher launcher;
  private final BootFiles bootFiles;
  private final RootDisks rootDisks;
  private final ScratchDisks scratchDisks;
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
    Path programs = data.resolve("bin");
    this.images = new ImageStore(context.sharedFolder());
    this.orphans = new OrphanedCgroups(context, groups);
    this.agent = InstalledProgram.agent(programs);
    this.launcher = new Launcher(LauncherBinary.in(programs), programs);
    this.bootFiles = new BootFiles(data.resolve("boot"), config, context.sharedFolder(), agent);
    this.rootDisks = new RootDisks(data.resolve("disks"));
    this.scratchDisks = new ScratchDisks(data.resolve("empty"));
    this.machines = new TemporaryMachines(context.instance(), data.resolve("run"), scratchDisks);
    this.templates = new FirecrackerTemplates(data.resolve("templates"), machines);
    this.probe = new FirecrackerProbe(data.resolve("boot/probe"), bootFiles, machines);
  }

  private FirecrackerCheck check() {
    return new FirecrackerCheck(
        FirecrackerProgram.find(config), SandboxUserIds.rangesAvailable(), kvm);
  }

  @Override
  public ProviderInfo info() {
    return new FirecrackerDescription(config, context.sharedFolder(), images, groups)
        .info(check(), defaultImage());
  }

  @Override
  public Set<Class<? extends Capability>> capabilities() {
    return FirecrackerDescription.CAPABILITIES;
  }

  @Override
  public Health health() {
    Optional<Prerequisite> missing =
        info().prerequisites().stream()
            .filter(one -> one.necessary() && !one.present())
            .findFirst();
    if (missing.isPresent()) {
      return new Health.Unhealthy(
          missing.get().name() + ": " + missing.get().detail(), missing.get().fix());
    }
    FirecrackerProgram program = check().program().orElseThrow();
    try {
      launcher.ensureRunning();
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
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    images.require(imageName(spec));
  }

  private String defaultImage() {
    return config.get(IMAGE_SETTING).orElse(DEFAULT_IMAGE);
  }

  private String imageName(SandboxSpec spec) {
    return spec.image().orElseGet(this::defaultImage);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return images.find(imageName(spec)).map(Image::digest);
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

  private FirecrackerCommand command(SandboxId id, SandboxFolder folder) {
    return FirecrackerCommand.of(
        program(), folder.path(), SandboxUserIds.of(context.instance(), id));
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
    long deadline = System.nanoTime() + request.timeout().toNanos();
    SandboxSpec spec = request.spec();
    orphans.sweepOnce();
    Image image = images.acquire(imageName(spec), spec.id(), request.folder().path());
    Machine machine = new Machine(MachineSize.of(spec.limits(), false), image.name());
    BootRecord record =
        MachineRecords.of(context.instance(), spec, request.record(), image, "", "");
    MachineFolder.of(request.folder()).write(machine, record.encode());
    groups.group(context.instance(), spec.id()).create(limits(spec.limits(), machine.size()));
    FirecrackerFolder folder = command(spec.id(), request.folder()).folder();
    folder.create();
    Path scratch = folder.file(FirecrackerFolder.SCRATCH_DISK);
    scratchDisks.create(machine.size(), scratch);
    folder.giveToUser(scratch);
    return start(spec.id(), request.folder(), deadline);
  }

  private static ResourceLimits limits(ResourceLimits asked, MachineSize size) {
    return asked
        .withMemoryMb(size.memoryMb() + OVERHEAD_MB)
        .withThreads(THREADS + size.processors());
  }

  @Override
  public AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
      throws IOException {
    groups.group(context.instance(), id).awaitEmpty(TIMEOUT);
    return start(id, folder, System.nanoTime() + timeout.toNanos());
  }

  /** Starts the machine of a sandbox from its template. */
  private AgentProcess start(SandboxId id, SandboxFolder sandbox, long deadline)
      throws IOException {
    MachineFolder files = MachineFolder.of(sandbox);
    Machine machine = files.readMachine();
    MachineSize size = machine.size();
    Path root = rootDisks.of(images.require(machine.image()));
    FirecrackerCommand command = command(id, sandbox);
    FirecrackerFolder folder = command.folder();
    folder.clear();
    folder.link(root, FirecrackerFolder.ROOT_DISK);
    templates.link(folder, program(), bootFiles.files(), size, root, left(deadline));
    AgentProcess process = run(id, sandbox, command, deadline);
    FirecrackerApi api = new FirecrackerApi(folder.api());
    byte[] seed = new byte[32];
    RANDOM.nextBytes(seed);
    try {
      api.awaitReady(process::isAlive, left(deadline));
      folder.protect();
    } catch (IOException e) {
      throw startFailed(id, e);
    }
    try (InitListener listener =
        InitListener.bind(folder.agentSocket(), folder::giveToUser, process::isAlive)) {
      new FirecrackerMachine(api)
          .restore(
              new Hardware(size.processors(), size.memoryMb(), Optional.empty()), left(deadline));
      listener.boot(
          BootRecord.forMachine(files.readBootRecord(), context.clock().instant(), seed),
          left(deadline));
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
      SandboxId id, SandboxFolder sandbox, FirecrackerCommand command, long deadline) {
    LaunchPlan plan = new LaunchPlan();
    groups
        .group(context.instance(), id)
        .joinFiles()
        .forEach(file -> plan.step("cgroup", file.toString()));
    plan.step("kept", sandbox.record().toString(), SandboxRecord.STOPPED);
    plan.step("score", OOM_SCORE);
    plan.step("machine", command.folder().api().toString());
    plan.step("environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    plan.step("environment", "ISOLA_INSTANCE=" + context.instance().value());
    plan.step("environment", "ISOLA_SANDBOX=" + id.value());
    List<String> words = new ArrayList<>(List.of("unshare", "--net"));
    if (!SandboxUserIds.rangesAvailable()) {
      words.add("--map-current-user");
    }
    words.addAll(List.of("--wd", command.folder().path().toString(), "--"));
    words.addAll(command.words());
    plan.run(words);
    try (Launcher.Session session = launcher.open(id)) {
      return session.boot(id, plan.encode(), left(deadline));
    }
  }

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
  }

  @Override
  public Optional<Exit> observedExit(SandboxId id) {
    return groups.group(context.instance(), id).outOfMemoryKills() > 0
        ? Optional.of(new Exit.OutOfMemory())
        : Optional.empty();
  }

  @Override
  public Optional<SandboxFreezer> freezer(SandboxId id) {
    return groups.canFreeze()
        ? Optional.of(new CgroupFreezer(groups.group(context.instance(), id), TIMEOUT))
        : Optional.empty();
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    groups.group(context.instance(), id).remove(TIMEOUT);
    MachineFolder files = MachineFolder.of(folder);
    if (files.exists()) {
      images.release(files.readMachine().image(), id);
    }
  }

  @Override
  public void close() {
    launcher.close();
  }
}
