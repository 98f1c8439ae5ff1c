package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/** Idempotency keys. */
final class InMemoryIdempotencyKeys implements IdempotencyKeys {
  private record Key(String tenant, String key) {}

  private record Binding(SandboxId sandbox, String requestHash, Instant at) {}

  private final InMemoryLedger ledger;
  private final Duration retention;
  private final Map<Key, Binding> bindings = new HashMap<>();

  InMemoryIdempotencyKeys(InMemoryLedger ledger, Duration retention) {
    this.ledger = ledger;
    this.retention = retention;
  }

  @Override
  public KeyClaim claim(
      String tenant, String key, String requestHash, SandboxId sandbox, Instant now) {
    return ledger.locked(
        () -> {
          Key name = new Key(tenant, key);
          Binding known = bindings.get(name);
          if (known != null && known.at().plus(retention).isAfter(now)) {
            return new KeyClaim.Existing(known.sandbox(), known.requestHash().equals(requestHash));
          }
          bindings.put(name, new Binding(sandbox, requestHash, now));
          ledger.onRollback(
              () -> {
                if (known == null) {
                  bindings.remove(name);
                } else {
                  bindings.put(name, known);
                }
              });
          return new KeyClaim.New();
        });
  }

  @Override
  public void release(SandboxId sandbox) {
    int _ = removeIf(binding -> binding.sandbox().equals(sandbox));
  }

  @Override
  public int purge(Instant before) {
    return removeIf(binding -> binding.at().isBefore(before));
  }

  void removeOf(java.util.Set<SandboxId> sandboxes) {
    int _ = removeIf(binding -> sandboxes.contains(binding.sandbox()));
  }

  private int removeIf(Predicate<Binding> condition) {
    return ledger.locked(
        () -> {
          Map<Key, Binding> old = new HashMap<>(bindings);
          old.values().removeIf(condition.negate());
          old.keySet().forEach(bindings::remove);
          ledger.onRollback(() -> bindings.putAll(old));
          return old.size();
        });
  }
}
