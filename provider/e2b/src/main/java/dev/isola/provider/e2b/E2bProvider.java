package dev.isola.provider.e2b;

import dev.isola.codec.time.Deadline;
import dev.isola.link.local.SandboxLocks;
import dev.isola.provider.e2b.http.RetryingHttpClient;
import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs sandboxes at E2B. E2B is the source of truth: every sandbox carries metadata, so any process
 * of this instance can find and destroy it, and its state is always read from E2B. There is no
 * local state.
 */
final class E2bProvider implements Provider {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

  private final ProviderContext context;
  private final E2bProviderSettings settings;
  private final E2bDescription description;
  private final RetryingHttpClient http = new RetryingHttpClient();
  private final E2bApiClient control;
  private final E2bSandboxCreator creation;
  private final SandboxLocks turns = new SandboxLocks();
  private final Map<SandboxId, E2bSandbox> known = new ConcurrentHashMap<>();
  private final Set<SandboxId> owned = ConcurrentHashMap.newKeySet();

  E2bProvider(E2bProviderSettings settings, ProviderContext context) {
    this.settings = settings;
    this.context = context;
    this.description = new E2bDescription(settings);
    this.control = new E2bApiClient(http, settings, context.instance());
    this.creation =
        new E2bSandboxCreator(
            control,
            settings,
            context.instance(),
            endpoint ->
                sandboxMetadata -> sandbox(endpoint, sandboxMetadata, SandboxState.RUNNING));
  }

  private E2bSandbox sandbox(
      E2bApiClient.SandboxEndpoint endpoint, SandboxMetadata sandboxMetadata, SandboxState state) {
    return new E2bSandbox(
        sandboxMetadata,
        endpoint.name(),
        state,
        control,
        description.capabilities(),
        (name, liveness) ->
            new EnvdClient(
                http, settings.envd(name, endpoint.domain()), name, endpoint.token(), liveness));
  }

  @Override
  public ProviderInfo info() {
    return description.info();
  }

  @Override
  public Health health() {
    try {
      control.list(SandboxMetadata.query(context.instance()));
      return new Health.Healthy(settings.api().getHost() + " responds");
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    description.info().requireSupported(spec);
    return turns.withLock(
        spec.id(),
        () ->
            attached(spec.id())
                .orElseGet(
                    () -> {
                      E2bSandbox made =
                          creation.create(
                              spec, SandboxMetadata.of(spec, context.clock().instant()));
                      known.put(spec.id(), made);
                      if (spec.linger().filter(Duration::isZero).isPresent()) {
                        owned.add(spec.id());
                      }
                      return made;
                    }));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return turns.withLock(id, () -> attached(id).map(one -> one));
  }

  /** Returns the sandbox if it exists at E2B, and drops a cached one that no longer does. */
  private Optional<E2bSandbox> attached(SandboxId id) {
    Optional<E2bApiClient.ListedSandbox> found =
        control.list(SandboxMetadata.query(context.instance(), id)).stream().findFirst();
    E2bSandbox before = known.get(id);
    if (before != null && found.filter(one -> one.name().equals(before.name())).isEmpty()) {
      before.updateState(SandboxState.DESTROYED);
      known.remove(id, before);
    } else if (before != null) {
      before.updateState(found.orElseThrow().state());
      return Optional.of(before);
    }
    return found.flatMap(
        one ->
            control
                .open(one.name())
                .map(
                    endpoint -> {
                      E2bSandbox sandbox = sandbox(endpoint, one.sandboxMetadata(), one.state());
                      known.put(id, sandbox);
                      return sandbox;
                    }));
  }

  @Override
  public List<InventoryItem> inventory() {
    return control.list(SandboxMetadata.query(context.instance())).stream()
        .map(
            found ->
                new InventoryItem(
                    found.sandboxMetadata().id(),
                    found.state(),
                    found.sandboxMetadata().createdAt(),
                    Map.of("sandboxID", found.name())))
        .toList();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    Deadline deadline = Deadline.in(how.timeout());
    turns.withLock(
        id,
        () -> {
          String query = SandboxMetadata.query(context.instance(), id);
          if (!deadline.awaitUninterruptibly(POLL_INTERVAL, () -> killedAll(query, id, deadline))) {
            throw stillExists(id);
          }
          owned.remove(id);
          E2bSandbox before = known.remove(id);
          if (before != null) {
            before.updateState(SandboxState.DESTROYED);
          }
          return id;
        });
  }

  /** Kills the sandboxes that E2B lists; returns whether it lists none after that. */
  private boolean killedAll(String query, SandboxId id, Deadline deadline) {
    List<E2bApiClient.ListedSandbox> found = control.list(query);
    found.forEach(one -> control.kill(one.name(), deadline.leftOrElseThrow(() -> stillExists(id))));
    return found.isEmpty() || control.list(query).isEmpty();
  }

  private static SandboxException stillExists(SandboxId id) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "sandbox " + id + " still exists",
            "destroy it again with a longer timeout")
        .sandbox(id)
        .exception();
  }

  /** Destroys the sandboxes that must end with their owner. */
  @Override
  public void close() {
    for (SandboxId id : List.copyOf(owned)) {
      try {
        destroy(id, DestroyOptions.FORCE);
      } catch (SandboxException e) {
        owned.remove(id); // Its lifetime still ends it.
      }
    }
    http.close();
  }
}
