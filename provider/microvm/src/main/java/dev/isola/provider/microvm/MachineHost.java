package dev.isola.provider.microvm;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.CgroupFreezer;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.Launcher;
import dev.isola.host.launch.LauncherBinary;
import dev.isola.host.launch.OrphanedCgroups;
import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.provider.microvm.MachineFolder.Machine;
import dev.isola.spi.Health;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What the machines of any monitor need on the host: images, disks, control groups, a launcher. */
public final class MachineHost implements AutoCloseable {
  /** The image of a sandbox whose client names none; a machine cannot use the host's root. */
  private static final String IMAGE_SETTING = "image";

  private static final String DEFAULT_IMAGE = "base";

  /** The programs that make the disks and the network namespaces of machines. */
  public static final List<String> DISK_PROGRAMS =
      List.of(RootDisks.PROGRAM, "mkfs.ext4", "unshare");

  private static final String DISK_PACKAGES =
      "apt-get install " + RootDisks.PACKAGE + " e2fsprogs util-linux";

  /** The host kills the machine before the server. */
  private static final String OOM_SCORE = "100";

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int SEED_SIZE = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ProviderContext context;
  private final ProviderConfig config;
  private final ImageStore images;
  private final ControlGroups groups = ControlGroups.ofHost();
  private final OrphanedCgroups orphans;
  private final InstalledProgram agent;
  private final Launcher launcher;
  private final BootFiles bootFiles;
  private final RootDisks rootDisks;
  private final ScratchDisks scratchDisks;

  public MachineHost(ProviderConfig config, ProviderContext context) {
    this.config = config;
    this.context = context;
    Path data = context.dataFolder();
    Path programs = data.resolve("bin");
    this.images = new ImageStore(context.sharedFolder());
    this.orphans = new OrphanedCgroups(context, groups);
    this.agent = InstalledProgram.agent(programs);
    this.launcher = new Launcher(LauncherBinary.in(programs), programs, context.instance());
    this.bootFiles = new BootFiles(data.resolve("boot"), config, context.sharedFolder(), agent);
    this.rootDisks = new RootDisks(data.resolve("disks"));
    this.scratchDisks = new ScratchDisks(data.resolve("empty"));
  }

  public InstalledProgram agent() {
    return agent;
  }

  public BootFiles bootFiles() {
    return bootFiles;
  }

  public ScratchDisks scratchDisks() {
    return scratchDisks;
  }

  /** Returns the control group of a sandbox. */
  public ControlGroup group(SandboxId id) {
    return groups.group(context.instance(), id);
  }

  /** Returns the limits that hold for a machine of any monitor. */
  public Set<LimitKind> enforced() {
    Set<LimitKind> kinds =
        EnumSet.of(
            LimitKind.MEMORY,
            LimitKind.DISK,
            LimitKind.PROCESSES,
            LimitKind.FILE_DESCRIPTORS,
            LimitKind.KERNEL_OBJECTS,
            LimitKind.TIMEOUT);
    if (measuresProcessorTime()) {
      kinds.add(LimitKind.CPU);
    }
    return kinds;
  }

  public boolean measuresProcessorTime() {
    return groups.enforceable().contains(LimitKind.CPU);
  }

  /** Returns what a machine of any monitor needs. */
  public List<Prerequisite> prerequisites() {
    List<Prerequisite> all = new ArrayList<>();
    Optional<GuestKernel> kernel = GuestKernel.find(config, context.sharedFolder());
    all.add(
        new Prerequisite(
            "guest kernel",
            true,
            kernel.isPresent(),
            kernel.map(GuestKernel::release).orElse(GuestKernel.missingReason(config)),
            kernel.isPresent() ? "" : GuestKernel.REMEDY));
    for (String name : DISK_PROGRAMS) {
      boolean present = HostProgram.find(name).isPresent();
      all.add(
          new Prerequisite(
              name,
              true,
              present,
              present ? "installed" : "not installed",
              present ? "" : DISK_PACKAGES));
    }
    boolean image = hasDefaultImage();
    all.add(
        new Prerequisite(
            "default image",
            false,
            image,
            image ? defaultImage() : "there is no image " + defaultImage(),
            image ? "" : "isola image build " + defaultImage() + ", or name an image"));
    return all;
  }

