package dev.isola.compat.e2b.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.engine.ledger.LedgerSettings;
import dev.isola.server.auth.Confidential;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.NotFound;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens of volumes are stored as hashes, as keys are. */
class VolumeBookTest {
  private static final String SCOPE = "e2b-volume";

  private Ledger ledger;
  private VolumeBook book;

  @BeforeEach
  void open(@TempDir Path folder) {
    ledger = Ledgers.open(LedgerConfig.in(folder));
    book = new VolumeBook(new LedgerSettings(ledger));
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private static String token(Map<String, Object> answer) {
    return answer.get("token") instanceof Confidential token ? token.reveal() : "";
  }

  @Test
  void issuedTokensOpenTheVolumeAndAreNotStored() {
    Map<String, Object> made = book.create("data");
    String id = String.valueOf(made.get("volumeID"));
    String first = token(made);
    String second = token(book.open(id));
    assertThat(first).hasSize(64).isNotEqualTo(second);
    assertThat(book.need(id).isOpenedBy(first)).isTrue();
    assertThat(book.need(id).isOpenedBy(second)).isTrue();
    assertThat(book.need(id).isOpenedBy(first.substring(1))).isFalse();
    assertThat(ledger.settings().all(SCOPE).toString()).doesNotContain(first, second);
  }

  @Test
  void missingVolumeHasACodeOfItsOwn() {
    assertThatThrownBy(() -> book.need("none"))
        .isInstanceOfSatisfying(
            NotFound.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.VOLUME_NOT_FOUND));
  }

  @Test
  void theOldestTokenIsVoidBeyondTheMost() {
    Map<String, Object> made = book.create("data");
    String id = String.valueOf(made.get("volumeID"));
    String second = token(book.open(id));
    for (int i = 0; i < 99; i++) {
      book.open(id);
    }
    assertThat(book.need(id).isOpenedBy(token(made))).isFalse();
    assertThat(book.need(id).isOpenedBy(second)).isTrue();
  }

  @Test
  void tokensThatAnEarlierVersionStoredAreHashedAndStayValid() {
    String token = "ab".repeat(32);
    ledger
        .settings()
        .put(SCOPE, "v1", "{\"volumeID\":\"v1\",\"name\":\"old\",\"token\":\"" + token + "\"}");
    book.hashStoredTokens();
    assertThat(book.need("v1").isOpenedBy(token)).isTrue();
    assertThat(ledger.settings().all(SCOPE).toString()).doesNotContain(token);
  }
}
