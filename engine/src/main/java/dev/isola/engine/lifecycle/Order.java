package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
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
 */
public record Order(
    CreateRequest request,
    String tenant,
    Map<String, String> labels,
    boolean fixedId,
    Optional<ForkOrigin> origin,
    boolean hostAccess,
    boolean defaultTtl) {
  public Order {
    labels = Map.copyOf(labels);
  }

  public static Order of(CreateRequest request) {
    return new Order(request, "", request.tags(), false, Optional.empty(), false, false);
  }

  public Order withKey(String text) {
    return with(request.withIdempotencyKey(text));
  }

  public Order withIdleTimeout(Duration time) {
    return with(request.withIdleTimeout(time));
  }

  public Order with(CreateRequest other) {
    return new Order(other, tenant, labels, fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withTenant(String name) {
    return new Order(request, name, labels, fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withLabels(Map<String, String> all) {
    return new Order(request, tenant, all, fixedId, origin, hostAccess, defaultTtl);
  }

  public Order withFixedId() {
    return new Order(request, tenant, labels, true, origin, hostAccess, defaultTtl);
  }

  /** No other sandbox has those files, so none of the warm pool does. */
  public Order withOrigin(ForkOrigin files) {
    return new Order(request, tenant, labels, true, Optional.of(files), hostAccess, defaultTtl);
  }

  /** Says that the client has the scope to ask for the network or folders of the host. */
  public Order withHostAccess() {
    return new Order(request, tenant, labels, fixedId, origin, true, defaultTtl);
  }

  /** Says that the client named no ttl, and that of the request is the server's default. */
  public Order withDefaultTtl() {
    return new Order(request, tenant, labels, fixedId, origin, hostAccess, true);
  }

  /** Returns when it expires if it begins now. */
  Optional<Instant> expiresAt(Instant now) {
    return request.lifecycle().ttl().map(now::plus);
  }

  /** Returns the key with what tells this order from others; the id may be a fresh one. */
  public Optional<Book.Key> boundKey() {
    return request.idempotencyKey().map(text -> new Book.Key(text, SpecText.requestHash(request)));
  }
}
