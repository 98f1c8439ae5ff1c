package dev.isola.provider.http;

import dev.isola.link.AgentBinary;
import dev.isola.link.InstallationKey;
import dev.isola.link.local.SandboxLocks;
import dev.isola.provider.http.BackendInfo.Level;
import dev.isola.provider.http.client.BackendClient;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs sandboxes at a service that implements the backend protocol. The backend is the source of
 * truth: this provider records nothing of a sandbox on this machine.
 */
final class HttpProvider implements Provider {
  static final String NO_URL_FIX = "set providers.http.url to the address of the backend";

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final HttpSettings settings;
  private final @Nullable Backend backend;
  private final @Nullable SandboxOpener opener;
  private final @Nullable SandboxCreator creator;
  private final SandboxLocks locks = new SandboxLocks();
  private final Map<SandboxId, OpenSandbox> open = new ConcurrentHashMap<>();
  private final Set<SandboxId> owned = ConcurrentHashMap.newKeySet();
  private volatile @Nullable BackendInfo lastInfo;

  HttpProvider(HttpSettings settings, ProviderContext context) {
    this(settings, context, TIMEOUT);
  }

  /**
   * @param timeout of a request that has no work to do
   */
  HttpProvider(HttpSettings settings, ProviderContext context, Duration timeout) {
    this.settings = settings;
    if (settings.address().isEmpty()) {
      backend = null;
      opener = null;
      creator = null;
      return;
    }
    InstallationKey key = InstallationKey.in(context.dataFolder());
    BackendClient client =
        new BackendClient(settings.address().get(), settings.key(), PemFiles.context(settings));
    backend = new Backend(client, new BackendIds(context.instance()), timeout);
    opener = new SandboxOpener(backend, key);
    creator = new SandboxCreator(backend, context.instance(), key, opener);
  }

  private static <T> T configured(@Nullable T part) {
    if (part == null) {
      throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "no backend is configured", NO_URL_FIX)
          .exception();
    }
    return part;
  }

  @Override
  public ProviderInfo info() {
    if (backend == null) {
      return BackendDescription.unknown(settings.address());
    }
    try {
      return BackendDescription.info(backend.client().address(), declared());
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.CANCELLED) {
        throw e;
      }
      return BackendDescription.unknown(settings.address());
    }
  }

  /** Returns what the backend declared last; asks it if it was not asked before. */
  private BackendInfo declared() {
    BackendInfo last = lastInfo;
    return last == null ? probe() : last;
  }

  /** A probe that fails does not change what the provider declares. */
  private BackendInfo probe() {
    BackendInfo info = configured(backend).info(settings.provider());
    if (info.level() == Level.RELAY) {
      int size = AgentBinary.content(info.architecture()).length;
      assert size > 0;
    }
    lastInfo = info;
    return info;
  }

  @Override
  public Health health() {
    try {
      return probe().health();
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.CANCELLED) {
        throw e;
      }
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  /** Returns what the backend reported with its health. */
  @Override
  public Optional<HostResources> resources() {
    BackendInfo last = lastInfo;
    return last == null ? Optional.empty() : last.resources();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return create(spec, Optional.empty());
  }

  private Sandbox create(SandboxSpec spec, Optional<String> forkPoint) {
    BackendInfo info = declared();
    info().requireSupported(spec);
    return locks.withLock(
        spec.id(),
        () -> {
          Optional<OpenSandbox> existing = attached(spec.id());
          if (existing.isPresent()) {
            return existing.get().sandbox();
          }
          OpenSandbox created =
              configured(creator).create(spec, forkPoint, info, capabilities(info));
          open.put(spec.id(), created);
          if (spec.linger().filter(Duration::isZero).isPresent()) {
            owned.add(spec.id());
          }
          return created.sandbox();
        });
  }

  private RequestedCapabilities capabilities(BackendInfo info) {
    return new RequestedCapabilities(
        configured(backend), info, (spec, point) -> create(spec, Optional.of(point)));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return locks.withLock(id, () -> attached(id).map(OpenSandbox::sandbox));
  }

  /** Returns the sandbox if the backend has it in a state in which it can be used. */
  private Optional<OpenSandbox> attached(SandboxId id) {
    Optional<BackendSandbox> found = configured(backend).find(id).filter(BackendSandbox::isUsable);
    OpenSandbox before = open.get(id);
    if (found.isEmpty()) {
      if (before != null) {
        forget(id);
      }
      return Optional.empty();
    }
    if (before != null && before.sandbox().state() != SandboxState.DESTROYED) {
      before.setState(found.get().state());
      return Optional.of(before);
    }
    BackendInfo info = declared();
    OpenSandbox sandbox =
        configured(opener)
            .open(id, SandboxNote.parse(found.get().note()), info, capabilities(info));
    sandbox.setState(found.get().state());
    try {
      if (found.get().state() == SandboxState.RUNNING) {
        sandbox.ping();
      }
      open.put(id, sandbox);
      return Optional.of(sandbox);
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    } catch (SandboxException e) {
      sandbox.close();
      throw e;
    }
  }

  @Override
  public Optional<Volumes> volumes() {
    if (backend == null || !info().capabilities().contains(Volumes.class)) {
      return Optional.empty();
    }
    return Optional.of(new BackendVolumes(backend, declared().provider()));
  }

  @Override
  public Forking.ForkPoint openForkPoint(InputStream archive) {
    BackendInfo declared = declared();
    if (!info().capabilities().contains(MemoryForking.class)) {
      throw Capability.unsupported(info().name(), Capability.idOf(MemoryForking.class));
    }
    return capabilities(declared).openForkPoint(archive);
  }

  @Override
  public List<InventoryItem> inventory() {
    return backend == null ? List.of() : backend.list().stream().map(this::item).toList();
  }

  private InventoryItem item(BackendSandbox found) {
    Map<String, String> details = new LinkedHashMap<>(found.details());
    details.put("backend", configured(backend).client().address().toString());
    details.put("backendId", found.id());
    return new InventoryItem(
        new SandboxId(found.sandbox()), found.state(), found.createdAt(), details);
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions options) {
    SandboxId _ =
        locks.withLock(
            id,
            () -> {
              configured(backend).destroy(id, options.force(), options.timeout());
              forget(id);
              return id;
            });
  }

  private void forget(SandboxId id) {
    owned.remove(id);
    OpenSandbox sandbox = open.remove(id);
    if (sandbox != null) {
      sandbox.markDestroyed();
      sandbox.close();
    }
  }

  /** Destroys the sandboxes that must end with their owner. */
  @Override
  public void close() {
    for (SandboxId id : List.copyOf(owned)) {
      try {
        destroy(id, DestroyOptions.FORCE);
      } catch (SandboxException e) {
        owned.remove(id); // Its agent or its ttl still ends it.
      }
    }
    open.values().forEach(OpenSandbox::close);
    open.clear();
    if (backend != null) {
      backend.client().close();
    }
  }
}
