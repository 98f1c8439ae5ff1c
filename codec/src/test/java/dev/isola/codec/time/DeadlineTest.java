package dev.isola.codec.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadlineTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration INTERVAL = Duration.ofNanos(1);

  @AfterEach
  void clearInterrupt() {
    boolean _ = Thread.interrupted();
  }

  @Test
  void deadlineInThePastIsOverAndLeavesOneMillisecond() {
    Deadline past = Deadline.in(Duration.ofSeconds(-1));
    assertThat(past.over()).isTrue();
    assertThat(past.left()).isEqualTo(Duration.ofMillis(1));
    assertThat(past.leftNanos()).isNotPositive();
    assertThat(Deadline.in(Duration.ZERO).over()).isTrue();
  }

  @Test
  void deadlineInTheFutureHasTimeLeft() throws IOException {
    Deadline future = Deadline.in(HOUR);
    assertThat(future.over()).isFalse();
    assertThat(future.left()).isPositive().isLessThanOrEqualTo(HOUR);
    assertThat(future.leftOrElseThrow(IOException::new)).isPositive();
    assertThat(future.whole()).isEqualTo(HOUR);
    assertThatThrownBy(() -> Deadline.in(Duration.ZERO).leftOrElseThrow(IOException::new))
        .isInstanceOf(IOException.class);
  }

  @Test
  void longestTimeDoesNotOverflow() {
    Deadline never = Deadline.in(Duration.ofSeconds(Long.MAX_VALUE));
    assertThat(never.over()).isFalse();
    assertThat(never.left()).isGreaterThan(Duration.ofDays(36_000));
  }

  @Test
  void withinReturnsTheEarlierDeadline() {
    Deadline hour = Deadline.in(HOUR);
    assertThat(hour.within(Duration.ofHours(2))).isSameAs(hour);
    assertThat(hour.within(Duration.ofMinutes(1)).whole()).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void awaitTestsUntilTheConditionHolds() {
    AtomicInteger tests = new AtomicInteger();
    assertThat(Deadline.in(HOUR).await(INTERVAL, () -> tests.incrementAndGet() == 3)).isTrue();
    assertThat(tests).hasValue(3);
  }

  @Test
  void awaitTestsOnceIfTheDeadlineIsOver() {
    AtomicInteger tests = new AtomicInteger();
    Deadline over = Deadline.in(Duration.ZERO);
    assertThat(over.await(HOUR, () -> tests.incrementAndGet() == 2)).isFalse();
    assertThat(tests).hasValue(1);
    assertThat(over.await(HOUR, () -> true)).isTrue();
  }

  @Test
  void awaitPassesTheExceptionOfTheCondition() {
    assertThatThrownBy(
            () ->
                Deadline.in(HOUR)
                    .await(
                        INTERVAL,
                        () -> {
                          throw new IOException("unknown");
                        }))
        .isInstanceOf(IOException.class);
  }

  @Test
  void interruptEndsAwaitAndKeepsItsStatus() {
    Thread.currentThread().interrupt();
    assertThat(Deadline.in(HOUR).await(HOUR, () -> false)).isFalse();
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void interruptDuringAPauseEndsIt() {
    Thread waiting = Thread.currentThread();
    AtomicInteger tests = new AtomicInteger();
    boolean held =
        Deadline.in(HOUR)
            .await(
                HOUR,
                () -> {
                  if (tests.incrementAndGet() == 1) {
                    waiting.interrupt();
                  }
                  return false;
                });
    assertThat(held).isFalse();
    assertThat(tests).hasValue(1);
  }

  @Test
  void awaitUninterruptiblyContinuesAfterAnInterrupt() {
    Thread waiting = Thread.currentThread();
    List<Boolean> statuses = new ArrayList<>();
    boolean held =
        Deadline.in(HOUR)
            .awaitUninterruptibly(
                INTERVAL,
                () -> {
                  statuses.add(Thread.currentThread().isInterrupted());
                  waiting.interrupt();
                  return statuses.size() == 3;
                });
    assertThat(held).isTrue();
    assertThat(statuses).containsExactly(false, false, false);
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void awaitUninterruptiblyEndsWithTheDeadline() {
    assertThat(Deadline.in(Duration.ZERO).awaitUninterruptibly(INTERVAL, () -> false)).isFalse();
  }
}
