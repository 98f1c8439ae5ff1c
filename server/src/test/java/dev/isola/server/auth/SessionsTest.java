package dev.isola.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** D1: how long sessions last, and what ends them. */
class SessionsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final FakeSettings settings = new FakeSettings();
  private Instant now = START;

  private ApiKeys open(Optional<String> fromEnvironment) {
    return ApiKeys.open(settings, fromEnvironment, () -> now);
  }

  private Optional<Instant> expiry(ApiKeys keys, String secret) {
    return keys.sessions().find(secret).map(Session::expiresAt);
  }

  private SandboxToken token(Duration ttl) {
    return new SandboxToken(SandboxToken.Kind.READ, new SandboxId("box1"), 0, START.plus(ttl));
  }

  private static Sessions.CreatedSession create(ApiKeys keys, String name) {
    ApiKey key = keys.all().stream().filter(one -> one.name().equals(name)).findFirst().get();
    return keys.sessions().create(key, Optional.empty());
  }

  @Test
  void sessionEndsTwelveHoursAfterItsLastUse() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    String secret = create(keys, "ci").secret();
    assertThat(secret).matches("[0-9a-f]{64}");
    now = START.plus(Duration.ofHours(11));
    assertThat(expiry(keys, secret)).contains(START.plus(Duration.ofHours(23)));
    now = START.plus(Duration.ofHours(23)).minusSeconds(1);
    assertThat(expiry(keys, secret)).isPresent();
    now = now.plus(Duration.ofHours(12));
    assertThat(expiry(keys, secret)).isEmpty();
  }

  @Test
  void sessionEndsAfterSevenDaysOfUse() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    String secret = create(keys, "ci").secret();
    Instant end = START.plus(Duration.ofDays(7));
    for (; now.isBefore(end); now = now.plus(Duration.ofHours(1))) {
      assertThat(expiry(keys, secret)).as(now.toString()).isPresent();
      assertThat(expiry(keys, secret).get()).isBeforeOrEqualTo(end);
    }
    assertThat(expiry(keys, secret)).isEmpty();
  }

  @Test
  void useIsStoredAtMostOnceAMinute() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    String secret = create(keys, "ci").secret();
    String before = settings.all("session").toString();
    now = START.plusSeconds(59);
    assertThat(expiry(keys, secret)).isPresent();
    assertThat(settings.all("session").toString()).isEqualTo(before);
    now = START.plusSeconds(61);
    assertThat(expiry(keys, secret)).isPresent();
    assertThat(settings.all("session").toString()).isNotEqualTo(before);
  }

  @Test
  void sessionSurvivesARestartAndItsSecretIsNotStored() {
    ApiKeys keys = open(Optional.empty());
    String key = keys.create("ci", Scope.USE).secret();
    String secret = create(keys, "ci").secret();
    Sessions.CreatedSession shared =
        keys.sessions()
            .create(
                Credentials.key(key, Optional.empty(), keys).get(),
                Optional.of(token(Duration.ofHours(1))));
    assertThat(settings.scopes.toString()).doesNotContain(secret, key, shared.secret());
    ApiKeys next = open(Optional.empty());
    assertThat(next.sessions().find(secret)).isEqualTo(keys.sessions().find(secret));
    assertThat(next.sessions().find(shared.secret())).contains(shared.session());
    next.sessions().end(next.sessions().find(secret).get());
    assertThat(open(Optional.empty()).sessions().find(secret)).isEmpty();
  }

  @Test
  void sessionEndsWithItsKey() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    String secret = create(keys, "ci").secret();
    keys.revoke("ci");
    assertThat(expiry(keys, secret)).isEmpty();
    keys.create("ci", Scope.ADMIN);
    assertThat(expiry(keys, secret)).as("another key of the same name").isEmpty();
    assertThat(open(Optional.empty()).sessions().find(secret)).isEmpty();
    assertThat(settings.all("session")).isEmpty();
  }

  @Test
  void sessionEndsWhenTheKeyOfTheEnvironmentChanges() {
    ApiKeys keys = open(Optional.of("first-key-of-16-characters"));
    String secret = create(keys, ApiKeys.ENVIRONMENT).secret();
    assertThat(open(Optional.of("first-key-of-16-characters")).sessions().find(secret)).isPresent();
    assertThat(open(Optional.of("other-key-of-16-characters")).sessions().find(secret)).isEmpty();
  }

  @Test
  void sessionOfATokenEndsWithTheToken() {
    ApiKeys keys = open(Optional.empty());
    Sessions.CreatedSession created =
        keys.sessions()
            .create(
                ApiKey.token(Actor.SANDBOX_TOKEN, Scope.READ),
                Optional.of(token(Duration.ofMinutes(30))));
    assertThat(created.session().expiresAt()).isEqualTo(START.plus(Duration.ofMinutes(30)));
    now = START.plus(Duration.ofMinutes(29));
    assertThat(expiry(keys, created.secret())).contains(START.plus(Duration.ofMinutes(30)));
    now = START.plus(Duration.ofMinutes(30));
    assertThat(expiry(keys, created.secret())).isEmpty();
  }

  @Test
  void oldestSessionsOfAKeyEndAtTheLimit() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    keys.create("other", Scope.USE);
    String other = create(keys, "other").secret();
    List<String> secrets = new ArrayList<>();
    for (int i = 0; i < Sessions.MAX_PER_OWNER + 5; i++) {
      now = now.plusSeconds(1);
      secrets.add(create(keys, "ci").secret());
    }
    assertThat(secrets.subList(0, 5)).allMatch(one -> keys.sessions().find(one).isEmpty());
    assertThat(secrets.subList(5, secrets.size()))
        .allMatch(one -> keys.sessions().find(one).isPresent());
    assertThat(keys.sessions().find(other)).as("a session of another key").isPresent();
    assertThat(settings.all("session")).hasSize(Sessions.MAX_PER_OWNER + 1);
  }

  @Test
  void expiredSessionsAreRemovedFromTheLedger() {
    ApiKeys keys = open(Optional.empty());
    keys.create("ci", Scope.USE);
    create(keys, "ci");
    now = START.plus(Duration.ofDays(1));
    create(keys, "ci");
    assertThat(settings.all("session")).hasSize(1);
  }
}
