package dev.isola.engine.api.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.registry.ProviderWorkers.Work;
import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProviderWorkersTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(10);

  private final ProviderWorkers workers = new ProviderWorkers("test", 2);
  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger interrupted = new AtomicInteger();

  @AfterEach
  void close() {
    end.countDown();
    workers.close();
  }

  private void hang() {
    started.incrementAndGet();
    try {
      end.await();
    } catch (InterruptedException e) {
      interrupted.incrementAndGet();
      Thread.currentThread().interrupt();
    }
  }

  private static List<Work> works(String provider, int number, Runnable action) {
    return IntStream.range(0, number)
        .mapToObj(i -> new Work(provider, new SandboxId("box" + i), action))
        .toList();
  }

  @Test
  void providerThatHangsDoesNotDelayOthers() {
    assertThat(workers.run(works("slow", 5, this::hang), SHORT)).isFalse();
    AtomicInteger done = new AtomicInteger();
    assertThat(workers.run(works("fast", 20, done::incrementAndGet), LONG)).isTrue();
    assertThat(done).hasValue(20);
    assertThat(workers.busy(5)).containsExactly("slow");
    assertThat(workers.pending()).isEqualTo(5);
    await().untilAsserted(() -> assertThat(started).hasValue(2));
    end.countDown();
    await().untilAsserted(() -> assertThat(started).hasValue(5));
    await().until(() -> workers.pending() == 0 && workers.busy(1).isEmpty());
  }

  @Test
  void workThatHasNotEndedIsNotStartedAgain() {
    assertThat(workers.run(works("slow", 1, this::hang), SHORT)).isFalse();
    await().untilAsserted(() -> assertThat(started).hasValue(1));
    assertThat(workers.isPending("slow", new SandboxId("box0"))).isTrue();
    assertThat(workers.run(works("slow", 1, this::hang), LONG)).isTrue();
    assertThat(started).hasValue(1);
    end.countDown();
    await().until(() -> workers.pending() == 0);
    assertThat(workers.run(works("slow", 1, this::hang), LONG)).isTrue();
    assertThat(started).hasValue(2);
  }

  @Test
  void closingInterruptsWork() {
    assertThat(workers.run(works("slow", 4, this::hang), SHORT)).isFalse();
    await().untilAsserted(() -> assertThat(started).hasValue(2));
    workers.close();
    await().until(() -> workers.pending() == 0);
    // What waited may have started when the interrupted work ended, and was interrupted then.
    assertThat(interrupted).hasValue(started.get());
  }
}
