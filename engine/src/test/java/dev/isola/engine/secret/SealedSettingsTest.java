package dev.isola.engine.secret;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.engine.api.SecretKeyRotation;
import dev.isola.engine.secret.SealedSettings.RotationStep;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.store.SqliteTestDatabase;
import dev.isola.store.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Encrypted settings, and the replacement of their key. */
class SealedSettingsTest {
  private static final String VALUE = "planted-value-91c4";

  @TempDir Path folder;
  private LedgerConfig location;
  private Ledger ledger;

  /** The location of the ledgers of these tests. */
  TestDatabase database() {
    return new SqliteTestDatabase();
  }

  @BeforeEach
  void open() {
    location = database().fresh();
    ledger = Ledgers.open(location);
  }

  @AfterEach
  void remove() {
    ledger.close();
    database().remove(location);
  }

  /** Returns what another server process would have, which knows only files and the ledger. */
  private SealedSettings reopened() {
    ledger.close();
    ledger = Ledgers.open(location);
    return settings();
  }

  private SealedSettings settings() {
    return new SealedSettings(
        ledger, EncryptionKeys.open(folder, Optional.empty(), Optional.empty(), Map.of()));
  }

  private SealedSettings settings(String source, Optional<String> old, Map<String, String> env) {
    return new SealedSettings(
        ledger,
        EncryptionKeys.open(folder, KeySource.parse(source), old.flatMap(KeySource::parse), env));
  }

  private static String text(SealedSettings settings, SealedScope scope, String name) {
    return new String(settings.get(scope, name).orElseThrow(), UTF_8);
  }

  private static String base64(int fill) {
    byte[] key = new byte[32];
    key[0] = (byte) fill;
    return Base64.getEncoder().encodeToString(key);
  }

  @Test
  void valueIsStoredEncryptedAndBoundToItsPlace() {
    SealedSettings settings = settings();
    settings.put(SealedScope.SECRET, "one", VALUE.getBytes(UTF_8));
    String stored = ledger.settings().get("secret", "one").orElseThrow();
    assertThat(stored).startsWith("v1:").doesNotContain(VALUE);
    assertThat(text(reopened(), SealedScope.SECRET, "one")).isEqualTo(VALUE);
    ledger.settings().put("secret", "two", stored);
    ledger.settings().put("secret-env", "one", stored);
    for (SealedScope scope : List.of(SealedScope.SECRET, SealedScope.SECRET_ENV)) {
      assertThatThrownBy(() -> settings().get(scope, scope == SealedScope.SECRET ? "two" : "one"))
          .isInstanceOf(Internal.class)
          .hasMessageContaining("changed or moved");
    }
  }

  @Test
  void valueOfUnknownFormatIsRefused() {
    settings().put(SealedScope.SECRET, "one", VALUE.getBytes(UTF_8));
    for (String stored : List.of("", "AAAA", "v2:k:AAAA", "v1:k")) {
      ledger.settings().put("secret", "one", stored);
      assertThatThrownBy(() -> settings().get(SealedScope.SECRET, "one"))
          .hasMessageContaining("does not know its format");
    }
  }

  @Test
  void rotationThatStopsAtAnyStepLosesNoValueAndCanBeRepeated() throws IOException {
    int steps = 2 + 6; // the key, six values, the check
    for (int stop = 1; stop <= steps; stop++) {
      SealedSettings settings = settings();
      for (SealedScope scope : SealedScope.values()) {
        settings.put(scope, "a", (VALUE + scope).getBytes(UTF_8));
        settings.put(scope, "b", VALUE.getBytes(UTF_8));
      }
      byte[] old = Files.readAllBytes(folder.resolve("secrets.key"));
      int[] left = {stop};
      assertThatThrownBy(
              () ->
                  settings.rotateKey(
                      step -> {
                        if (--left[0] == 0) {
                          throw new AssertionError("killed at " + step);
                        }
                      }))
          .isInstanceOf(AssertionError.class);
      SealedSettings next = reopened();
      for (SealedScope scope : SealedScope.values()) {
        assertThat(text(next, scope, "a")).as("stopped at %s", stop).isEqualTo(VALUE + scope);
      }
      assertThat(folder.resolve("secrets.key")).hasBinaryContent(old);
      next.put(SealedScope.SECRET, "b", "written-meanwhile".getBytes(UTF_8));
      SecretKeyRotation rotation = reopened().rotateKey();
      assertThat(folder.resolve("secrets.key.new")).doesNotExist();
      assertThat(Files.readAllBytes(folder.resolve("secrets.key"))).isNotEqualTo(old);
      SealedSettings last = reopened();
      for (SealedScope scope : SealedScope.values()) {
        assertThat(text(last, scope, "a")).isEqualTo(VALUE + scope);
        assertThat(ledger.settings().all(scope.scope()).values())
            .allMatch(stored -> stored.startsWith("v1:" + rotation.keyId() + ":"));
      }
      assertThat(text(last, SealedScope.SECRET, "b")).isEqualTo("written-meanwhile");
    }
  }