  /** Returns the health that follows from prerequisites, if one is missing. */
  public static Optional<Health> missing(List<Prerequisite> prerequisites) {
    return prerequisites.stream()
        .filter(one -> one.necessary() && !one.present())
        .findFirst()
        .map(one -> new Health.Unhealthy(one.name() + ": " + one.detail(), one.fix()));
  }

  /** Starts the launcher, and removes files that killed processes have left unfinished. */
  public void ensureRunning() throws IOException {
    launcher.ensureRunning();
    rootDisks.removeAbandoned();
    bootFiles.removeAbandoned();
  }

  public boolean hasDefaultImage() {
    return images.find(defaultImage()).isPresent();
  }

  /** Returns the name of the image of sandboxes whose clients name none. */
  public String defaultImage() {
    return config.get(IMAGE_SETTING).orElse(DEFAULT_IMAGE);
  }

  private String imageName(SandboxSpec spec) {
    return spec.image().orElseGet(this::defaultImage);
  }

  public void validate(SandboxSpec spec) {
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    images.require(imageName(spec));
  }

  public Optional<String> imageDigest(SandboxSpec spec) {
    return images.find(imageName(spec)).map(Image::digest);
  }

  /** Returns the image of a new sandbox, which is kept until {@link #release}. */
  public Image acquireImage(SandboxSpec spec, SandboxFolder folder) throws IOException {
    orphans.sweepOnce();
    return images.acquire(imageName(spec), spec.id(), folder.path());
  }

  /** Returns the image of a machine. */
  public Image image(Machine machine) {
    return images.require(machine.image());
  }

  /** Returns the disk with the image of a machine. */
  public Path rootDisk(Machine machine) throws IOException {
    return rootDisks.of(image(machine));
  }

  /** Returns the boot record of a machine for this moment. */
  public byte[] bootRecord(SandboxFolder folder) throws IOException {
    byte[] seed = new byte[SEED_SIZE];
    RANDOM.nextBytes(seed);
    return BootRecord.forMachine(
        MachineFolder.of(folder).readBootRecord(), context.clock().instant(), seed);
  }

  /**
   * Returns the first steps of a machine's launch.
   *
   * @param control the socket whose existence means that the monitor runs
   */
  public LaunchPlan plan(SandboxId id, SandboxFolder folder, Path control) {
    LaunchPlan plan = new LaunchPlan();
    group(id).joinFiles().forEach(file -> plan.step("cgroup", file.toString()));
    plan.step("kept", folder.record().toString(), SandboxRecord.STOPPED);
    plan.step("score", OOM_SCORE);
    plan.step("machine", control.toString());
    plan.step("environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    plan.step("environment", "ISOLA_INSTANCE=" + context.instance().value());
    plan.step("environment", "ISOLA_SANDBOX=" + id.value());
    return plan;
  }

  /** Starts the monitor of a machine. */
  public AgentProcess launch(SandboxId id, LaunchPlan plan, Duration timeout) {
    try (Launcher.Session session = launcher.open(id)) {
      return session.boot(id, plan.encode(), timeout);
    }
  }

  /** Waits for the end of all processes of an earlier run. */
  public void awaitEmpty(SandboxId id) throws IOException {
    group(id).awaitEmpty(TIMEOUT);
  }

  public Optional<Exit> observedExit(SandboxId id) {
    return group(id).outOfMemoryKills() > 0
        ? Optional.of(new Exit.OutOfMemory())
        : Optional.empty();
  }

  public Optional<SandboxFreezer> freezer() {
    return CgroupFreezer.find(groups, context.instance());
  }

  /** Removes what a sandbox has on the host outside of its folder. */
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    group(id).remove(TIMEOUT);
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
