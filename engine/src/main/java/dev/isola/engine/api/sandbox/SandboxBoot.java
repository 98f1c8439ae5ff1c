package dev.isola.engine.api.sandbox;

import dev.isola.engine.api.ForkSource;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.snapshot.SnapshotImages;
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

/**
 * The boot of one sandbox, at one candidate after another. Records the provider before trying it.
 */
final class SandboxBoot {
  private final ProviderRegistry registry;
  private final SandboxRecorder recorder;
  private final SnapshotImages images;
  private final EgressService egress;
  private final SandboxRequest request;
  private final SandboxSpec spec;
  private SandboxEntry entry;

  /**
   * @param request with the variables of its secrets
   * @param entry the recorded intent
   */
  SandboxBoot(
      ProviderRegistry registry,
      SandboxRecorder recorder,
      SnapshotImages images,
      EgressService egress,
      SandboxRequest request,
      SandboxEntry entry) {
    this.registry = registry;
    this.recorder = recorder;
    this.images = images;
    this.egress = egress;
    this.request = request;
    this.spec = request.request().spec();
    this.entry = entry;
  }

  /** Returns the entry as it is recorded now. */
  SandboxEntry entry() {
    return entry;
  }

  /**
   * Boots the sandbox at a provider, or leaves nothing of it there.
   *
   * @throws SandboxException whose code decides whether the next candidate is tried
   */
  Sandbox at(String name) {
    Provider provider = registry.get(name);
    if (!entry.provider().equals(name)) {
      ProviderInfo info = provider.info();
      record(entry.toBuilder().provider(name, info.isolation()).build());
      Failpoint.CREATE_MOVED_ON.reach();
    }
    Failpoint.CREATE_MAKING.reach();
    Optional<ForkSource> source = request.forkSource();
    Sandbox sandbox = source.isPresent() ? fork(provider, source.get()) : create(provider, name);
    if (spec.network().isFiltered()) {
      connect(sandbox, provider, name);
    }
    return sandbox;
  }

  private void record(SandboxEntry changed) {
    entry = recorder.update(entry, changed).orElseThrow(() -> destroyedDuringCreate(spec.id()));
  }

  private Sandbox fork(Provider provider, ForkSource source) {
    Sandbox sandbox = source.point().create(Deadlines.forProvider(request.request()));
    try {
      source.otherFiles().accept(sandbox);
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(spec.id(), DestroyOptions.FORCE); // the next attempt starts from scratch
      throw e;
    }
  }

  private Sandbox create(Provider provider, String name) {
    boolean snapshot = images.handles(spec);
    SandboxSpec given = CreatePlanner.forProvider(request, images.baseSpec(spec));
    try {
      return snapshot ? images.create(spec, given, name) : provider.create(given);
    } catch (InvalidRequest e) {
      Duration ttl = CreatePlanner.longestTtl(request, e).orElseThrow(() -> e);
      record(entry.toBuilder().expiresAt(entry.createdAt().plus(ttl)).build());
      SandboxSpec shorter = given.toBuilder().deadline(ttl).build();
      return snapshot ? images.create(spec, shorter, name) : provider.create(shorter);
    }
  }

  /** Carries the connections of the new sandbox, then runs the init command, which may use them. */
  private void connect(Sandbox sandbox, Provider provider, String name) {
    boolean connected = false;
    try {
      egress.attach(sandbox, spec, name);
      if (request.forkSource().isEmpty()) {
        SandboxInitializer.initialize(sandbox, spec, spec::startupTimeout);
      }
      connected = true;
    } finally {
      if (!connected) {
        egress.detach(spec.id());
        provider.destroy(spec.id(), DestroyOptions.FORCE); // the next attempt starts from scratch
      }
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
