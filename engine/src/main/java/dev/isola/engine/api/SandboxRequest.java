package dev.isola.engine.api;

import dev.isola.document.request.CreateRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A create request with the context that the server adds.
 *
 * @param tenant the tenant of the client; empty if the installation has no tenants
 * @param labels the labels of the sandbox in the ledger: the tags of the request, unless the server
 *     sets others
 * @param fixedId whether the client chose the id, which rules out the warm pool
 * @param forkSource the state to start with, for a fork
 * @param hostAccess whether the client is allowed the network and folders of the host
 * @param defaultTtl whether the TTL is the default of the server; a backend that allows less then
 *     gets its maximum
 * @param startup the commands to run before the sandbox is returned
 * @param name chosen by the client
 * @param key the name of the API key of the client; empty if the engine itself makes the request
 */
public record SandboxRequest(
    CreateRequest request,
    String tenant,
    Map<String, String> labels,
    boolean fixedId,
    Optional<ForkSource> forkSource,
    boolean hostAccess,
    boolean defaultTtl,
    Startup startup,
    Optional<String> name,
    Optional<String> key) {
  public SandboxRequest {
    labels = Map.copyOf(labels);
  }

  public static SandboxRequest of(CreateRequest request) {
    return new SandboxRequest(
        request,
        "",
        request.tags(),
        false,
        Optional.empty(),
        false,
        false,
        Startup.NONE,
        Optional.empty(),
        Optional.empty());
  }

  public SandboxRequest withIdempotencyKey(String text) {
    return withRequest(request.withIdempotencyKey(text));
  }

  public SandboxRequest withIdleTimeout(Duration time) {
    return withRequest(request.withIdleTimeout(time));
  }

  public SandboxRequest withRequest(CreateRequest other) {
    return new SandboxRequest(
        other, tenant, labels, fixedId, forkSource, hostAccess, defaultTtl, startup, name, key);
  }

  public SandboxRequest withTenant(String owner) {
    return new SandboxRequest(
        request, owner, labels, fixedId, forkSource, hostAccess, defaultTtl, startup, name, key);
  }

  public SandboxRequest withLabels(Map<String, String> all) {
    return new SandboxRequest(
        request, tenant, all, fixedId, forkSource, hostAccess, defaultTtl, startup, name, key);
  }

  public SandboxRequest withFixedId() {
    return new SandboxRequest(
        request, tenant, labels, true, forkSource, hostAccess, defaultTtl, startup, name, key);
  }

  /** Sets the state to start with. Rules out the warm pool, whose sandboxes do not have it. */
  public SandboxRequest withForkSource(ForkSource source) {
    return new SandboxRequest(
        request,
        tenant,
        labels,
        true,
        Optional.of(source),
        hostAccess,
        defaultTtl,
        startup,
        name,
        key);
  }

  /** Allows the network and folders of the host, because the client has the scope for them. */
  public SandboxRequest withHostAccess() {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, true, defaultTtl, startup, name, key);
  }

  /**
   * Marks the TTL of the request as the default of the server, because the client requested none.
   */
  public SandboxRequest withDefaultTtl() {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, hostAccess, true, startup, name, key);
  }

  /**
   * Sets the commands to run before the sandbox is returned. Unless empty, they rule out the warm
   * pool.
   */
  public SandboxRequest withStartup(Startup commands) {
    return new SandboxRequest(
        request, tenant, labels, fixedId, forkSource, hostAccess, defaultTtl, commands, name, key);
  }

  /**
   * Sets the name of the sandbox.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid name
   */
  public SandboxRequest withName(String text) {
    SandboxNames.check(text);
    return new SandboxRequest(
        request,
        tenant,
        labels,
        fixedId,
        forkSource,
        hostAccess,
        defaultTtl,
        startup,
        Optional.of(text),
        key);
  }

  /** Sets the name of the API key of the client, which decides about the secrets it may use. */
  public SandboxRequest withKey(String keyName) {
    return new SandboxRequest(
        request,
        tenant,
        labels,
        fixedId,
        forkSource,
        hostAccess,
        defaultTtl,
        startup,
        name,
        Optional.of(keyName));
  }

  /** Returns when a sandbox created now expires. */
  public Optional<Instant> expiresAt(Instant now) {
    return request.lifecycle().ttl().map(now::plus);
  }

  /** Returns how long creation may take. */
  public Duration createTimeout() {
    Duration made = request.spec().startupTimeout();
    return startup.isEmpty() ? made : made.plus(startup.timeout());
  }
}
