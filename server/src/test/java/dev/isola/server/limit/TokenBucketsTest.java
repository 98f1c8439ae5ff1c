package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TokenBucketsTest {
  private final AtomicLong now = new AtomicLong();
  private final TokenBuckets buckets = new TokenBuckets(2, 3, now::get);

  private void pass(double seconds) {
    now.addAndGet((long) (seconds * 1e9));
  }

  @Test
  void burstIsAllowedAndThenOnlyTheRate() {
    for (int i = 0; i < 3; i++) {
      assertThat(buckets.take("a")).isZero();
    }
    assertThat(buckets.take("a")).isEqualTo(0.5);
    pass(0.25);
    assertThat(buckets.take("a")).isEqualTo(0.25);
    pass(0.25);
    assertThat(buckets.take("a")).isZero();
    assertThat(buckets.take("a")).isPositive();
  }

  @Test
  void idleTimeAccumulatesAtMostOneBurst() {
    pass(1000);
    for (int i = 0; i < 3; i++) {
      assertThat(buckets.take("a")).isZero();
    }
    assertThat(buckets.take("a")).isPositive();
  }

  @Test
  void bucketsAreIndependent() {
    for (int i = 0; i < 10; i++) {
      buckets.take("a");
    }
    assertThat(buckets.take("b")).isZero();
  }

  @Test
  void secondsUntilTokenTakesNoToken() {
    for (int i = 0; i < 10; i++) {
      assertThat(buckets.secondsUntilToken("a")).isZero();
    }
    assertThat(buckets.take("a")).isZero();
  }

  @Test
  void numberOfBucketsIsBounded() {
    for (int i = 0; i < 50_000; i++) {
      buckets.take("address " + i);
    }
    assertThat(buckets.size()).isLessThanOrEqualTo(10_000);
  }
}
