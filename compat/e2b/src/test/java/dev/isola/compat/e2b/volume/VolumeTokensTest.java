package dev.isola.compat.e2b.volume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.ledger.LedgerSettingsStore;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Volume tokens are stored as hashes, like API keys. */
class VolumeTokensTest {
  private Ledger ledger;
  private VolumeTokens tokens;

  @BeforeEach
  void open(@TempDir Path folder) {
    ledger = Ledgers.open(LedgerConfig.sqlite(folder));
    tokens = new VolumeTokens(new LedgerSettingsStore(ledger));
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private String issue() {
    return tokens.issue("v1").reveal();
  }

  @Test
  void issuedTokensAreValidAndNotStored() {
    String first = issue();
    String second = issue();
    assertThat(first).hasSize(64).isNotEqualTo(second);
    assertThat(tokens.isValid("v1", first)).isTrue();
    assertThat(tokens.isValid("v1", second)).isTrue();
    assertThat(tokens.isValid("v1", first.substring(1))).isFalse();
    assertThat(tokens.isValid("v2", first)).isFalse();
    assertThat(ledger.settings().all(VolumeTokens.SCOPE).toString()).doesNotContain(first, second);
  }

  @Test
  void oldestTokenIsInvalidatedBeyondTheMaximum() {
    String first = issue();
    String second = issue();
    for (int i = 0; i < 99; i++) {
      issue();
    }
    assertThat(tokens.isValid("v1", first)).isFalse();
    assertThat(tokens.isValid("v1", second)).isTrue();
  }

  @Test
  void revokedTokensAreInvalid() {
    String token = issue();
    tokens.revokeAll("v1");
    assertThat(tokens.isValid("v1", token)).isFalse();
  }
}
