package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RateLimiterTest {
  private long now;

  private RateLimiter limiter(long failures) {
    return new RateLimiter(new RequestLimits(0, 1, failures, 0, 0), () -> now);
  }

  @Test
  void failuresOfOneAddressAreReportedUpToItsLimit() {
    RateLimiter limiter = limiter(3);
    for (int i = 0; i < 3; i++) {
      limiter.checkNotBlocked("192.0.2.1");
      assertThat(limiter.recordAuthFailure("192.0.2.1")).isTrue();
    }
    assertThatThrownBy(() -> limiter.checkNotBlocked("192.0.2.1"))
        .isInstanceOf(SandboxException.class);
    assertThat(limiter.recordAuthFailure("192.0.2.1")).isFalse();
    assertThat(limiter.recordAuthFailure("192.0.2.2")).as("another address").isTrue();
    now += Duration.ofSeconds(20).toNanos();
    limiter.checkNotBlocked("192.0.2.1");
  }

  /** A client has all addresses of its network. */
  @Test
  void addressesOfOneIpv6NetworkShareALimit() {
    RateLimiter limiter = limiter(3);
    for (int i = 0; i < 3; i++) {
      assertThat(limiter.recordAuthFailure("[2001:db8:0:0:0:0:0:" + i + "]")).isTrue();
    }
    assertThat(limiter.recordAuthFailure("[2001:db8:0:0:0:0:0:9]")).isFalse();
  }

  /** A flood from many addresses must not displace other entries of the audit log. */
  @Test
  void failuresOfAllAddressesAreReportedUpToALimit() {
    RateLimiter limiter = limiter(60);
    long reported =
        IntStream.range(0, 5_000)
            .filter(i -> limiter.recordAuthFailure("10.0." + i / 250 + "." + i % 250))
            .count();
    assertThat(reported).isEqualTo(600);
    now += Duration.ofSeconds(1).toNanos();
    assertThat(limiter.recordAuthFailure("192.0.2.1")).isTrue();
    assertThat(limiter.recordAuthFailure("192.0.2.1")).isFalse();
  }
}
