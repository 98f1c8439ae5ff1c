package dev.isola.store;

import java.time.Instant;

/**
 * A volume, as recorded in the ledger.
 *
 * @param tenant the owner; empty when there are no tenants
 * @param name the name under which sandboxes mount it
 * @param provider the provider that stores its files; empty while undecided
 */
public record VolumeEntry(
    String id,
    String tenant,
    String name,
    String provider,
    State state,
    Instant createdAt,
    Instant updatedAt) {

  /** The state of a volume. */
  public enum State {
    /** Recorded; the provider may not have created it yet. */
    CREATING,
    AVAILABLE,
    /** Being removed, and no longer mountable. */
    REMOVING
  }

  public VolumeEntry withState(State next, Instant now) {
    return new VolumeEntry(id, tenant, name, provider, next, createdAt, now);
  }

  public VolumeEntry withProvider(String holder, Instant now) {
    return new VolumeEntry(id, tenant, name, holder, state, createdAt, now);
  }
}
