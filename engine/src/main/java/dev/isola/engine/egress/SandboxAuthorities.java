package dev.isola.engine.egress;

import dev.isola.egress.http.SandboxAuthority;
import dev.isola.engine.secret.SealedScope;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.Ledger;
import java.time.InstantSource;
import java.util.Optional;

/**
 * The certificate authorities of sandboxes. Their private keys are stored encrypted, because a
 * server that takes over must go on with the authority that programs already trust.
 */
public final class SandboxAuthorities {
  private final Ledger ledger;
  private final SealedSettings settings;
  private final InstantSource clock;

  public SandboxAuthorities(Ledger ledger, SealedSettings settings, InstantSource clock) {
    this.ledger = ledger;
    this.settings = settings;
    this.clock = clock;
  }

  /** Returns the authority of a sandbox, which is created on first use. */
  SandboxAuthority get(SandboxId id) {
    Optional<byte[]> stored = settings.get(SealedScope.SANDBOX_AUTHORITY, id.value());
    if (stored.isPresent()) {
      return SandboxAuthority.decode(stored.get(), clock);
    }
    SandboxAuthority created = SandboxAuthority.create(id.value(), clock);
    settings.put(SealedScope.SANDBOX_AUTHORITY, id.value(), created.encode());
    return created;
  }

  /** Removes the authorities of sandboxes that do not exist any more. */
  public void removeOrphans() {
    for (String name : settings.names(SealedScope.SANDBOX_AUTHORITY)) {
      boolean exists =
          ledger
              .sandboxes()
              .find(new SandboxId(name))
              .filter(entry -> entry.state() != SandboxState.DESTROYED)
              .isPresent();
      if (!exists) {
        boolean _ = settings.remove(SealedScope.SANDBOX_AUTHORITY, name);
      }
    }
  }
}
