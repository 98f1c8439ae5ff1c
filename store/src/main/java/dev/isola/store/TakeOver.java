package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * A request for sandboxes whose owner has no valid lease.
 *
 * @param owner the server that becomes their owner
 * @param providers the providers whose sandboxes it takes
 * @param id the only sandbox to take
 * @param expiredBefore takes only sandboxes that expired before this time
 * @param limit the most sandboxes to take
 */
public record TakeOver(
    String owner,
    Set<String> providers,
    Optional<SandboxId> id,
    Optional<Instant> expiredBefore,
    int limit) {
  public TakeOver {
    providers = Set.copyOf(providers);
  }

  /** Returns a request for some sandboxes of these providers. */
  public static TakeOver some(String owner, Set<String> providers, int limit) {
    return new TakeOver(owner, providers, Optional.empty(), Optional.empty(), limit);
  }

  /** Returns a request for one sandbox. */
  public static TakeOver one(String owner, Set<String> providers, SandboxId id) {
    return new TakeOver(owner, providers, Optional.of(id), Optional.empty(), 1);
  }

  /** Restricts the request to sandboxes that expired before a time. */
  public TakeOver expiredBefore(Instant time) {
    return new TakeOver(owner, providers, id, Optional.of(time), limit);
  }
}
