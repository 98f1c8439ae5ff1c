package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.InstallationKey;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs sandboxes as pods. The cluster is the source of truth: pods carry labels, so any process of
 * this instance can find, reach and remove them. The only local state is the key from which the
 * agents' secrets are derived.
 */
final class KubernetesProvider implements Provider {
  private final KubernetesSettings settings;
  private final ProviderContext context;
  private final Cluster cluster;
  private final KubernetesDescription description;
  private final ClusterCheck check;
  private final SandboxLocks locks = new SandboxLocks();
  private final SandboxPods pods;
  private final EndedPods endedPods;
  private final Optional<WorkspaceClaims> claims;
  private final PodLinks links;
  private final PodWatch watch;
  private final PodRemover remover;
  private final NamespaceObjects objects;
  private final PodCreator creator;
  private volatile @Nullable Known known;
  private volatile @Nullable InstallationKey key;

  private record Known(PodIsolation isolation, ProviderInfo info) {}

  KubernetesProvider(KubernetesSettings settings, ProviderContext context) {
    this.settings = settings;
    this.context = context;
    this.cluster =
        new Cluster(settings, System.getenv(), Path.of(System.getProperty("user.home", "/")));
    this.description = new KubernetesDescription(settings);
    Optional<SandboxResources> resources =
        settings.mode() == KubernetesSettings.Mode.AGENT_SANDBOX
            ? Optional.of(new SandboxResources(cluster, context.instance(), settings.provider()))
            : Optional.empty();
    this.pods = new SandboxPods(cluster, context.instance(), settings.provider(), resources);
    this.check = new ClusterCheck(settings, pods);
    this.endedPods = new EndedPods(context.clock());
    this.claims =
        settings
            .storage()
            .filter(storage -> settings.workspaceClaims())
            .map(
                storage ->
                    new WorkspaceClaims(
                        cluster, storage, context.instance(), settings.provider(), this::key));
    this.links =
        new PodLinks(
            cluster,
            this::key,
            description.sandboxCapabilities(),
            claims,
            this::pausing,
            endedPods);
    this.watch = new PodWatch(cluster, pods.selector(), this::ended);
    this.remover = new PodRemover(pods, watch, links, locks, claims);
    this.objects = new NamespaceObjects(cluster, context.instance());
    this.creator =
        new PodCreator(settings, pods, objects, claims, watch, links, remover, this::key);
  }

  private Pausing pausing(SandboxId id) {
    return new ClaimPausing(
        id,
        new PodStopper(settings, pods, objects, claims.orElseThrow(), watch, links, remover),
        locks,
        () -> known().isolation());
  }

  /** Handles the end of a pod that this process may not have caused. */
  private void ended(SandboxId id, PodSnapshot pod) {
    links.ended(id, pod);
    pods.resources().ifPresent(all -> all.ended(id, pod));
  }

  private InstallationKey key() {
    InstallationKey read = key;
    if (read == null) {
      read =
          settings
              .keyFile()
              .map(InstallationKey::of)
              .orElseGet(() -> InstallationKey.in(context.dataFolder()));
      key = read;
    }
    return read;
  }

  /** Returns what the cluster is; asks it until it has answered once. */
  private Known known() {
    Known last = known;
    if (last == null) {
      PodIsolation isolation =
          PodIsolation.find(cluster, settings)
              .orElseThrow(
                  () ->
                      Fault.of(
                              ErrorCode.PROVIDER_UNAVAILABLE,
                              "the cluster has no runtime class "
                                  + settings.runtimeClass().orElse(""),
                              "create it, or name another one (setting runtime_class)")
                          .exception());
      last = new Known(isolation, description.of(isolation, cluster.version()));
      known = last;
    }
    return last;
  }

  @Override
  public ProviderInfo info() {
    try {
      return known().info();
    } catch (SandboxException e) { // Not cached: the cluster may come back.
      return description.unavailable(e.fault());
    }
  }

  @Override
  public Health health() {
    try {
      key();
      return check.health();
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    info().requireSupported(spec);
    createMissingVolumes(spec);
    return locks.withLock(spec.id(), () -> creator.create(spec, known().isolation()));
  }

  private void createMissingVolumes(SandboxSpec spec) {
    for (VolumeMount mount : spec.volumes()) {
      if (mount.type() == VolumeMount.Type.VOLUME) {
        volumes().orElseThrow().create(mount.source());
      }
    }
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return locks.withLock(
        id,
        () -> {
          Optional<Sandbox> found = creator.attach(id);
          watch.start();
          return found;
        });
  }

  @Override
  public Optional<Volumes> volumes() {
    return settings
        .storage()
        .map(storage -> new ClaimVolumes(cluster, storage, context.instance()));
  }

  @Override
  public List<InventoryItem> inventory() {
    List<InventoryItem> existing = pods.inventory();
    if (claims.isPresent()) {
      existing = claims.get().addTo(existing, endedPods.without(existing), context.clock());
    }
    return Stream.concat(existing.stream(), endedPods.without(existing).stream()).toList();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    locks.withLock(
        id,
        () -> {
          remover.remove(id, how.force(), Deadline.in(how.timeout()));
          return id;
        });
  }

  @Override
  public void removeSharedResources() {
    objects.remove();
  }

  @Override
  public void close() {
    links.close();
    watch.close();
    cluster.close();
  }
}
