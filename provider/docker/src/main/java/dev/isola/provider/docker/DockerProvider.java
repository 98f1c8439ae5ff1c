package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.ContainerBootIds;
import dev.isola.link.InstalledProgram;
import dev.isola.link.local.SandboxLocks;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs sandboxes as containers of an engine. The engine is the source of truth: containers carry
 * labels, so any process of this instance can find, reach and remove them, and their state is
 * always read from the engine. The only local state is a folder with the agent's socket.
 */
final class DockerProvider implements Provider {
  private final EngineVariant variant;
  private final DockerProviderSettings settings;
  private final ProviderContext context;
  private final EngineApi engine;
  private final EngineState state;
  private final InstalledProgram agent;
  private final DockerSpecCheck check;
  private final BootIds bootIds;
  private final DockerDescription description;
  private final SandboxLocks turns = new SandboxLocks();
  private final SandboxResources sandboxResources;
  private final AgentLinks links;
  private final SandboxRemover removal;
  private final ContainerCreator creation;
  private final EnginePausing pausing;
  private volatile @Nullable ProviderInfo info;

  DockerProvider(EngineVariant variant, DockerProviderSettings settings, ProviderContext context) {
    this.variant = variant;
    this.settings = settings;
    this.context = context;
    this.engine = new EngineApi(new EngineHttp(settings.address()));
    this.state = new EngineState(engine);
    Path programs = context.dataFolder().resolve("bin");
    this.agent = InstalledProgram.agent(programs);
    this.check =
        new DockerSpecCheck(
            variant.name(),
            settings.address(),
            settings.bridge().isPresent(),
            variant.hasOwnKernel());
    this.bootIds =
        new BootIds(
            variant.usesHostSockets(settings),
            ContainerBootIds.available(),
            programs,
            context.instance(),
            () -> info = null);
    this.description = new DockerDescription(variant, settings, check, bootIds);
    this.sandboxResources = new SandboxResources(engine, context, variant.name());
    SandboxKeys keys = new SandboxKeys(context.dataFolder(), context.instance());
    this.links =
        new AgentLinks(
            engine,
            sandboxResources,
            keys,
            description,
            variant.usesHostSockets(settings),
            turns,
            this::pausing);
    this.removal =
        new SandboxRemover(engine, sandboxResources, links, turns, variant.hasOwnKernel());
    this.creation =
        new ContainerCreator(
            variant,
            settings,
            engine,
            state,
            sandboxResources,
            keys,
            agent,
            links,
            removal,
            bootIds);
    this.pausing = new EnginePausing(engine, sandboxResources, links, creation, turns);
  }

  private Pausing pausing(SandboxId id) {
    return pausing.of(id);
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo known = info;
    if (known != null) {
      return known;
    }
    try {
      EngineInfo engineInfo = state.lastInfo();
      known = description.of(engineInfo);
      info = known;
      return known;
    } catch (SandboxException e) { // Not cached: the engine may come back.
      return description.unavailable(e.fault());
    }
  }

  @Override
  public Health health() {
    Path data = context.dataFolder();
    if (!Files.isDirectory(data) || !Files.isWritable(data)) {
      return new Health.Unhealthy(
          "the data folder " + data + " is not writable",
          "make it writable, or choose another folder with --data");
    }
    try {
      agent.path();
      return new EngineCheck(variant, settings).health(state.currentInfo());
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  @Override
  public Optional<HostResources> resources() {
    try {
      return state.lastInfo().resources();
    } catch (SandboxException e) { // The health check reports why.
      return Optional.empty();
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    check.requireSupported(spec); // Before any call to the engine.
    info().requireSupported(spec);
    return turns.withLock(spec.id(), () -> creation.create(spec));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return turns.withLock(id, () -> sandboxResources.find(id).flatMap(links::attach));
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return creation.imageDigest(spec);
  }

  @Override
  public Optional<Volumes> volumes() {
    return Optional.of(new EngineVolumes(engine, context.instance()));
  }

  @Override
  public List<InventoryItem> inventory() {
    return sandboxResources.inventory();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    turns.withLock(
        id,
        () -> {
          removal.remove(id, Deadline.in(how.timeout()));
          return id;
        });
  }

  @Override
  public void close() {
    links.close();
    bootIds.close();
    engine.close();
  }
}
