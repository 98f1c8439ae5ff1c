package dev.isola.provider.microvm.qemu;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.CgroupFreezer;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.Launcher;
import dev.isola.host.launch.LauncherBinary;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.OrphanedCgroups;
import dev.isola.host.launch.SandboxShape;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.BootRecord;
import dev.isola.link.ChangeTracking;
import dev.isola.link.InstalledProgram;
import dev.isola.link.VirtioPortConnector;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.provider.microvm.BootFiles;
import dev.isola.provider.microvm.GuestKernel;
import dev.isola.provider.microvm.MachineFolder;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.provider.microvm.MachineRecords;
import dev.isola.provider.microvm.MachineSize;
import dev.isola.provider.microvm.RootDisks;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.qemu.AcceleratorProbe.Finding;
import dev.isola.provider.microvm.qemu.QemuTemplates.Disks;
import dev.isola.provider.microvm.qemu.QemuTemplates.Template;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Boots sandboxes as virtual machines of QEMU. The machine of a sandbox continues from a template
 * that was booted once, and its agent then learns which sandbox it is.
 */
final class QemuBooter implements Booter {
  static final String NAME = "qemu";

  /** The image of a sandbox whose client names none; a machine cannot use the host's root. */
  static final String IMAGE_SETTING = "image";

  static final String DEFAULT_IMAGE = "base";

  /** The address in QEMU's user network, which ends in the network namespace of the sandbox. */
  private static final String ADDRESS = "10.0.2.15/24 10.0.2.2";

