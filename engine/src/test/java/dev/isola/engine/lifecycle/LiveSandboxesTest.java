package dev.isola.engine.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeClock;
import dev.isola.engine.FakeLog;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveSandboxesTest {
  private static final SandboxId ONE = new SandboxId("one");
  private static final SandboxId TWO = new SandboxId("two");
  private static final Duration SHORT = Duration.ofMillis(1);

  @TempDir Path folder;
  private final FakeClock clock = new FakeClock();
  private final FakeProvider provider = new FakeProvider("docker");
  private final ProviderRegistry registry =
      ProviderRegistry.open(
          List.of(provider),
          Map.of(),
          name -> new ProviderContext(new InstanceId("live1234"), folder, clock),
          clock,
          new FakeLog());
  private final AdmissionControl admission =
      new AdmissionControl(
          new CapacityPool(new Resources(10_000, 10_000), Duration.ZERO, clock), Map.of());
  private Runnable onAttach = () -> {};
  private final LiveSandboxes live =
      new LiveSandboxes(registry, admission, new Networks(), Ownership.ALONE);

  private final class Networks implements SandboxNetworks {
    @Override
    public void attach(Sandbox sandbox, SandboxSpec spec, String name) {
      onAttach.run();
    }

    @Override
    public Usage withTraffic(SandboxId id, Usage usage) {
      return usage;
    }

    @Override
    public void detach(SandboxId id) {}
  }

  @BeforeEach
  void findSandboxes() {
    provider.findsAll = true;
  }

  @AfterEach
  void close() {
    registry.close();
  }

  private SandboxEntry running() {
    SandboxSpec spec = SandboxSpec.builder(ONE).build();
    return SandboxEntry.intent(
            ONE,
            SpecCodec.encode(CreateRequest.auto(spec)),
            "hash",
            "docker",
            Isolation.CONTAINER,
            clock.instant())
        .state(SandboxState.RUNNING)
        .build();
  }

  @Test
  void attachedSandboxIsFoundWithoutTheLedgerOnceItWasUsed() {
    assertThat(live.find(ONE)).isEmpty();
    Sandbox attached = live.get(running());
    assertThat(live.all()).containsExactly(attached);
    assertThat(admission.reserved("docker")).isNotEqualTo(Resources.NONE);
    assertThat(live.get(running())).isSameAs(attached);
    assertThat(live.find(ONE)).contains(new LiveSandboxes.AttachedSandbox(attached, "docker"));
    live.invalidate(ONE);
    assertThat(live.find(ONE)).isEmpty();
    assertThat(live.contains(ONE)).isTrue();
  }

  @Test
  void removedSandboxLeavesNothing() {
    live.beginTransition(ONE);
    Sandbox _ = live.get(running());
    live.markRebooted(ONE);
    long first = live.bootGeneration(ONE);
    live.markRebooted(ONE);
    assertThat(live.bootGeneration(ONE)).isGreaterThan(first);
    live.remove(ONE);
    assertThat(live.contains(ONE)).isFalse();
    assertThat(live.bootGeneration(ONE)).isZero();
    assertThat(admission.reserved("docker")).isEqualTo(Resources.NONE);
    assertThat(live.isInTransition(ONE)).as("its creation or suspension goes on").isTrue();
    live.endTransition(ONE);
    assertThat(live.isInTransition(ONE)).isFalse();
  }

  @Test
  void sandboxIsNotUsedWhileItIsDestroyed() {
    Sandbox attached = live.get(running());
    live.beginDestroy(ONE);
    assertThatThrownBy(() -> live.get(running())).isInstanceOf(Gone.class);
    assertThat(live.find(ONE)).isEmpty();
    live.cancelDestroy(ONE);
    assertThat(live.get(running())).isSameAs(attached);
  }

  /** A request would otherwise use it as running, although the ledger records it as paused. */
  @Test
  void sandboxIsNotFoundWithoutTheLedgerWhileItIsSuspended() {
    Sandbox attached = live.get(running());
    assertThat(live.get(running())).isSameAs(attached); // its second use
    assertThat(live.find(ONE)).isPresent();
    try (LiveSandboxes.Operation _ = live.begin(ONE, ExclusiveOperation.SUSPENSION, SHORT)) {
      assertThat(live.find(ONE)).isEmpty();
    }
    assertThat(live.find(ONE)).isPresent();
  }

  /** Otherwise its reservation would be held until the server stops. */
  @Test
  void sandboxThatIsDestroyedWhileAThreadAttachesIsNotKept() {
    onAttach = () -> live.remove(ONE);
    Sandbox _ = live.get(running());
    assertThat(live.contains(ONE)).isFalse();
    assertThat(admission.reserved("docker")).isEqualTo(Resources.NONE);
  }

  @Test
  void oneThreadAtATimeCarriesOutAnOperation() throws Exception {
    ExclusiveOperation snapshot = ExclusiveOperation.SNAPSHOT;
    try (LiveSandboxes.Operation _ = live.begin(ONE, snapshot, SHORT)) {
      FutureTask<Void> other =
          new FutureTask<>(
              () -> {
                assertThatThrownBy(() -> live.begin(ONE, snapshot, SHORT))
                    .isInstanceOf(ProviderUnavailable.class)
                    .hasMessageContaining("another snapshot of sandbox one");
                assertThat(live.tryBegin(ONE, snapshot)).isEmpty();
                live.begin(ONE, ExclusiveOperation.SUSPENSION, SHORT).close();
                live.begin(TWO, snapshot, SHORT).close();
                return null;
              });
      Thread.ofVirtual().start(other);
      other.get();
    }
    live.tryBegin(ONE, snapshot).orElseThrow().close();
  }
}
