package dev.isola.egress.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** G8: one sandbox cannot take name resolution from others. */
class BoundedResolverTest {
  private static final List<InetAddress> FOUND = List.of(InetAddress.ofLiteral("192.0.2.1"));
  private static final int CONCURRENT = 8;

  private final CountDownLatch end = new CountDownLatch(1);
  private final Semaphore answers = new Semaphore(0);
  private final AtomicInteger asked = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();

  @AfterEach
  void close() throws InterruptedException {
    end.countDown();
    answers.release(10_000);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private BoundedResolver resolver(Duration timeout) {
    return new BoundedResolver(
        name -> {
          if (name.startsWith("silent")) {
            asked.incrementAndGet();
            answers.acquireUninterruptibly();
          }
          return FOUND;
        },
        CONCURRENT,
        timeout);
  }

  /** Asks so often at once, each time on a thread of its own. */
  private void ask(NameResolver share, int times) {
    for (int i = 0; i < times; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      share.resolve("silent.example");
                    } catch (UnknownHostException e) {
                      // No name server answers before the test ends.
                    }
                  }));
    }
  }

  private void awaitAsked(int count) {
    await().untilAsserted(() -> assertThat(asked).hasValue(count));
  }

  @Test
  void sandboxThatAsksASilentNameServerTakesNothingFromOthers() throws Exception {
    BoundedResolver resolver = resolver(Duration.ofSeconds(5));
    ask(resolver.share(), 200);
    awaitAsked(2);

    for (int sandbox = 0; sandbox < 50; sandbox++) {
      assertThat(resolver.share().resolve("ok.example")).isEqualTo(FOUND);
    }
    assertThat(asked).hasValue(2);
  }

  @Test
  void severalSuchSandboxesLeaveOneLookupForEachOther() throws Exception {
    BoundedResolver resolver = resolver(Duration.ofSeconds(5));
    ask(resolver.share(), 200);
    awaitAsked(2);
    for (int sandbox = 1; sandbox <= 3; sandbox++) {
      int before = asked.get();
      ask(resolver.share(), 200);
      await().untilAsserted(() -> assertThat(asked.get()).isGreaterThan(before));
    }
    assertThat(resolver.share().resolve("ok.example")).isEqualTo(FOUND);
  }

  @Test
  void sandboxesTakeTurns() {
    BoundedResolver resolver = resolver(Duration.ofMinutes(1));
    AtomicInteger others = new AtomicInteger();
    List<NameResolver> shares = new ArrayList<>();
    for (int sandbox = 1; sandbox <= CONCURRENT; sandbox++) {
      NameResolver share = resolver.share();
      shares.add(share);
      ask(share, 1);
      awaitAsked(sandbox);
    }
    shares.forEach(share -> ask(share, 20));
    awaitAllWait();
    NameResolver late = resolver.share();
    threads.add(
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    others.addAndGet(late.resolve("ok.example").size());
                  } catch (UnknownHostException e) {
                    throw new IllegalStateException(e);
                  }
                }));
    awaitAllWait();
    // Each answer frees the lookup of a sandbox that has others waiting, and of 161 that wait the
    // late one is at most the ninth.
    for (int answer = 1; answer <= CONCURRENT; answer++) {
      int next = CONCURRENT + answer;
      answers.release();
      await().until(() -> asked.get() == next || others.get() == 1);
    }
    answers.release();
    await().untilAsserted(() -> assertThat(others).hasValue(1));
  }

  private void awaitAllWait() {
    await()
        .until(
            () ->
                threads.stream()
                    .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
  }

  @Test
  void waitingLookupsAreGivenUp() {
    BoundedResolver resolver = resolver(Duration.ofMillis(50));
    NameResolver share = resolver.share();
    ask(share, 2);
    awaitAsked(2);

    assertThatThrownBy(() -> share.resolve("silent.example"))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("too many lookups are in progress");
    answers.release(2);
    await()
        .ignoreExceptions() // a busy machine answers later than the timeout
        .untilAsserted(() -> assertThat(share.resolve("ok.example")).isEqualTo(FOUND));
    assertThat(asked).as("what was given up is not asked").hasValue(2);
  }

  @Test
  void failureOfANameServerIsToldAndFreesTheLookup() {
    NameResolver share =
        new BoundedResolver(
                name -> {
                  throw new UnknownHostException(name);
                },
                1,
                Duration.ofSeconds(5))
            .share();
    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> share.resolve("a.example")).hasMessageContaining("has no address");
    }
  }
}
