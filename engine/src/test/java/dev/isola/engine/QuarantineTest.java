package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SandboxRequest;
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

/** Neither a bad record nor a provider that breaks the contract stops a loop or a start. */
class QuarantineTest {
  private static final SandboxId BAD = new SandboxId("bad");
  private static final SandboxId GOOD = new SandboxId("good");

  @TempDir Path folder;

  /** Writes a running sandbox whose spec cannot be read and whose time is up. */
  private static void plant(EngineFixture house) {
    SandboxEntry intent =
        SandboxEntry.intent(
                BAD, "{not json", "hash", "test", Isolation.PROCESS, house.clock.instant())
            .expiresAt(house.clock.instant().minusSeconds(1))
            .build();
    SandboxEntry stored = house.ledger.sandboxes().insert(intent);
    assertThat(
            house
                .ledger
                .sandboxes()
                .update(stored.withState(SandboxState.RUNNING, house.clock.instant())))
        .isInstanceOf(UpdateResult.Written.class);
  }

  private static void create(EngineFixture house, SandboxId id, Duration ttl) {
    SandboxSpec spec = SandboxSpec.builder(id).build();
    house.engine.create(
        SandboxRequest.of(CreateRequest.of(spec, "test").withTtl(ttl)).withFixedId());
  }

  @Test
  void anUnreadableRecordStopsNeitherAStartNorALoopAndIsReported() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      create(house, GOOD, Duration.ofSeconds(60));
      house.restart(() -> plant(house));

      SandboxView bad = house.engine.view(BAD);
      assertThat(bad.state()).isEqualTo(SandboxState.ERROR);
      assertThat(bad.cause()).hasValueSatisfying(why -> assertThat(why).contains("cannot be read"));
      assertThat(house.engine.list(SandboxListFilter.ALL, "", 10).entries())
          .extracting(SandboxView::id)
          .contains(BAD, GOOD);
      assertThat(house.engine.events().after(0, 1000))
          .anyMatch(e -> e.type().equals("quarantine") && e.sandbox().orElseThrow().equals(BAD));
      assertThat(house.engine.metrics().scrape()).contains("isola_sandboxes_quarantined 1.0");

      // Expiry goes on for the others, though the bad one has been due for longer.
      house.clock.pass(Duration.ofMinutes(2));
      await().until(() -> house.engine.view(GOOD).state() == SandboxState.DESTROYED);
      assertThat(house.engine.view(BAD).state()).as("left as it is").isEqualTo(SandboxState.ERROR);

      house.engine.destroy(BAD, DestroyOptions.FORCE);
      assertThat(house.engine.view(BAD).state()).isEqualTo(SandboxState.DESTROYED);
    }
  }

  @Test
  void aSandboxWithAnUnreadableRecordIsNotRemovedAsUnknown() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    AtomicInteger destroyed = new AtomicInteger();
    provider.beforeDestroy = id -> destroyed.incrementAndGet();
    try (EngineFixture house = new EngineFixture(folder, "", provider)) {
      house.restart(
          () -> {
            SandboxEntry stored =
                house
                    .ledger
                    .sandboxes()
                    .insert(
                        SandboxEntry.intent(
                                BAD, "[]", "h", "gvisor", Isolation.KERNEL, house.clock.instant())
                            .build());
            UpdateResult _ =
                house
                    .ledger
                    .sandboxes()
                    .update(stored.withState(SandboxState.RUNNING, house.clock.instant()));
            provider.sightings =
                List.of(
                    new InventoryItem(BAD, SandboxState.RUNNING, house.clock.instant(), Map.of()));
          });
      assertThat(house.engine.view(BAD).state()).isEqualTo(SandboxState.ERROR);
      assertThat(destroyed).hasValue(0);
    }
  }

  @Test
  void aProviderThatBreaksTheContractStopsNoStart() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    provider.inventoryFailure = () -> new IllegalStateException("broken");
    provider.beforeDestroy =
        id -> {
          throw new UnsupportedOperationException("not today");
        };
    try (EngineFixture house = new EngineFixture(folder, "", provider)) {
      create(house, GOOD, Duration.ofSeconds(60));
      house.restart(() -> {});
      assertThat(house.engine.view(GOOD).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void tagsOfCallersCannotBeginWithTheReservedPrefix() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      CreateRequest request =
          CreateRequest.of(SandboxSpec.builder(GOOD).build(), "test")
              .withTags(Map.of("isola.rests-after-ms", "x"));
      assertThatThrownBy(() -> house.engine.create(SandboxRequest.of(request)))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("isola.rests-after-ms");
    }
  }

  /** Only files are left: the memory is free again, and removing is tried until nothing is left. */
  @Test
  void aDestroyThatFailsOnFilesAloneReleasesWhatTheSandboxHeld() throws IOException {
    FakeProvider provider = new FakeProvider("gvisor");
    AtomicInteger destroyed = new AtomicInteger();
    provider.beforeDestroy =
        id -> {
          if (destroyed.incrementAndGet() == 1) {
            throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "File name too long", "").exception();
          }
        };
    try (EngineFixture house =
        new EngineFixture(folder, "reconcile:\n  interval: 1s\n", provider)) {
      SandboxSpec spec = SandboxSpec.builder(GOOD).build();
      house.engine.create(SandboxRequest.of(CreateRequest.of(spec, "gvisor")).withFixedId());
      assertThat(house.engine.reserved().reserved().memoryMb()).isPositive();

      house.engine.destroy(GOOD, DestroyOptions.FORCE);

      assertThat(house.engine.reserved().reserved().memoryMb()).isZero();
      SandboxView gone = house.engine.view(GOOD);
      assertThat(gone.state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(gone.cause())
          .hasValueSatisfying(why -> assertThat(why).contains("File name too long"));
      provider.sightings =
          List.of(new InventoryItem(GOOD, SandboxState.DESTROYED, house.clock.instant(), Map.of()));
      await().atMost(Duration.ofSeconds(30)).until(() -> destroyed.get() >= 2);
    }
  }
}
