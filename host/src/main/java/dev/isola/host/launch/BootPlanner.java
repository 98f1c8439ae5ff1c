package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.cgroup.IoLimit;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.layer.LayerStore;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Assembles the plan with which the launcher boots a sandbox. */
record BootPlanner(
    ProviderContext context,
    Isolator isolator,
    ImageStore images,
    ControlGroups groups,
    BridgeNetwork bridge,
    InstalledProgram agent,
    LayerStore layers,
    Disks disks,
    VolumeFolders volumes,
    SubordinateIds subordinates,
    IoSettings io) {
  private static final long MEGABYTE = 1 << 20;

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The OOM killer picks the agent only if nothing else is left. */
  private static final String AGENT_SCORE = "-999";

  /**
   * Within the CPU share of the sandbox the agent takes precedence over commands, so that it can
   * end a fork bomb that uses all CPU time.
   */
  private static final String AGENT_PRIORITY = "-20";

  /**
   * A plan.
   *
   * @param record what the agent receives
   */
  record Planned(LaunchPlan plan, BootRecord record) {}

  /** Returns the plan. Also writes the records needed while the sandbox runs. */
  Planned plan(BootRequest booting) throws IOException {
    SandboxSpec spec = booting.spec();
    SandboxFolder folder = booting.folder();
    SandboxUserIds users = users(spec.id(), folder);
    NetworkRecord network = NetworkRecord.of(spec);
    network.write(folder);
    Optional<Image> image = image(spec, folder);
    String runtime = isolator.checkpoints().map(Checkpoints::runtime).orElse("");
    SandboxShape.of(spec, image, runtime, agent.path()).write(folder.path());
    ChangeTrackingRecord.write(folder, spec, isolator.kernel().trackedImage(image));
    LaunchPlan plan = new LaunchPlan();
    plan.step("spread", folder.path() + "/..");
    plan.step("spread", layers.folder().toString());

    ControlGroup group = groups.group(context.instance(), spec.id());
    group.create(isolator.kernel().groupLimits(spec.limits()));
    Optional<IoLimit> throughput = io.limit(context.dataFolder());
    if (throughput.isPresent()) {
      group.limitIo(throughput.get());
    }
    group.joinFiles().forEach(file -> plan.step("cgroup", file.toString()));
    plan.step("kept", folder.record().toString(), SandboxRecord.STOPPED);
    plan.step("score", AGENT_SCORE);
    List<String> words = new ArrayList<>(List.of(SandboxRoot.AGENT, "--report"));
    int descriptor = Isolator.FIRST_DESCRIPTOR;
    boolean hostKernel = isolator.kernel() == SandboxKernel.HOST;
    if (hostKernel) {
      if (groups.enforceable().contains(LimitKind.CPU)) {
        plan.step("priority", AGENT_PRIORITY);
      }
      // Names the sandbox for an operator who lists processes. A kernel in user space hides them,
      // and
      // a sandbox that continues in it as another one must have the same command line.
      words.addAll(
          List.of("--instance", context.instance().value(), "--sandbox", spec.id().value()));
      descriptor = events(plan, words, "--memory-events-fd", group.memoryEvents(), descriptor);
      descriptor = events(plan, words, "--process-events-fd", group.processEvents(), descriptor);
    }
    if (disks.available()) {
      words.add("--own-disk");
    }
    words.addAll(
        List.of("--dial", "unix:" + Isolator.SOCKET_FOLDER + "/" + AgentSocketFolder.SOCKET));
    new SandboxRoot(
            spec,
            folder,
            users,
            image,
            agent.path(),
            hidden(),
            volumes,
            disks,
            image.isEmpty() ? subordinates.pair() : Optional.empty(),
            resolvConf(network.mode()),
            isolator.kernel().sharesObjectQuota())
        .plan(plan, layers, booting.layers());
    String socketFolder = new AgentSocketFolder(folder, users).path().toString();
    plan.step("bind", socketFolder, Isolator.SOCKET_FOLDER, "ro");
    if (hostKernel) {
      SysfsView.plan(plan, group, users, spec.limits().cpu());
    } else {
      plan.step("beside", new WritableLayer(folder).path().toString(), "layer");
      plan.step("beside", socketFolder, "run");
    }
    plan.step("lock");
    BootRecord record = bootRecord(booting, image);
    plan.boot(record.encode());
    plan.step("environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    plan.step("environment", "ISOLA_INSTANCE=" + context.instance().value());
    plan.step("environment", "ISOLA_SANDBOX=" + spec.id().value());
    isolator.plan(
        plan,
        new Isolator.StagedSandbox(
            spec,
            folder,
            users,
            network.mode(),
            image.isPresent(),
            words,
            descriptor - Isolator.FIRST_DESCRIPTOR));
    return new Planned(plan, record);
  }

  /** A sandbox on the host's network uses the host's resolvers. */
  private String resolvConf(NetworkMode mode) throws IOException {
    return switch (mode) {
      case NONE -> "";
      case FILTERED -> NetworkRecord.FILTERED_RESOLV_CONF;
      case BRIDGE -> bridge.resolvConf();
      case HOST -> EtcFiles.readHostFile("resolv.conf");
    };
  }

  private List<Path> hidden() {
    List<Path> all = new ArrayList<>(InstallationPaths.existing(System.getenv()));
    all.add(context.sharedFolder());
    all.add(context.dataFolder());
    return all;
  }

  private Optional<Image> image(SandboxSpec spec, SandboxFolder folder) throws IOException {
    Optional<String> name = spec.image().filter(given -> !given.equals(IsolatedBooter.HOST_IMAGE));
    if (name.isEmpty()) {
      return Optional.empty();
    }
    Files.writeString(imageFile(folder), name.get());
    return Optional.of(images.acquire(name.get(), spec.id(), folder.path()));
  }

  private static int events(
      LaunchPlan plan, List<String> agent, String option, Optional<Path> file, int descriptor) {
    if (file.isEmpty()) {
      return descriptor;
    }
    plan.step("open", file.get().toString(), Integer.toString(descriptor));
    agent.addAll(List.of(option, Integer.toString(descriptor)));
    return descriptor + 1;
  }

  private BootRecord bootRecord(BootRequest booting, Optional<Image> image) {
    SandboxSpec spec = booting.spec();
    BootRecord.Builder boot =
        BootRecord.forSpec(
                spec,
                context.instance().value(),
                booting.record().secret(),
                image.map(Image::env).orElse(Map.of()))
            .user(spec.user().or(() -> image.flatMap(Image::user)))
            .workspace(
                spec.workspacePath().isEmpty()
                    ? Optional.of(spec.workspaceMount())
                    : Optional.empty())
            .diskLimit(disks.available() ? 0 : spec.limits().diskMb() * MEGABYTE)
            .processors(VisibleCpus.of(spec.limits().cpu()))
            .seccomp(!Containment.sharesHostFolders(spec));
    if (image.isPresent()
        && SandboxUserIds.rangesAvailable()) { // the host's root has its own users
      boot.sudo();
    }
    if (spec.network().isFiltered()) {
      boot.egress();
    }
    isolator.kernel().limitProcesses(boot, spec.limits(), groups.enforceable());
    return boot.build();
  }

  /** Returns the user ids of a sandbox. */
  SandboxUserIds users(SandboxId id, SandboxFolder folder) throws IOException {
    return SandboxUserIds.of(context.instance(), id, folder.path());
  }

  /** Removes the runtime's state of an earlier boot. */
  void clearState(SandboxFolder folder) throws IOException {
    if (isolator.checkpoints().isPresent()) {
      new SandboxFolder(Checkpoints.state(folder)).remove();
      Files.createDirectory(Checkpoints.state(folder), OWNER_ONLY);
    }
  }

  /** Returns the file with the name of a sandbox's image. */
  static Path imageFile(SandboxFolder folder) {
    return folder.path().resolve("image");
  }
}
