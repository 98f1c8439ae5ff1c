package dev.isola.engine.api.sandbox;

import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.placement.ProviderAttempt;
import dev.isola.engine.secret.SecretReferences;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.FailedAttempt;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Decides what a create records, and what it tells the provider. Pure. */
final class CreatePlanner {
  private CreatePlanner() {}

  /** Returns whether a warm sandbox can serve a request: it lacks what the request adds to it. */
  static boolean mayBeWarm(SandboxRequest request) {
    return !request.fixedId()
        && request.startup().isEmpty()
        && SecretReferences.of(request.request().spec().network().egress()).isEmpty();
  }

  /**
   * Returns the entry that records the intent to create a sandbox.
   *
   * @param poolHash the hash by which requests find it in the warm pool; empty if a client
   *     requested it
   * @param baseImage the base image of its snapshot, which may be removed before the sandbox is;
   *     empty for an image that is no snapshot
   */
  static SandboxEntry intent(
      SandboxRequest request,
      ProviderInfo best,
      Optional<String> poolHash,
      Optional<String> baseImage,
      Instant now) {
    Lifecycle lifecycle = request.request().lifecycle();
    SandboxEntry.Builder intent =
        SandboxEntry.intent(
                request.request().spec().id(),
                SpecCodec.encode(request.request()),
                poolHash.orElseGet(() -> SpecCodec.hash(request.request())),
                best.name(),
                best.isolation(),
                now)
            .tenant(request.tenant())
            .labels(request.labels())
            .name(request.name().orElse(null))
            .expiresAt(request.expiresAt(now).orElse(null))
            .idleTimeout(lifecycle.idleTimeout().orElse(null))
            .whenIdle(lifecycle.whenIdle())
            .whenExpired(lifecycle.whenExpired())
            .pooled(poolHash.isPresent());
    baseImage.ifPresent(intent::baseImage);
    return intent.build();
  }

  /**
   * Returns the spec for the provider, with its deadline. The init command of a sandbox with a
   * filtered network may use connections, so the engine runs it once they are carried.
   *
   * @param base the spec with an image that the provider knows
   */
  static SandboxSpec forProvider(SandboxRequest request, SandboxSpec base) {
    SandboxSpec spec = Deadlines.forProvider(request.request().with(base));
    return spec.network().isFiltered() ? spec.toBuilder().clearInitialization().build() : spec;
  }

  /**
   * Returns the longest TTL of a backend that rejects the default of the server; empty if the
   * client requested the TTL, or the spec was rejected for another reason.
   */
  static Optional<Duration> longestTtl(SandboxRequest request, InvalidRequest rejection) {
    return Optional.ofNullable(rejection.context().get(Provider.MAX_TTL_SECONDS))
        .filter(_ -> request.defaultTtl())
        .map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)));
  }

  /** Returns the entry of a sandbox that runs; its idle timeout starts now. */
  static SandboxEntry running(SandboxEntry entry, List<ProviderAttempt> attempts, Instant now) {
    SandboxEntry.Builder running =
        entry.toBuilder().state(SandboxState.RUNNING).updatedAt(now).lastActivity(now);
    attempts.forEach(
        one -> running.attempt(new FailedAttempt(one.provider(), one.reason(), one.at())));
    return running.build();
  }
}
