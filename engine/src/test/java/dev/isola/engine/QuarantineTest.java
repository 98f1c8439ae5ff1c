package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Neither an unreadable record nor a provider that violates the contract stops a task or a start.
 */
class QuarantineTest {
  private static final SandboxId BAD = new SandboxId("bad");
  private static final SandboxId GOOD = new SandboxId("good");

  @TempDir Path folder;

  /** Records a running, expired sandbox whose spec is unreadable. */
  private static void plant(EngineFixture fixture) {
    SandboxEntry intent =
        SandboxEntry.intent(
                BAD, "{not json", "hash", "test", Isolation.PROCESS, fixture.clock.instant())
            .expiresAt(fixture.clock.instant().minusSeconds(1))
            .build();
    SandboxEntry stored = fixture.ledger.sandboxes().insert(intent);
    assertThat(
            fixture
                .ledger
                .sandboxes()
                .update(stored.withState(SandboxState.RUNNING, fixture.clock.instant())))
        .isInstanceOf(UpdateResult.Written.class);
  }

  private static void create(EngineFixture fixture, SandboxId id, Duration ttl) {
    SandboxSpec spec = SandboxSpec.builder(id).build();
    fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, "test").withTtl(ttl)).withFixedId());
  }

  @Test
  void unreadableRecordIsReportedAndStopsNeitherStartNorTasks() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      create(fixture, GOOD, Duration.ofSeconds(60));
      fixture.restart(() -> plant(fixture));

      SandboxView bad = fixture.engine.sandboxes().view(BAD);
      assertThat(bad.state()).isEqualTo(SandboxState.ERROR);
      assertThat(bad.cause()).hasValueSatisfying(why -> assertThat(why).contains("cannot be read"));
      assertThat(fixture.engine.sandboxes().list(SandboxListFilter.ALL, "", 10).entries())
          .extracting(SandboxView::id)
          .contains(BAD, GOOD);
      assertThat(fixture.engine.events().after(0, 1000))
          .anyMatch(e -> e.type().equals("quarantine") && e.sandbox().orElseThrow().equals(BAD));
      assertThat(fixture.engine.metrics().scrape()).contains("isola_sandboxes_quarantined 1.0");

      // Expiry continues for others, although the unreadable one has been due for longer.
      fixture.clock.pass(Duration.ofMinutes(2));
      await().until(() -> fixture.engine.sandboxes().view(GOOD).state() == SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(BAD).state())
          .as("unchanged")
          .isEqualTo(SandboxState.ERROR);

      fixture.engine.sandboxes().destroy(BAD, DestroyOptions.FORCE);
      assertThat(fixture.engine.sandboxes().view(BAD).state()).isEqualTo(SandboxState.DESTROYED);
    }
  }

  @Test
  void sandboxWithAnUnreadableRecordIsNotRemovedAsUnknown() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    AtomicInteger destroyed = new AtomicInteger();
    provider.beforeDestroy = id -> destroyed.incrementAndGet();
    try (EngineFixture fixture = new EngineFixture(folder, "", provider)) {
      fixture.restart(
          () -> {
            SandboxEntry stored =
                fixture
                    .ledger
                    .sandboxes()
                    .insert(
                        SandboxEntry.intent(
                                BAD, "[]", "h", "gvisor", Isolation.KERNEL, fixture.clock.instant())
                            .build());
            UpdateResult _ =
                fixture
                    .ledger
                    .sandboxes()
                    .update(stored.withState(SandboxState.RUNNING, fixture.clock.instant()));
            provider.sightings =
                List.of(
                    new InventoryItem(
                        BAD, SandboxState.RUNNING, fixture.clock.instant(), Map.of()));
          });
      assertThat(fixture.engine.sandboxes().view(BAD).state()).isEqualTo(SandboxState.ERROR);
      assertThat(destroyed).hasValue(0);
    }
  }

  @Test
  void contractViolationDoesNotPreventTheStart() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    provider.inventoryFailure = () -> new IllegalStateException("broken");
    provider.beforeDestroy =
        id -> {
          throw new UnsupportedOperationException("not today");
        };
    try (EngineFixture fixture = new EngineFixture(folder, "", provider)) {
      create(fixture, GOOD, Duration.ofSeconds(60));
      fixture.restart(() -> {});
      assertThat(fixture.engine.sandboxes().view(GOOD).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void clientTagsCannotUseTheReservedPrefix() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      CreateRequest request =
          CreateRequest.of(SandboxSpec.builder(GOOD).build(), "test")
              .withTags(Map.of("isola.suspended", "x"));
      assertThatThrownBy(() -> fixture.engine.creator().create(SandboxRequest.of(request)))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("isola.suspended");
    }
  }

  /**
   * Only files are left: the memory is free again, and removal is retried until nothing is left.
   */
  @Test
  void destroyThatLeavesOnlyFilesReleasesTheReservation() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    AtomicInteger destroyed = new AtomicInteger();
    provider.beforeDestroy =
        id -> {
          if (destroyed.incrementAndGet() == 1) {
            throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "File name too long", "").exception();
          }
        };
    try (EngineFixture fixture =
        new EngineFixture(folder, "reconcile:\n  interval: 1s\n", provider)) {
      SandboxSpec spec = SandboxSpec.builder(GOOD).build();
      fixture
          .engine
          .creator()
          .create(SandboxRequest.of(CreateRequest.of(spec, "gvisor")).withFixedId());
      assertThat(fixture.engine.reserved().reserved().memoryMb()).isPositive();

      fixture.engine.sandboxes().destroy(GOOD, DestroyOptions.FORCE);

      assertThat(fixture.engine.reserved().reserved().memoryMb()).isZero();
      SandboxView gone = fixture.engine.sandboxes().view(GOOD);
      assertThat(gone.state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(gone.cause())
          .hasValueSatisfying(why -> assertThat(why).contains("File name too long"));
      provider.sightings =
          List.of(
              new InventoryItem(GOOD, SandboxState.DESTROYED, fixture.clock.instant(), Map.of()));
      await().atMost(Duration.ofSeconds(30)).until(() -> destroyed.get() >= 2);
    }
  }
}
