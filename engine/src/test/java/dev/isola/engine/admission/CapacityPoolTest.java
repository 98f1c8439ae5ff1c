package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.FakeClock;
import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.Resources;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.LimitExceeded;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class CapacityPoolTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  @Test
  void requestLargerThanTheCapacityFailsImmediately() {
    CapacityPool pool = new CapacityPool(Resources.of(2, 2048), LONG, new FakeClock());
    assertThatThrownBy(() -> pool.admit("p", Resources.of(1, 4096)))
        .isInstanceOfSatisfying(
            LimitExceeded.class,
            e ->
                assertThat(e.context())
                    .containsEntry("resource", "memory")
                    .containsEntry("limit", "2048")
                    .containsEntry("actual", "4096"))
        .hasMessage(
            "the sandbox requests 4096 MB and 1 cpu, and this installation has 2048 MB and 2 cpu"
                + " in total; request less, or raise admission.memory_mb and admission.cpu");
    assertThatThrownBy(() -> pool.admit("p", Resources.of(2.5, 1)))
        .hasMessageContaining("1 MB and 2.5 cpu");
    assertThat(pool.usage().waiting()).isZero();
  }

  @Test
  void timeoutReportsFreeResources() {
    CapacityPool pool =
        new CapacityPool(Resources.of(2, 2048), Duration.ofMillis(50), InstantSource.system());
    try (Reservation _ = pool.admit("p", Resources.of(1.5, 1024))) {
      assertThatThrownBy(() -> pool.admit("p", Resources.of(1, 512)))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContainingAll(
              "requests 1 cpu, and 0.5 of 2 cpu (admission.cpu) are free",
              "waited 0 s",
              "destroy a sandbox, request less, retry later");
      assertThat(pool.usage().waiting()).isZero();
    }
    assertThat(pool.usage().reserved()).isEqualTo(Resources.NONE);
  }

  @Test
  void zeroTimeoutDoesNotWait() {
    CapacityPool pool = new CapacityPool(Resources.of(1, 10), Duration.ZERO, new FakeClock());
    Reservation _ = pool.admit("p", Resources.of(1, 10));
    assertThatThrownBy(() -> pool.admit("p", Resources.of(1, 10)))
        .isInstanceOf(LimitExceeded.class);
  }

  @Test
  void admitNowDoesNotOvertakeWaitingRequests() {
    CapacityPool pool = new CapacityPool(Resources.of(2, 20), LONG, InstantSource.system());
    Reservation first = pool.admit("p", Resources.of(1, 10));
    Thread waiting = Thread.startVirtualThread(() -> pool.admit("p", Resources.of(2, 20)).close());
    await().until(() -> pool.usage().waiting() == 1);
    assertThatThrownBy(() -> pool.admitNow("p", Resources.of(1, 10)))
        .as("fits, but another request is waiting")
        .isInstanceOf(LimitExceeded.class);
    assertThat(pool.usage().waiting()).isEqualTo(1);
    first.close();
    await().until(() -> !waiting.isAlive());
    pool.admitNow("p", Resources.of(2, 20)).close();
  }

  @Test
  void releaseAdmitsTheNextRequest() throws Exception {
    CapacityPool pool = new CapacityPool(Resources.of(1, 1024), LONG, InstantSource.system());
    Reservation first = pool.admit("p", Resources.of(1, 1024));
    AtomicReference<Reservation> second = new AtomicReference<>();
    Thread waiting =
        Thread.startVirtualThread(() -> second.set(pool.admit("p", Resources.of(1, 1024))));
    await().until(() -> pool.usage().waiting() == 1);
    first.close();
    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    first.close();
    first.close();
    assertThat(pool.usage().free()).as("released once").isEqualTo(Resources.NONE);
  }

  @Test
  void interruptedRequestLeavesTheQueue() throws Exception {
    CapacityPool pool = new CapacityPool(Resources.of(1, 1024), LONG, InstantSource.system());
    Reservation _ = pool.admit("p", Resources.of(1, 1024));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.startVirtualThread(
            () -> {
              try {
                pool.admit("p", Resources.of(1, 1));
              } catch (DeadlineExceeded e) {
                thrown.set(e);
              }
            });
    await().until(() -> pool.usage().waiting() == 1);
    waiting.interrupt();
    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(thrown.get()).hasMessageContaining("interrupted while waiting for capacity");
    assertThat(pool.usage().waiting()).isZero();
  }

  @Test
  @SuppressWarnings("ThreadPriorityCheck") // Gives other threads a chance to interfere.
  void thousandThreadsNeverExceedTheCapacity() throws Exception {
    Resources room = Resources.of(8, 8192);
    CapacityPool pool = new CapacityPool(room, LONG, InstantSource.system());
    AtomicLong memory = new AtomicLong();
    AtomicLong cpu = new AtomicLong();
    AtomicInteger served = new AtomicInteger();
    List<String> broken = new CopyOnWriteArrayList<>();
    race(
        1000,
        () -> {
          ThreadLocalRandom random = ThreadLocalRandom.current();
          for (int i = 0; i < 20; i++) {
            Resources requested =
                Resources.of(0.1 + random.nextInt(40) / 10.0, 1 + random.nextInt(4096));
            Reservation reservation = pool.admit("p", requested);
            try {
              if (memory.addAndGet(requested.memoryMb()) > room.memoryMb()
                  || cpu.addAndGet(requested.milliCpu()) > room.milliCpu()) {
                broken.add("more was promised than there is");
              }
              Thread.yield();
              memory.addAndGet(-requested.memoryMb());
              cpu.addAndGet(-requested.milliCpu());
              served.incrementAndGet();
            } finally {
              reservation.close();
              reservation.close();
            }
          }
        });
    assertThat(broken).isEmpty();
    assertThat(served).hasValue(20_000);
    assertThat(pool.usage()).isEqualTo(new CapacityUsage(room, Resources.NONE, room, 0));
  }

  /** Admissions, timeouts and interrupts coincide; no reservation may be lost or leaked. */
  @Test
  @SuppressWarnings("ThreadPriorityCheck") // as above
  void concurrentTimeoutsAndAdmissionsLoseNothing() throws Exception {
    Resources room = Resources.of(2, 2048);
    CapacityPool pool = new CapacityPool(room, Duration.ofMillis(2), InstantSource.system());
    AtomicInteger served = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    race(
        1000,
        () -> {
          for (int i = 0; i < 10; i++) {
            if (ThreadLocalRandom.current().nextInt(10) == 0) {
              Thread.currentThread().interrupt();
            }
            try (Reservation _ = pool.admit("p", Resources.of(1, 1024))) {
              served.incrementAndGet();
              Thread.yield();
            } catch (LimitExceeded | DeadlineExceeded e) {
              refused.incrementAndGet();
            }
            boolean _ = Thread.interrupted();
          }
        });
    assertThat(served.get() + refused.get()).isEqualTo(10_000);
    assertThat(served.get()).isPositive();
    assertThat(pool.usage()).isEqualTo(new CapacityUsage(room, Resources.NONE, room, 0));
  }

  private static void race(int threads, Runnable runner) throws InterruptedException {
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      running.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                runner.run();
              }));
    }
    start.countDown();
    for (Thread thread : running) {
      assertThat(thread.join(Duration.ofSeconds(60))).as("no thread waits forever").isTrue();
    }
  }
}
