package dev.isola.provider.proot;

import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.LauncherBinary;
import dev.isola.link.AgentBinary;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.BootRecord;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Boots the agent under PRoot, which intercepts the system calls of every process and rewrites the
 * paths in them. This changes the view of the file system and isolates nothing: processes, users
 * and the network are those of the host.
 */
final class ProotBooter implements Booter {
  /** The image name for the host's own root. */
  private static final String HOST_IMAGE = "host";

  static final String NAME = "proot";

  private static final int LISTEN_FD = 3;

  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(40));

  private final ProviderContext context;
  private final ProotProbe probe;
  private final ImageStore images;
  private final Path programs;

  ProotBooter(ProviderContext context, ProotProbe probe) {
    this.context = context;
    this.probe = probe;
    this.images = new ImageStore(context.sharedFolder());
    this.programs = context.dataFolder().resolve("bin");
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    return new ProviderInfo(
        NAME,
        "a separate file system view by PRoot; no other isolation",
        ApiVersion.CURRENT,
        PROFILE.isolation(),
        capabilities,
        new SpecSupport(
            Set.of(SpecFeature.IMAGES, SpecFeature.WORKSPACE_PATH),
            Set.of(NetworkMode.HOST),
            Set.of(),
            Set.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT)),
        List.of(probe.requirement()),
        "subreaper and kill loop: processes are found through /proc, stopped, and killed until none"
            + " is left",
        PROFILE.startup());
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return Set.of(
        Attaching.class,
        Terminals.class,
        Watching.class,
        PortDialing.class,
        UsageReporting.class,
        Renewing.class);
  }

  @Override
  public Health health() {
    try {
      AgentBinary.install(programs);
      LauncherBinary.install(programs);
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
    return probe.health();
  }

  @Override
  public void validate(SandboxSpec spec) {
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    imageName(spec).ifPresent(images::require);
  }

  private static Optional<String> imageName(SandboxSpec spec) {
    return spec.image().filter(name -> !name.equals(HOST_IMAGE));
  }

  /** The agent listens: proot would translate the path of a socket that the agent dials. */
  @Override
  public AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive) {
    return new UnixSocketConnector(folder.socket());
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    SandboxSpec spec = request.spec();
    SandboxFolder folder = request.folder();
    Optional<Image> image = image(spec, folder);
    ProotRootFs rootFs = new ProotRootFs(spec, folder, image, AgentBinary.install(programs));
    Path tempFolder = Files.createDirectory(folder.path().resolve("proot"));

    List<String> command = new ArrayList<>(List.of(probe.executable()));
    command.addAll(rootFs.prepare(request.timeout()));
    command.addAll(
        List.of(
            ProotRootFs.AGENT,
            "--report",
            "--instance",
            context.instance().value(),
            "--sandbox",
            spec.id().value(),
            "--listen-fd",
            Integer.toString(LISTEN_FD)));
    LaunchPlan plan =
        new LaunchPlan()
            .step("loose")
            .step("listen", folder.socket().toString(), Integer.toString(LISTEN_FD))
            .boot(record(request, image).encode())
            .step("environment", "PATH=/usr/local/bin:/usr/bin:/bin")
            .step("environment", "PROOT_TMP_DIR=" + tempFolder)
            .step("environment", "ISOLA_INSTANCE=" + context.instance().value())
            .step("environment", "ISOLA_SANDBOX=" + spec.id().value())
            .run(command);
    String launcher = LauncherBinary.install(programs).toString();
    return AgentStarter.start(spec.id(), List.of(launcher), plan.encode(), request.timeout());
  }

  private Optional<Image> image(SandboxSpec spec, SandboxFolder folder) throws IOException {
    Optional<String> name = imageName(spec);
    if (name.isEmpty()) {
      return Optional.empty();
    }
    Files.writeString(imageFile(folder), name.get());
    return Optional.of(images.acquire(name.get(), spec.id(), folder.path()));
  }

  private BootRecord record(BootRequest request, Optional<Image> image) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("HOME", "/home/user");
    image.ifPresent(found -> env.putAll(found.env()));
    return BootRecord.forSpec(
            request.spec(), context.instance().value(), request.record().secret(), env)
        .hideNewSyscalls()
        .build();
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    if (Files.exists(imageFile(folder))) {
      images.release(Files.readString(imageFile(folder)), id);
    }
  }

  private static Path imageFile(SandboxFolder folder) {
    return folder.path().resolve("image");
  }
}