  private static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Pausing.class,
          Snapshotting.class,
          MemoryForking.class);

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Where the agent mounts the changed files and the image. */
  private static final String UPPER = "/.isola/layer/upper";

  private static final String IMAGE = "/.isola/image";

  /** A descriptor that the launcher assigns. */
  private static final int STATE_DESCRIPTOR = 3;

  /** The host kills the machine before the server. */
  private static final String OOM_SCORE = "100";

  /** Threads of QEMU: virtual processors, the event loop, a pool for disks. */
  private static final int QEMU_THREADS = 160;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final ProviderContext context;
  private final ProviderConfig config;
  private final ImageStore images;
  private final ControlGroups groups = ControlGroups.ofHost();
  private final BridgeNetwork bridge;
  private final OrphanedCgroups orphans;
  private final InstalledProgram agent;
  private final Launcher launcher;
  private final BootFiles bootFiles;
  private final RootDisks rootDisks;
  private final ScratchDisks scratchDisks;
  private final TemporaryMachines machines;
  private final QemuTemplates templates;
  private final AcceleratorProbe accelerators;
  private final SavedMachines saved;

  QemuBooter(ProviderConfig config, ProviderContext context) {
    this.config = config;
    this.context = context;
    Path data = context.dataFolder();
    Path programs = data.resolve("bin");
    this.images = new ImageStore(context.sharedFolder());
    this.bridge = new BridgeNetwork(context.instance());
    this.orphans = new OrphanedCgroups(context, groups);
    this.agent = InstalledProgram.agent(programs);
    this.launcher = new Launcher(LauncherBinary.in(programs), programs);
    this.bootFiles = new BootFiles(data.resolve("boot"), config, context.sharedFolder(), agent);
    this.rootDisks = new RootDisks(data.resolve("disks"));
    this.scratchDisks = new ScratchDisks(data.resolve("empty"));
    this.machines = new TemporaryMachines(data.resolve("run"));
    this.templates = new QemuTemplates(data.resolve("templates"), scratchDisks, machines);
    this.accelerators =
        new AcceleratorProbe(data.resolve("boot"), config, bootFiles, scratchDisks, machines);
    this.saved = new SavedMachines(data.resolve("saved"));
  }

  @Override
  public ProviderInfo info() {
    Optional<Finding> finding = QemuProgram.find(config).map(accelerators::find);
    boolean accelerated =
        finding.filter(found -> found.accelerator() == Accelerator.KVM).isPresent();
    ProviderInfo info =
        new ProviderInfo(
            NAME,
            accelerated
                ? "virtual machines of QEMU"
                : "virtual machines of QEMU, emulated: many times slower than with KVM",
            ApiVersion.CURRENT,
            Isolation.VM,
            capabilities(),
            new SpecSupport(
                EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
                networks(),
                Set.of(VolumeMount.Type.TMPFS),
                enforced()),
            prerequisites(finding),
            "one process per machine, in a control group",
            accelerated ? QemuProviderFactory.ACCELERATED : QemuProviderFactory.EMULATED);
    return accelerated ? info : info.withEmulation();
  }

  private Set<NetworkMode> networks() {
    Set<NetworkMode> modes = EnumSet.of(NetworkMode.NONE);
    if (SandboxUserIds.rangesAvailable() && bridge.available()) {
      modes.add(NetworkMode.BRIDGE);
    }
    return modes;
  }

  private Set<LimitKind> enforced() {
    Set<LimitKind> kinds =
        EnumSet.of(
            LimitKind.MEMORY,
            LimitKind.DISK,
            LimitKind.PROCESSES,
            LimitKind.FILE_DESCRIPTORS,
            LimitKind.KERNEL_OBJECTS,
            LimitKind.TIMEOUT);
    if (groups.enforceable().contains(LimitKind.CPU)) {
      kinds.add(LimitKind.CPU);
    }
    if (SandboxUserIds.rangesAvailable() && bridge.available() && bridge.limitsBandwidth()) {
      kinds.add(LimitKind.BANDWIDTH);
    }
    return kinds;
  }

  private List<Prerequisite> prerequisites(Optional<Finding> finding) {
    List<Prerequisite> all = new ArrayList<>();
    Optional<QemuProgram> program = QemuProgram.find(config);
    all.add(
        new Prerequisite(
            QemuProgram.name(),
            true,
            program.isPresent(),
            program.map(found -> "version " + found.version()).orElse("not installed"),
            program.isPresent() ? "" : QemuProgram.REMEDY));
    Optional<GuestKernel> kernel = GuestKernel.find(config, context.sharedFolder());
    all.add(
        new Prerequisite(
            "guest kernel",
            true,
            kernel.isPresent(),
            kernel.map(GuestKernel::release).orElse(GuestKernel.missingReason(config)),
            kernel.isPresent() ? "" : GuestKernel.REMEDY));
    boolean disks = HostProgram.find(RootDisks.PROGRAM).isPresent();
    all.add(
        new Prerequisite(
            RootDisks.PROGRAM,
            true,
            disks,
            disks ? "installed" : "not installed",
            disks ? "" : "apt-get install " + RootDisks.PACKAGE));
    finding.ifPresent(
        found ->
            all.add(
                new Prerequisite(
                    "KVM",
                    false,
                    found.accelerator() == Accelerator.KVM,
                    found.accelerator() == Accelerator.KVM ? "a machine booted" : found.detail(),
                    found.accelerator() == Accelerator.KVM
                        ? ""
                        : "use a machine with hardware virtualization, or accept emulation")));
    boolean image = images.find(defaultImage()).isPresent();
    all.add(
        new Prerequisite(
            "default image",
            false,
            image,
            image ? defaultImage() : "there is no image " + defaultImage(),
            image ? "" : "isola image build " + defaultImage() + ", or name an image"));
    return all;
  }

  @Override
  public Set<Class<? extends Capability>> capabilities() {
    return CAPABILITIES;
  }

  @Override
  public Health health() {
    Optional<QemuProgram> program = QemuProgram.find(config);
    if (program.isEmpty()) {
      return new Health.Unhealthy(QemuProgram.name() + " is not installed", QemuProgram.REMEDY);
    }
    if (GuestKernel.find(config, context.sharedFolder()).isEmpty()) {
      return new Health.Unhealthy(GuestKernel.missingReason(config), GuestKernel.REMEDY);
    }
    for (String name : List.of(RootDisks.PROGRAM, "mkfs.ext4", "unshare")) {
      if (HostProgram.find(name).isEmpty()) {
        return new Health.Unhealthy(
            name + " is not installed", "apt-get install erofs-utils e2fsprogs util-linux");
      }
    }
    try {
      agent.path();
      launcher.ensureRunning();
      machines.removeAbandoned();
      templates.removeAbandoned();
      rootDisks.removeAbandoned();
      bootFiles.removeAbandoned();
      saved.removeAbandoned();
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    } catch (IOException e) {
      return new Health.Unhealthy(
          "the data folder cannot be used: " + e.getMessage(),
          "check the permissions of the data folder");
    }
    Finding finding = accelerators.find(program.get());
    if (images.find(defaultImage()).isEmpty()) {
      return new Health.Degraded(
          "there is no image " + defaultImage() + ", so that every request must name one",
          "isola image build " + defaultImage());
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

  @Override
  public AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive) {
    return connector(id, folder);
  }

  private VirtioPortConnector connector(SandboxId id, SandboxFolder folder) {
    HostPaths paths = new HostPaths(context.dataFolder(), folder.path(), users(id).hasRange());
    return new VirtioPortConnector(
        new QemuPort(MachineFolder.of(folder).controlSocket(), folder.path(), paths::of, user(id)));
  }

  private SandboxUserIds users(SandboxId id) {
    return SandboxUserIds.of(context.instance(), id);
  }

  /** Returns the user that the QEMU of a sandbox runs as; empty for that of the server. */
  private OptionalLong user(SandboxId id) {
    SandboxUserIds users = users(id);
    return users.hasRange() ? OptionalLong.of(users.firstId()) : OptionalLong.empty();
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    long deadline = System.nanoTime() + request.timeout().toNanos();
    SandboxFolder folder = request.folder();
    Machine machine = prepare(request);
    Template template = template(machine, Disks.MOUNTED, deadline);
    ScratchDisks.copy(template.scratchDisk(), MachineFolder.of(folder).scratchDisk());
    return start(request.spec().id(), folder, machine, template, deadline);
  }

  /** Records the machine of a sandbox and creates its control groups. */
  private Machine prepare(BootRequest request) throws IOException {
    orphans.sweepOnce();
    SandboxSpec spec = request.spec();
    SandboxFolder folder = request.folder();
    NetworkRecord network = NetworkRecord.of(spec);
    network.write(folder);
    Image image = images.acquire(imageName(spec), spec.id(), folder.path());
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
    SandboxShape.of(spec, Optional.of(image), runtime, agent.path()).write(folder.path());
    groups.group(context.instance(), spec.id()).create(limits(spec.limits(), machine.size()));
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
    long deadline = System.nanoTime() + timeout.toNanos();
    groups.group(context.instance(), id).awaitEmpty(TIMEOUT);
    Machine machine = MachineFolder.of(folder).readMachine();
    return start(id, folder, machine, template(machine, Disks.NOT_MOUNTED, deadline), deadline);
  }

  private Template template(Machine machine, Disks disks, long deadline) throws IOException {
    return templates.of(
        program(),
        accelerator(),
        bootFiles.files(),
        machine.size(),
        rootDisks.of(images.require(machine.image())),
        disks,
        left(deadline));
  }

  /** Starts the machine of a sandbox from a template. */
  private AgentProcess start(
      SandboxId id, SandboxFolder folder, Machine machine, Template template, long deadline)
      throws IOException {
    AgentProcess process =
        run(id, folder, machine, Optional.of(template.memory()), template.state(), deadline);
    byte[] seed = new byte[32];
    RANDOM.nextBytes(seed);
    try {
      connector(id, folder)
          .boot(
              BootRecord.forMachine(
                  MachineFolder.of(folder).readBootRecord(), context.clock().instant(), seed),
              left(deadline));
    } catch (IOException e) {
      throw AgentStarter.startFailed(id, "the machine does not answer: " + e.getMessage(), e);
    }
    return process;
  }

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
  }

  private AgentProcess run(
      SandboxId id,
      SandboxFolder folder,
      Machine machine,
      Optional<Path> memory,
      Path state,
      long deadline)
      throws IOException {
    MachineFolder files = MachineFolder.of(folder);
    Path root = rootDisks.of(images.require(machine.image()));
    files.removeSockets();
    SandboxUserIds users = SandboxUserIds.of(context.instance(), id);
    if (users.hasRange()) { // QEMU opens it again for writing when the state is loaded
      Files.setAttribute(files.scratchDisk(), "unix:uid", Math.toIntExact(users.firstId()));
    }
    HostPaths paths = new HostPaths(context.dataFolder(), folder.path(), users.hasRange());
    BootFiles.Boot boot = bootFiles.files();
    LaunchPlan plan = new LaunchPlan();
    ControlGroup group = groups.group(context.instance(), id);
    group.joinFiles().forEach(file -> plan.step("cgroup", file.toString()));
    plan.step("kept", folder.record().toString(), SandboxRecord.STOPPED);
    plan.step("score", OOM_SCORE);
    plan.step("machine", files.controlSocket().toString());
    plan.step("open", state.toString(), Integer.toString(STATE_DESCRIPTOR));
    paths.plan(plan);
    plan.step("environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    plan.step("environment", "ISOLA_INSTANCE=" + context.instance().value());
    plan.step("environment", "ISOLA_SANDBOX=" + id.value());
    QemuArguments arguments =
        new QemuArguments(
            program().path(),
            accelerator(),
            new BootFiles.Boot(
                paths.of(boot.kernel()), paths.of(boot.initramfs()), boot.identity()),
            machine.size(),
            paths.of(root),
            paths.of(files.scratchDisk()),
            paths.of(files.controlSocket()),
            memory.map(paths::of),
            false,
            true,
            false,
            user(id));
    List<String> words = new ArrayList<>();
    if (users.hasRange()) {
      words.addAll(List.of("unshare", "--net", "--"));
    } else {
      words.addAll(List.of("unshare", "--map-current-user", "--net", "--"));
    }
    words.addAll(arguments.words());
    plan.run(words);
    AgentProcess process;
    try (Launcher.Session session = launcher.open(id)) {
      process = session.boot(id, plan.encode(), left(deadline));
    }
    try (Qmp qmp = Qmp.connect(files.controlSocket(), left(deadline))) {
      qmp.load(STATE_DESCRIPTOR, memory.isEmpty(), left(deadline));
    }
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
          NAME,
          "a fork of the processes of sandbox " + record.id() + ", because " + obstacle.get());
    }
    return saved.save(
        record, folder, SandboxUserIds.of(context.instance(), record.id()), context.dataFolder());
  }

  @Override
  public RestoredSandbox restore(BootRequest request, SavedSandbox origin) throws IOException {
    long deadline = System.nanoTime() + request.timeout().toNanos();
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
        run(id, request.folder(), machine, Optional.empty(), source.state(), deadline);
    SandboxSpec spec = request.spec();
    Image image = images.require(machine.image());
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
    return groups.group(context.instance(), id).outOfMemoryKills() > 0
        ? Optional.of(new Exit.OutOfMemory())
        : Optional.empty();
  }

  /** All files are in the overlay, so that its upper layer has every change. */
  @Override
  public Optional<ChangeTracking> changeTracking(SandboxId id, SandboxFolder folder) {
    try {
      return images
          .find(MachineFolder.of(folder).readMachine().image())
          .map(
              image ->
                  new ChangeTracking(
                      Optional.of(new ChangeTracking.OverlayDiff(UPPER, IMAGE, image.digest())),
                      List.of()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The guest does not see that the host lets its processors wait. */
  @Override
  public UsageReporting adjustUsage(SandboxId id, UsageReporting agentUsage) {
    if (!groups.enforceable().contains(LimitKind.CPU)) {
      return agentUsage;
    }
    ControlGroup group = groups.group(context.instance(), id);
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
    return groups.canFreeze()
        ? Optional.of(new CgroupFreezer(groups.group(context.instance(), id), TIMEOUT))
        : Optional.empty();
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    if (NetworkRecord.read(folder).filter(net -> net.mode() == NetworkMode.BRIDGE).isPresent()) {
      bridge.remove(id);
    }
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
