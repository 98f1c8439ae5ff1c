package dev.isola.compat.e2b.envd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Unauthenticated;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UrlSignatureTest {
  private static final String TOKEN = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
  private static final String GOOD = "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E";

  private static UrlSignature of(String path, String operation, Optional<String> expiration) {
    return new UrlSignature(GOOD, path, operation, "user", expiration);
  }

  @Test
  void signatureMatchesTheOneOfClients() {
    assertThat(of("hello.txt", "read", Optional.empty()).compute(TOKEN)).isEqualTo(GOOD);
    assertThat(of("hello.txt", "read", Optional.empty()).isValidFor(TOKEN)).isTrue();
  }

  @Test
  void signatureIsValidForNothingElse() {
    assertThat(of("hello.txt", "write", Optional.empty()).isValidFor(TOKEN)).isFalse();
    assertThat(of("hello.tx", "read", Optional.empty()).isValidFor(TOKEN)).isFalse();
    assertThat(of("hello.txt", "read", Optional.of("1")).isValidFor(TOKEN)).isFalse();
    assertThat(of("hello.txt", "read", Optional.empty()).isValidFor(TOKEN + "x")).isFalse();
  }

  @Test
  void signatureExpires() {
    Instant now = Instant.ofEpochSecond(1000);
    of("x", "read", Optional.of("1001")).checkNotExpired(now);
    of("x", "read", Optional.empty()).checkNotExpired(now);
    assertThatThrownBy(() -> of("x", "read", Optional.of("999")).checkNotExpired(now))
        .isInstanceOf(Unauthenticated.class)
        .hasMessageContaining("signature is already expired");
    assertThatThrownBy(() -> of("x", "read", Optional.of("never")).checkNotExpired(now))
        .isInstanceOf(Unauthenticated.class);
  }
}
