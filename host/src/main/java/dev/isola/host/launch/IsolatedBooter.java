package dev.isola.host.launch;

import dev.isola.host.cgroup.CgroupUsage;
import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.host.layer.LayerStore;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.AgentSandbox;
import dev.isola.link.InstalledProgram;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter;
import dev.isola.link.local.MemoryForker;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRestarter;
import dev.isola.link.local.WorkspaceForker;
import dev.isola.spi.Health;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Boots sandboxes with a private root, isolated by an {@link Isolator}: control groups enforce
 * limits, the staged root provides files, and the agent in it does the rest.
 */
public final class IsolatedBooter implements Booter {
  /** The name that stands for the host's root. */
  static final String HOST_IMAGE = "host";

  private static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Snapshotting.class);

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final Set<StandardOpenOption> WRITTEN_ANEW =
      Set.of(
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.WRITE);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final ProviderContext context;
  private final Isolator isolator;
  private final ImageStore images;
  private final ControlGroups groups = ControlGroups.ofHost();
  private final BridgeNetwork bridge;
  private final OrphanedCgroups orphans;
  private final InstalledProgram agent;
  private final Launcher launcher;
  private final Disks disks;
  private final VolumeFolders volumes;
  private final SubordinateIds subordinates;
  private final IoSettings io;
  private final LayerStore layers;
  private final LayerMerger merger;
  private final LayerCommit commit;
  private final SavedSandboxes saved;
  private final BootPlanner planner;

  public IsolatedBooter(ProviderContext context, Isolator isolator) {
    this(context, isolator, ForkStepListener.NONE, IoSettings.NONE);
  }

  /**
   * @param io the operator's I/O limits
   */
  public IsolatedBooter(ProviderContext context, Isolator isolator, IoSettings io) {
    this(context, isolator, ForkStepListener.NONE, io);
  }

  /**
   * @param steps notified of the progress of forks
   */
  public IsolatedBooter(ProviderContext context, Isolator isolator, ForkStepListener steps) {
    this(context, isolator, steps, IoSettings.NONE);
  }

  private IsolatedBooter(
      ProviderContext context, Isolator isolator, ForkStepListener steps, IoSettings io) {
    this.io = io;
    this.context = context;
    this.isolator = isolator;
    this.images = new ImageStore(context.sharedFolder());
    this.bridge = new BridgeNetwork(context.instance());
    this.orphans = new OrphanedCgroups(context, groups);
    Path programs = context.dataFolder().resolve("bin");
    this.agent = InstalledProgram.agent(programs);
    this.launcher = new Launcher(LauncherBinary.in(programs), programs, context.instance());
    this.disks = new Disks(context.dataFolder().resolve("disks"), launcher);
    this.volumes = new VolumeFolders(context.sharedFolder(), disks);
    this.layers = new LayerStore(context.dataFolder().resolve("layers"), steps, disks::remove);
    this.merger = new LayerMerger(layers, launcher::path);
    this.commit =
        new LayerCommit(context.instance(), isolator.traits().name(), layers, merger, launcher);
    this.subordinates = new SubordinateIds(launcher);
    this.planner =
        new BootPlanner(
            context,
            isolator,
            images,
            groups,
            bridge,
            agent,
            layers,
            disks,
            volumes,
            subordinates,
            io);
    this.saved =
        new SavedSandboxes(
            context.dataFolder().resolve("saved"), isolator, planner, launcher, steps);
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    Isolator.Traits traits = isolator.traits();
    return new ProviderInfo(
        traits.name(),
        traits.summary(),
        ApiVersion.CURRENT,
        traits.isolation(),
        capabilities,
        new SpecSupport(features(), networks(), EnumSet.allOf(VolumeMount.Type.class), enforced()),
        prerequisites(),
        traits.cleanup(),
        traits.startup());
  }

  private List<Prerequisite> prerequisites() {
    List<Prerequisite> all = new ArrayList<>(isolator.prerequisites());
    if (isolator.supportsRootless()) {
      all.add(subordinates.prerequisite());
    }
    if (io.areSet()) {
      all.add(io.prerequisite(context.dataFolder(), groups));
    }
    all.add(disks.prerequisite());
    return all;
  }

  private static Set<SpecFeature> features() {
    Set<SpecFeature> features = EnumSet.of(SpecFeature.IMAGES, SpecFeature.WORKSPACE_PATH);
    if (SandboxUserIds.rangesAvailable()) {
      features.add(SpecFeature.USERS);
    }
    return features;
  }

  private Set<NetworkMode> networks() {
    Set<NetworkMode> modes = EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED, NetworkMode.HOST);
    if (isolator.supportsBridge() && bridge.available()) {
      modes.add(NetworkMode.BRIDGE);
    }
    return modes;
  }

  private Set<LimitKind> enforced() {
    Set<LimitKind> kinds = EnumSet.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT);
    if (disks.available()) {
      kinds.add(LimitKind.DISK);
    }
    kinds.addAll(isolator.kernel().enforced(groups.enforceable()));
    if (isolator.supportsBridge() && bridge.limitsBandwidth()) {
      kinds.add(LimitKind.BANDWIDTH);
    }
    return kinds;
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    Set<Class<? extends Capability>> capabilities = new HashSet<>(CAPABILITIES);
    capabilities.removeAll(isolator.unsupportedCapabilities());
    return capabilities;
  }

  @Override
  public Optional<SandboxRestarter> restarter() {
    return Optional.of(this::restart);
  }

  @Override
  public Optional<SandboxFreezer> freezer() {
    return CgroupFreezer.find(groups, context.instance());
  }

  @Override
  public Optional<WorkspaceForker> forker() {
    return isolator.kernel() == SandboxKernel.HOST ? Optional.of(commit) : Optional.empty();
  }

  @Override
  public Optional<MemoryForker> memoryForker() {
    return isolator.checkpoints().map(_ -> saved);
  }

  @Override
  public Optional<Volumes> volumes() {
    return Optional.of(volumes);
  }

  @Override
  public Health health() {
    try {
      agent.path();
      launcher.path();
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
    Health health = isolator.health();
    if (health instanceof Health.Unhealthy) {
      return health;
    }
    Optional<String> unlimited = io.obstacle(context.dataFolder(), groups);
    if (unlimited.isPresent()) {
      return new Health.Unhealthy(
          "the disk throughput limit cannot be enforced: " + unlimited.get(), io.remedy());
    }
    try {
      launcher.ensureRunning();
    } catch (IOException e) {
      return new Health.Unhealthy(
          "the launcher does not start: " + e.getMessage(),
          "check the permissions of the data folder");
    }
    try {
      saved.removeAbandoned();
    } catch (IOException e) {
      return new Health.Unhealthy(
          "what a killed server has saved of sandboxes cannot be removed: " + e.getMessage(),
          "remove the folder saved in the data folder of the provider");
    }
    return health;
  }

  @Override
  public void validate(SandboxSpec spec) {
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    SpecValidation.throwIfInvalid(ContainerEngineSockets.ofHost().violations(spec));
    spec.image().filter(name -> !name.equals(HOST_IMAGE)).ifPresent(images::require);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return spec.image()
        .filter(name -> !name.equals(HOST_IMAGE))
        .flatMap(images::find)
        .map(Image::digest);
  }

  @Override
  public AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive)
      throws IOException {
    return new AgentSocketFolder(folder, planner.users(id, folder))
        .bind(
            alive, isolator.kernel() == SandboxKernel.HOST ? Optional.of(agent) : Optional.empty());
  }

  @Override
  public AgentProcess boot(BootRequest booting) throws IOException {
    orphans.sweepOnce();
    SandboxId id = booting.spec().id();
    try (Launcher.Session session = launcher.open(id)) { // starts while the plan is assembled
      byte[] plan = planner.plan(booting).plan().encode();
      save(planFile(booting.folder()), plan);
      planner.clearState(booting.folder());
      return session.boot(id, plan, booting.timeout());
    }
  }

  private AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
      throws IOException {
    // Remaining processes of the previous run would hold resources that the next one needs.
    groups.group(context.instance(), id).awaitEmpty(TIMEOUT);
    byte[] plan = Files.readAllBytes(planFile(folder));
    planner.clearState(folder);
    new Workspace(folder, planner.users(id, folder), layers).clearAnchor();
    try (Launcher.Session session = launcher.open(id)) {
      return session.boot(id, plan, timeout);
    }
  }

  @Override
  public void verify(BootedSandbox booted) {
    try {
      NetworkRecord network =
          NetworkRecord.read(booted.folder())
              .orElseThrow(() -> new IOException("its network record is missing"));
      isolator.verify(
          new Isolator.RunningSandbox(booted.sandbox(), booted.agent(), network.mode()));
      if (isolator.refusesBootId()) {
        // A refusal leaves the kernel's own: no provider declares another one.
        Optional<String> _ = new ContainerBootIds(launcher).mount(booted.agent(), TIMEOUT);
      }
      if (network.mode() == NetworkMode.BRIDGE) {
        bridge.attach(booted.sandbox().id(), booted.agent(), network.bandwidthMbps());
      }
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the isolation of sandbox "
                  + booted.sandbox().id()
                  + " cannot be verified: "
                  + e.getMessage(),
              "destroy it and create a new one")
          .sandbox(booted.sandbox().id())
          .exception(e);
    }
  }

  @Override
  public void configure(SandboxId id, SandboxFolder folder, AgentSandbox.Builder sandbox) {
    sandbox
        .filtered(() -> NetworkRecord.isFiltered(folder))
        .changeTracking(() -> Optional.of(ChangeTrackingRecord.read(folder)))
        .observedExit(() -> isolator.kernel().observedExit(groups.group(context.instance(), id)))
        .usageDecorator(agentUsage -> adjustUsage(id, agentUsage));
  }

  @Override
  public void recover(SandboxId id, SandboxFolder folder) throws IOException {
    commit.recover(id, folder);
  }

  private UsageReporting adjustUsage(SandboxId id, UsageReporting agentUsage) {
    if (!groups.enforceable().contains(LimitKind.MEMORY)) {
      return agentUsage;
    }
    ControlGroup group = groups.group(context.instance(), id);
    return () -> {
      UsageReporting.Usage inside = agentUsage.usage();
      CgroupUsage outside = group.usage();
      return new UsageReporting.Usage(
          outside.cpuTime(),
          outside.memoryBytes(),
          Math.max(outside.memoryPeakBytes(), outside.memoryBytes()),
          inside.diskBytes(),
          inside.receivedBytes(),
          inside.sentBytes(),
          inside.processes(),
          inside.uptime());
    };
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    isolator.release(id, folder);
    if (NetworkRecord.read(folder).filter(net -> net.mode() == NetworkMode.BRIDGE).isPresent()) {
      bridge.remove(id);
    }
    groups.group(context.instance(), id).remove(TIMEOUT);
    if (Files.exists(BootPlanner.imageFile(folder))) {
      images.release(Files.readString(BootPlanner.imageFile(folder)), id);
    }
    Files.deleteIfExists(
        new WritableLayer(folder).image()); // the kernel keeps the content while forks use it
    layers.releaseAll(id.value());
    merger.cancelUnused();
  }

  @Override
  public void close() {
    merger.close();
    launcher.close();
  }

  static Path planFile(SandboxFolder folder) {
    return folder.path().resolve("plan");
  }

  /**
   * Saves a plan, readable only by its owner because it contains the agent's secret. The file
   * appears complete: a server that is killed meanwhile leaves a hidden one, which means nothing.
   */
  static void save(Path file, byte[] content) throws IOException {
    Path unfinished = file.resolveSibling("." + file.getFileName() + ".new");
    try (SeekableByteChannel out = Files.newByteChannel(unfinished, WRITTEN_ANEW, OWNER_ONLY)) {
      out.write(ByteBuffer.wrap(content));
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
