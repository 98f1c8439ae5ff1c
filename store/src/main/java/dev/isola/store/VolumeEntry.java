package dev.isola.store;

import java.time.Instant;

/**
 * A volume as the ledger has it.
 *
 * @param tenant whose it is; empty text where there are no tenants
 * @param name by which sandboxes mount it
 * @param provider that has its files; empty text while that is not known
 */
public record VolumeEntry(
    String id,
    String tenant,
    String name,
    String provider,
    State state,
    Instant createdAt,
    Instant updatedAt) {

  /** How far a volume is. */
  public enum State {
    /** It is written down; the provider may not have it yet. */
    CREATING,
    AVAILABLE,
    /** It is being removed: nothing mounts it any more. */
    REMOVING
  }

  public VolumeEntry withState(State next, Instant now) {
    return new VolumeEntry(id, tenant, name, provider, next, createdAt, now);
  }

  public VolumeEntry withProvider(String holder, Instant now) {
    return new VolumeEntry(id, tenant, name, holder, state, createdAt, now);
  }
}
