package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TaskSchedulerTest {
  private static final Duration PAUSE = Duration.ofMillis(1);

  private final FakeLog log = new FakeLog();

  @Test
  void failedTaskIsLoggedAndRunsAgain() {
    AtomicInteger runs = new AtomicInteger();
    try (TaskScheduler schedule = new TaskScheduler(() -> true, log)) {
      schedule.every(
          PAUSE,
          "sweep",
          () -> {
            if (runs.incrementAndGet() == 1) {
              throw new IllegalStateException("first");
            }
            if (runs.get() == 2) {
              throw new AssertionError("second");
            }
          });
      await().until(() -> runs.get() > 2);
    }
    assertThat(log.warnings)
        .satisfiesExactly(
            first -> assertThat(first).contains("sweep", "first"),
            second -> assertThat(second).contains("sweep", "second"));
  }

  @Test
  void closeInterruptsRecurringTasks() throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    try (TaskScheduler schedule = new TaskScheduler(() -> true, log)) {
      schedule.every(
          PAUSE,
          "sweep",
          () -> {
            started.countDown();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              interrupted.countDown();
              Thread.currentThread().interrupt();
            }
          });
      assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
  }
}
