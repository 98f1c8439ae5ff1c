package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.startup.Startup;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A create request with what the server knows beside it.
 *
 * @param tenant the tenant that it is for; empty text where there are no tenants
 * @param labels of the sandbox in the ledger: the tags of the request, unless the server has others
 * @param fixedId whether the client chose the id of the spec; one from the warm pool has its own
 * @param origin the files it begins with; those of its spec otherwise
 * @param hostAccess whether the client may ask for the network or folders of the host
 * @param defaultTtl whether the ttl is the server's default: a backend that allows less gets less
 * @param startup what runs in the sandbox before it is handed out
 */
public record SandboxRequest(
    CreateRequest request,
    String tenant,
    Map<String, String> labels,
    boolean fixedId,
    Optional<ForkSource> forkSource,
    boolean hostAccess,
    boolean defaultTtl,
    Startup startup) {
  public SandboxRequest {
    labels = Map.copyOf(labels);
  }

  public static SandboxRequest of(CreateRequest request) {
    return new SandboxRequest(
        request, "", request.tags(), false, Optional.empty(), false, false, Startup.NONE);
  }

  public SandboxRequest withIdempotencyKey(String text) {
    return withRequest(request.withIdempotencyKey(text));
  }

  public SandboxRequest withIdleTimeout(Duration time) {
    return withRequest(request.withIdleTimeout(time));
  }

  public SandboxRequest withRequest(CreateRequest other) {
    return new SandboxRequest(
        other, tenant, labels, fixedId, forkSource, hostAccess, defaultTtl, startup);
  }

  public SandboxRequest withTenant(String name) {
    return new SandboxRequest(
        request, name, labels, fixedId, forkSource, hostAccess, defaultTtl, startup);
  }

  public SandboxRequest withLabels(Map<String, String> all) {
    return new SandboxRequest(
        request, tenant, all, fixedId, forkSource, hostAccess, defaultTtl, startup);
  }

  public SandboxRequest withFixedId() {
    return new SandboxRequest(
        request, tenant, labels, true, forkSource, hostAccess, defaultTtl, startup);
  }

  /** No other sandbox has those files, so none of the warm pool does. */
  public SandboxRequest withForkSource(ForkSource files) {
    return new SandboxRequest(
        request, tenant, labels, true, Optional.of(files), hostAccess, defaultTtl, startup);
  }

  /** Says that the client has the scope to ask for the network or folders of the host. */
  public SandboxRequest withHostAccess() {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, true, defaultTtl, startup);
  }

  /** Says that the client named no ttl, and that of the request is the server's default. */
  public SandboxRequest withDefaultTtl() {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, hostAccess, true, startup);
  }

  /**
   * Has commands run before the sandbox is handed out. Such a sandbox is not taken from the warm
   * pool, unless there is nothing to run.
   */
  public SandboxRequest withStartup(Startup commands) {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, hostAccess, defaultTtl, commands);
  }

  /** Returns when it expires if it begins now. */
  Optional<Instant> expiresAt(Instant now) {
    return request.lifecycle().ttl().map(now::plus);
  }

  /** Returns how long a create of it may take. */
  Duration createTimeout() {
    Duration made = request.spec().startupTimeout();
    return startup.isEmpty() ? made : made.plus(startup.timeout());
  }

  /** Returns the key with what tells this order from others; the id may be a fresh one. */
  public Optional<SandboxRecorder.IdempotencyKey> idempotencyKey() {
    return request
        .idempotencyKey()
        .map(text -> new SandboxRecorder.IdempotencyKey(text, SpecCodec.requestHash(request)));
  }
}
