package dev.isola.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Log;
import dev.isola.spi.error.Conflict;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** C24: keys and sessions of servers that share a ledger. */
class CredentialRefreshTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final Log SILENT =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  private final FakeSettings settings = new FakeSettings();
  private final List<CredentialRefresh> open = new ArrayList<>();
  private Instant now = Instant.parse("2026-11-18T12:00:00Z");
  private final InstantSource clock = () -> now;
  private ApiKeys first;
  private ApiKeys second;

  @BeforeEach
  void start() {
    first = server();
    second = server();
  }

  private ApiKeys server() {
    ApiKeys keys = ApiKeys.open(settings, Optional.empty(), clock);
    open.add(keys.followChanges(SILENT));
    return keys;
  }

  @AfterEach
  void stop() {
    open.forEach(CredentialRefresh::close);
  }

  @Test
  void aNewKeyIsKnownAtTheOtherServerAtOnce() {
    String secret = first.create("ci", Scope.USE).secret();
    assertThat(second.find(secret)).map(ApiKey::name).contains("ci");
    assertThat(second.find("isk_unknown")).isEmpty();
  }

  @Test
  void aRevokedKeyIsRefusedAtTheOtherServerSoon() {
    String secret = first.create("ci", Scope.USE).secret();
    assertThat(second.find(secret)).isPresent();
    first.revoke("ci");
    await().atMost(SOON).until(() -> second.find(secret).isEmpty());
  }

  @Test
  void useOfARevokedKeyDoesNotBringItBack() {
    String secret = first.create("ci", Scope.USE).secret();
    assertThat(second.find(secret)).isPresent();
    now = now.plusSeconds(3600);
    first.revoke("ci");
    second.find(secret); // may still be known, and records its use
    assertThat(ApiKeys.open(settings, Optional.empty(), clock).find(secret)).isEmpty();
    assertThat(second.update("ci", true)).isEmpty();
    assertThat(ApiKeys.open(settings, Optional.empty(), clock).all()).isEmpty();
  }

  @Test
  void useDoesNotUndoAChangeOfPolicyAtTheOtherServer() {
    String secret = first.create("ci", Scope.USE).secret();
    assertThat(second.find(secret)).isPresent();
    now = now.plusSeconds(3600);
    first.update("ci", true);
    second.find(secret);
    ApiKey stored = ApiKeys.open(settings, Optional.empty(), clock).all().getFirst();
    assertThat(stored.strictNoFallback()).isTrue();
    assertThat(stored.lastUsedAt()).contains(now);
    await().atMost(SOON).until(() -> second.find(secret).orElseThrow().strictNoFallback());
  }

  @Test
  void aNameIsUsedOnce() {
    first.create("ci", Scope.USE);
    assertThatThrownBy(() -> second.create("ci", Scope.ADMIN)).isInstanceOf(Conflict.class);
    assertThat(first.all()).extracting(ApiKey::scope).containsExactly(Scope.USE);
  }

  @Test
  void aSessionIsKnownAtTheOtherServerAndEndsThereToo() {
    ApiKey key = first.create("person", Scope.USE).key();
    Sessions.CreatedSession session = first.sessions().create(key, Optional.empty());
    assertThat(second.sessions().find(session.secret())).isPresent();
    now = now.plusSeconds(600);
    first.sessions().end(session.session());
    second.sessions().find(session.secret()); // may still be known, and extends it
    assertThat(settings.all(Sessions.SCOPE)).isEmpty();
    await().atMost(SOON).until(() -> second.sessions().find(session.secret()).isEmpty());
  }

  @Test
  void tokensAndDerivedKeysAreTheSameAtBothServers() {
    assertThat(first.tokens().deriveKey("x")).isEqualTo(second.tokens().deriveKey("x"));
    assertThat(first.tokens().deriveKey("x")).isNotEqualTo(first.tokens().deriveKey("y"));
  }
}
