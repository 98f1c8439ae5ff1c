package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many sandboxes that are due at the same time, with a provider that hangs. */
class ExpiryBurstTest {
  /** More than one read of the ledger returns. */
  private static final int MANY = SandboxEntries.MAX_LIMIT + 200;

  @TempDir Path folder;
  private final FakeProvider hanging = new FakeProvider("crun");
  private final FakeProvider working = new FakeProvider("runc");
  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicInteger hangingNow = new AtomicInteger();
  private final AtomicInteger mostHanging = new AtomicInteger();

  /** Records running sandboxes that have expired. */
  private static void record(EngineFixture fixture, String provider, int number) {
    SandboxId first = new SandboxId(provider);
    fixture
        .engine
        .creator()
        .create(
            SandboxRequest.of(CreateRequest.of(SandboxSpec.builder(first).build(), provider))
                .withFixedId());
    SandboxEntry template = fixture.ledger.sandboxes().find(first).orElseThrow();
    for (int i = 0; i < number; i++) {
      SandboxId id = new SandboxId(provider + i);
      SandboxEntry intent =
          SandboxEntry.intent(
                  id,
                  template.spec().replace('"' + provider + '"', '"' + id.value() + '"'),
                  template.specHash(),
                  provider,
                  template.isolation(),
                  fixture.clock.instant())
              .expiresAt(fixture.clock.instant().plusSeconds(provider.equals("crun") ? 60 : 61))
              .build();
      SandboxEntry stored = fixture.ledger.sandboxes().insert(intent);
      UpdateResult _ =
          fixture
              .ledger
              .sandboxes()
              .update(stored.withState(SandboxState.RUNNING, fixture.clock.instant()));
    }
  }

  private static long open(EngineFixture fixture, String provider) {
    return fixture.ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed()).stream()
        .filter(one -> one.provider().equals(provider))
        .count();
  }

  @Test
  void providerThatHangsDoesNotDelayTheExpiryOfOthers() throws IOException {
    hanging.beforeDestroy =
        _ -> {
          mostHanging.accumulateAndGet(hangingNow.incrementAndGet(), Math::max);
          try {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the engine gives up a call that takes too long
          } finally {
            hangingNow.decrementAndGet();
          }
        };
    try (EngineFixture fixture = new EngineFixture(folder, "", hanging, working)) {
      record(fixture, "crun", MANY); // all of them are due before the others
      record(fixture, "runc", 500);
      fixture.clock.pass(Duration.ofMinutes(2));
      await().untilAsserted(() -> assertThat(open(fixture, "runc")).isOne());
      assertThat(open(fixture, "crun")).isEqualTo(MANY + 1);
      assertThat(mostHanging.get()).isPositive().isLessThanOrEqualTo(32);
      end.countDown();
      await().untilAsserted(() -> assertThat(open(fixture, "crun")).isOne());
    }
  }
}
