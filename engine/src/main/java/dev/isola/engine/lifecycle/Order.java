package dev.isola.engine.lifecycle;

import dev.isola.engine.selection.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A sandbox that somebody ordered.
 *
 * @param tenant who it is for; empty text where there are no tenants
 * @param key by which a repeated order is known
 * @param labels the caller's own
 * @param idleTimeout how long after its last use it ends
 * @param fixedId whether the caller chose the id of the spec; one from the warm pool has its own
 * @param origin the files it begins with; those of its spec otherwise
 * @param hostAccess whether the client may ask for the network or folders of the host
 * @param defaultTtl whether the ttl is the server's default: a backend that allows less gets less
 */
public record Order(
    Request request,
    String tenant,
    Optional<String> key,
    Map<String, String> labels,
    Optional<Duration> idleTimeout,
    boolean fixedId,
    Optional<ForkOrigin> origin,
    boolean hostAccess,
    boolean defaultTtl) {
  public Order {
    labels = Map.copyOf(labels);
  }

  public static Order of(Request request) {
    return new Order(
        request,
        "",
        Optional.empty(),
        Map.of(),
        Optional.empty(),
        false,
        Optional.empty(),
        false,
        false);
  }

  public Order withKey(String text) {
    return new Order(
        request,
        tenant,
        Optional.of(text),
        labels,
        idleTimeout,
        fixedId,
        origin,
        hostAccess,
        defaultTtl);
  }

  public Order withTenant(String name) {
    return new Order(
        request, name, key, labels, idleTimeout, fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withIdleTimeout(Duration time) {
    return new Order(
        request, tenant, key, labels, Optional.of(time), fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withLabels(Map<String, String> all) {
    return new Order(
        request, tenant, key, all, idleTimeout, fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withFixedId() {
    return new Order(
        request, tenant, key, labels, idleTimeout, true, origin, hostAccess, defaultTtl);
  }

  /** No other sandbox has those files, so none of the warm pool does. */
  public Order withOrigin(ForkOrigin files) {
    return new Order(
        request,
        tenant,
        key,
        labels,
        idleTimeout,
        true,
        Optional.of(files),
        hostAccess,
        defaultTtl);
  }

  /** Says that the client has the scope to ask for the network or folders of the host. */
  public Order withHostAccess() {
    return new Order(request, tenant, key, labels, idleTimeout, fixedId, origin, true, defaultTtl);
  }

  /** Says that the client named no ttl, and that of the spec is the server's default. */
  public Order withDefaultTtl() {
    return new Order(request, tenant, key, labels, idleTimeout, fixedId, origin, hostAccess, true);
  }

  /** Returns when its time is up, when it begins now. */
  Optional<Instant> expiresAt(Instant now) {
    return request.spec().ttl().map(now::plus);
  }

  /** Returns the key with what tells this order from others; the id may be a fresh one. */
  public Optional<Book.Key> boundKey() {
    return key.map(text -> new Book.Key(text, SpecText.requestHash(request)));
  }
}
