package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Idempotency keys and settings. */
abstract class KeysAndSettingsContract extends LedgerContract {

  KeysAndSettingsContract(TestDatabase database) {
    super(database);
  }

  @Test
  void keyIsBoundOnceWithItsRequestHash() {
    IdempotencyKeys keys = ledger.idempotency();

    assertThat(keys.claim("t", "k", "h", id("a"), NOW)).isEqualTo(new KeyClaim.New());
    reopen();
    keys = ledger.idempotency();
    assertThat(keys.claim("t", "k", "h", id("b"), NOW))
        .isEqualTo(new KeyClaim.Existing(id("a"), true));
    assertThat(keys.claim("t", "k", "other", id("b"), NOW))
        .isEqualTo(new KeyClaim.Existing(id("a"), false));
    assertThat(keys.claim("u", "k", "h", id("b"), NOW)).isEqualTo(new KeyClaim.New());
    assertThat(keys.claim("t", "l", "h", id("b"), NOW)).isEqualTo(new KeyClaim.New());
  }

  @Test
  void keyIsFreeAfterItsRetention() {
    IdempotencyKeys keys = ledger.idempotency();
    keys.claim("t", "k", "h", id("a"), NOW);
    Duration kept = config.keyRetention();

    assertThat(keys.claim("t", "k", "h", id("b"), NOW.plus(kept).minusNanos(1000)))
        .isInstanceOf(KeyClaim.Existing.class);
    assertThat(keys.claim("t", "k", "h", id("b"), NOW.plus(kept))).isEqualTo(new KeyClaim.New());
    assertThat(keys.claim("t", "k", "h", id("c"), NOW.plus(kept)))
        .isEqualTo(new KeyClaim.Existing(id("b"), true));
  }

  @Test
  void keysOfAFailedCreationAreReleased() {
    IdempotencyKeys keys = ledger.idempotency();
    keys.claim("t", "k", "h", id("a"), NOW);
    keys.claim("t", "other", "h", id("b"), NOW);
    keys.release(id("a"));
    keys.release(id("a"));
    assertThat(keys.claim("t", "k", "h", id("c"), NOW)).isEqualTo(new KeyClaim.New());
    assertThat(keys.claim("t", "other", "h", id("c"), NOW)).isInstanceOf(KeyClaim.Existing.class);
  }

  @Test
  void purgeDeletesOldKeys() {
    IdempotencyKeys keys = ledger.idempotency();
    keys.claim("t", "old", "h", id("a"), NOW);
    keys.claim("t", "new", "h", id("a"), NOW.plusSeconds(10));

    assertThat(keys.purge(NOW.plusSeconds(5))).isEqualTo(1);
    assertThat(keys.claim("t", "old", "h", id("b"), NOW)).isEqualTo(new KeyClaim.New());
    assertThat(keys.claim("t", "new", "h", id("b"), NOW)).isInstanceOf(KeyClaim.Existing.class);
  }

  @Test
  void concurrentClaimsOfAKeyCreateOneSandbox() throws InterruptedException {
    for (int round = 0; round < 100; round++) {
      String key = "k" + round;
      List<Callable<KeyClaim>> rivals = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        String name = "r" + round + "x" + i;
        rivals.add(() -> create(key, name));
      }

      List<KeyClaim> answers = together(rivals);

      assertThat(answers).filteredOn(KeyClaim.New.class::isInstance).hasSize(1);
      List<SandboxEntry> made =
          ledger.sandboxes().list(EntryFilter.ALL.label("key", key), "", 10).entries();
      assertThat(made).hasSize(1);
      assertThat(answers)
          .filteredOn(KeyClaim.Existing.class::isInstance)
          .containsOnly(new KeyClaim.Existing(made.getFirst().id(), true));
    }
  }

  /** Signals that the key was taken, which rolls back the transaction. */
  private static final class AlreadyClaimed extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient KeyClaim claim;

    AlreadyClaimed(KeyClaim claim) {
      this.claim = claim;
    }
  }

  /** Writes the sandbox and its key in one transaction, as the engine does. */
  private KeyClaim create(String key, String name) {
    try {
      return ledger.atomically(
          parts -> {
            parts.sandboxes().insert(intent(name).label("key", key).build());
            KeyClaim claim = parts.idempotency().claim("t", key, "h", id(name), NOW);
            if (claim instanceof KeyClaim.Existing) {
              throw new AlreadyClaimed(claim);
            }
            parts.events().append(event(name, "created"));
            return claim;
          });
    } catch (AlreadyClaimed e) {
      return e.claim;
    }
  }

  @Test
  void settingsAreStoredAndRemoved() {
    SettingEntries settings = ledger.settings();
    settings.put("user:a", "strict_no_fallback", "true");
    settings.put("user:a", "b", "");
    settings.put("user:b", "strict_no_fallback", "false");
    settings.put("user:a", "strict_no_fallback", "false");

    reopen();
    settings = ledger.settings();
    assertThat(settings.get("user:a", "strict_no_fallback")).contains("false");
    assertThat(settings.get("user:a", "none")).isEmpty();
    assertThat(settings.all("user:a"))
        .containsExactly(
            java.util.Map.entry("b", ""), java.util.Map.entry("strict_no_fallback", "false"));
    assertThat(settings.all("unknown")).isEmpty();
    assertThat(settings.remove("user:a", "b")).isTrue();
    assertThat(settings.remove("user:a", "b")).isFalse();
    assertThat(settings.get("user:a", "b")).isEmpty();
  }
}
