package dev.isola.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Conflict;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The two forms of a key: {@code isk_} and, for E2B's clients, {@code e2b_}. */
class ApiKeysTest {
  private final FakeSettings settings = new FakeSettings();

  private ApiKeys open(Optional<String> fromEnvironment) {
    return ApiKeys.open(settings, fromEnvironment, InstantSource.system());
  }

  private static Optional<String> name(ApiKeys keys, String secret) {
    return keys.find(secret).map(ApiKey::name);
  }

  @Test
  void bothPrefixesAreTheSameKey() {
    ApiKeys keys = open(Optional.empty());
    String secret = keys.create("ci", Scope.USE).secret();
    String digits = secret.substring(ApiKeys.PREFIX.length());
    assertThat(secret).matches("isk_[0-9a-f]{64}");
    assertThat(name(keys, "isk_" + digits)).contains("ci");
    assertThat(name(keys, "e2b_" + digits)).contains("ci");
    for (String other :
        new String[] {digits, "ist_" + digits, "E2B_" + digits, "e2b_isk_" + digits, "e2b_"}) {
      assertThat(name(keys, other)).as(other).isEmpty();
    }
    assertThat(name(open(Optional.empty()), "e2b_" + digits)).as("after a restart").contains("ci");
    assertThat(settings.scopes.toString()).doesNotContain(digits);
    keys.revoke("ci");
    assertThat(name(keys, "e2b_" + digits)).isEmpty();
  }

  @Test
  void keyFromTheEnvironmentIsAcceptedInBothForms() {
    for (String prefix : new String[] {"isk_", "e2b_"}) {
      ApiKeys keys = open(Optional.of(prefix + "0123456789abcdef"));
      assertThat(name(keys, "isk_0123456789abcdef")).contains(ApiKeys.ENVIRONMENT);
      assertThat(name(keys, "e2b_0123456789abcdef")).contains(ApiKeys.ENVIRONMENT);
    }
    ApiKeys plain = open(Optional.of("0123456789abcdef"));
    assertThat(name(plain, "0123456789abcdef")).contains(ApiKeys.ENVIRONMENT);
    assertThat(name(plain, "e2b_0123456789abcdef")).isEmpty();
  }

  @Test
  void changedPolicyIsStoredAndSurvivesUse() {
    ApiKeys keys = open(Optional.of("isk_0123456789abcdef"));
    ApiKey before = keys.create("ci", Scope.USE).key();
    assertThat(keys.update("ci", true)).map(ApiKey::strictNoFallback).contains(true);
    keys.recordUse(before); // of a request that was authenticated before the change
    assertThat(keys.byName("ci")).map(ApiKey::strictNoFallback).contains(true);
    assertThat(open(Optional.empty()).byName("ci")).map(ApiKey::strictNoFallback).contains(true);
    assertThat(keys.update("ci", false)).map(ApiKey::strictNoFallback).contains(false);
    assertThat(keys.byName("ci")).map(ApiKey::hash).contains(before.hash());
    assertThat(keys.update("nosuch", true)).isEmpty();
    assertThatThrownBy(() -> keys.update(ApiKeys.ENVIRONMENT, true)).isInstanceOf(Conflict.class);
  }

  @Test
  void storedKeyWithoutOptionalFieldsIsValidWithBothPrefixes() {
    settings.put(
        "api-key",
        "old",
        "{\"scope\":\"use\",\"hash\":\""
            + TokenHash.of("isk_00ff")
            + "\",\"createdAt\":\"2026-01-01T00:00:00Z\"}");
    assertThat(name(open(Optional.empty()), "isk_00ff")).contains("old");
    assertThat(name(open(Optional.empty()), "e2b_00ff")).contains("old");
  }
}