  @Test
  void rotationReachesEveryStepThatTheTestStopsAt() {
    SealedSettings settings = settings();
    settings.put(SealedScope.SECRET, "a", VALUE.getBytes(UTF_8));
    List<RotationStep> reached = new java.util.ArrayList<>();
    SecretKeyRotation _ = settings.rotateKey(reached::add);
    assertThat(reached)
        .containsExactly(
            RotationStep.KEY_CREATED, RotationStep.VALUE_WRITTEN, RotationStep.VALUES_CHECKED);
  }

  @Test
  void unreadableValueStopsTheRotationAndKeepsTheOldKey() throws IOException {
    SealedSettings settings = settings();
    settings.put(SealedScope.SECRET, "a", VALUE.getBytes(UTF_8));
    ledger.settings().put("secret", "b", "v1:0011223344556677:AAAA");
    byte[] old = Files.readAllBytes(folder.resolve("secrets.key"));
    assertThatThrownBy(settings::rotateKey)
        .isInstanceOf(Internal.class)
        .hasMessageContaining("secret b cannot be decrypted");
    assertThat(folder.resolve("secrets.key")).hasBinaryContent(old);
    assertThat(text(reopened(), SealedScope.SECRET, "a")).isEqualTo(VALUE);
    boolean _ = settings().remove(SealedScope.SECRET, "b");
    SecretKeyRotation _ = settings().rotateKey();
    assertThat(text(reopened(), SealedScope.SECRET, "a")).isEqualTo(VALUE);
  }

  @Test
  void missingKeyIsNotReplacedWhileValuesNeedIt() throws IOException {
    settings().put(SealedScope.SECRET, "a", VALUE.getBytes(UTF_8));
    Files.delete(folder.resolve("secrets.key"));
    assertThatThrownBy(() -> settings().put(SealedScope.SECRET, "b", new byte[1]))
        .isInstanceOf(Internal.class)
        .hasMessageContaining("secrets.key is missing");
    assertThatThrownBy(() -> settings().get(SealedScope.SECRET, "a"))
        .hasMessageContaining("secrets.key is missing");
    assertThat(folder.resolve("secrets.key")).doesNotExist();
    assertThat(settings().remove(SealedScope.SECRET, "a")).isTrue();
    settings().put(SealedScope.SECRET, "b", VALUE.getBytes(UTF_8));
    assertThat(text(reopened(), SealedScope.SECRET, "b")).isEqualTo(VALUE);
  }

  @Test
  void keyFromTheEnvironmentIsReplacedByTheOperator() {
    Map<String, String> env = Map.of("OLD", base64(1), "NEW", base64(2));
    SealedSettings before = settings("env:OLD", Optional.empty(), env);
    before.put(SealedScope.SECRET, "a", VALUE.getBytes(UTF_8));
    assertThatThrownBy(before::rotateKey)
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("env:OLD");
    assertThatThrownBy(
            () -> settings("env:NEW", Optional.empty(), env).get(SealedScope.SECRET, "a"))
        .isInstanceOf(Internal.class)
        .hasMessageContaining("not encrypted with key");
    assertThat(settings("env:NEW", Optional.of("env:OLD"), env).rotateKey().values()).isEqualTo(1);
    assertThat(text(settings("env:NEW", Optional.empty(), env), SealedScope.SECRET, "a"))
        .isEqualTo(VALUE);
    assertThat(folder.resolve("secrets.key")).doesNotExist();
  }
}
