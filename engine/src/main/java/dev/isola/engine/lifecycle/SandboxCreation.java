package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.startup.Startup;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.Optional;

/** The creation of one sandbox. Records the provider before trying it. */
final class SandboxCreation {
  private final SandboxRecorder recorder;
  private final ProviderRegistry registry;
  private final CreateRequest request;
  private final SandboxSpec spec;
  private final Optional<ForkSource> forkSource;
  private final EngineImages images;
  private final SandboxNetworks networks;
  private final boolean defaultTtl;
  private final Startup startup;
  private SandboxEntry entry;

  SandboxCreation(
      SandboxEntry entry,
      SandboxRecorder recorder,
      ProviderRegistry registry,
      SandboxRequest sandboxRequest,
      EngineImages images,
      SandboxNetworks networks) {
    this.entry = entry;
    this.networks = networks;
    this.recorder = recorder;
    this.registry = registry;
    this.request = sandboxRequest.request();
    this.spec = request.spec();
    this.forkSource = sandboxRequest.forkSource();
    this.images = images;
    this.defaultTtl = sandboxRequest.defaultTtl();
    this.startup = sandboxRequest.startup();
  }

  SandboxSpec spec() {
    return spec;
  }

  SandboxEntry entry() {
    return entry;
  }

  Startup startup() {
    return startup;
  }

  Sandbox createAt(String name) {
    Provider provider = registry.get(name);
    if (!entry.provider().equals(name)) {
      ProviderInfo info = provider.info();
      entry =
          recorder
              .update(entry, entry.toBuilder().provider(name, info.isolation()).build())
              .orElseThrow(() -> destroyedDuringCreate(spec.id()));
      Failpoint.CREATE_MOVED_ON.reach();
    }
    Failpoint.CREATE_MAKING.reach();
    Sandbox sandbox = forkSource.isPresent() ? fork(provider, forkSource.get()) : create(name);
    if (spec.network().isFiltered()) {
      connect(sandbox, provider, name);
    }
    return sandbox;
  }

  /**
   * Carries the connections of the new sandbox, then runs the init command, which may use them. A
   * provider would run it before, so it is not told about it.
   */
  private void connect(Sandbox sandbox, Provider provider, String name) {
    boolean connected = false;
    try {
      networks.attach(sandbox, spec, name);
      if (forkSource.isEmpty()) {
        SandboxInitializer.initialize(sandbox, spec, spec::startupTimeout);
      }
      connected = true;
    } finally {
      if (!connected) {
        networks.detach(spec.id());
        provider.destroy(spec.id(), DestroyOptions.FORCE); // the next attempt starts from scratch
      }
    }
  }

  private static SandboxSpec withoutInit(SandboxSpec given) {
    return given.network().isFiltered() ? given.toBuilder().clearInitialization().build() : given;
  }

  private Sandbox fork(Provider provider, ForkSource source) {
    Sandbox sandbox = source.point().create(Deadlines.forProvider(request));
    try {
      source.otherFiles().accept(sandbox);
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(spec.id(), DestroyOptions.FORCE); // the next attempt starts from scratch
      throw e;
    }
  }

  /**
   * Creates the sandbox. If the backend rejects the default TTL, uses the maximum that it allows.
   */
  private Sandbox create(String provider) {
    SandboxSpec given = withoutInit(Deadlines.forProvider(request.with(images.baseSpec(spec))));
    try {
      return images.create(spec, given, provider);
    } catch (InvalidRequest e) {
      String most = e.context().get(Provider.MAX_TTL_SECONDS);
      if (!defaultTtl || most == null) {
        throw e;
      }
      Duration ttl = Duration.ofSeconds(Long.parseLong(most));
      entry =
          recorder
              .update(entry, entry.toBuilder().expiresAt(entry.createdAt().plus(ttl)).build())
              .orElseThrow(() -> destroyedDuringCreate(spec.id()));
      return images.create(spec, given.toBuilder().deadline(ttl).build(), provider);
    }
  }

  static SandboxException destroyedDuringCreate(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id + " was destroyed while it was being created",
            "create a new sandbox")
        .sandbox(id)
        .exception();
  }
}
