package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.FakeClock;
import dev.isola.spi.error.LimitExceeded;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** P8: a provider with a capacity of its own is admitted by that, the others share one. */
class AdmissionControlTest {
  private static final Resources ONE = Resources.of(1, 1024);
  private static final Resources LARGE = Resources.of(1, 4096);

  private final AdmissionControl control =
      new AdmissionControl(
          new Admission(Resources.of(2, 2048), Duration.ZERO, new FakeClock()),
          Map.of("east", own("east", Resources.of(1, 1024), Duration.ZERO)));

  private static Admission own(String name, Resources capacity, Duration patience) {
    return new Admission(
        Capacity.ofProvider(name, capacity),
        Headroom.UNCHECKED,
        patience,
        InstantSource.system());
  }

  @Test
  void providersWithoutACapacityOfTheirOwnShareOne() {
    Grant _ = control.admit(List.of("bubblewrap"), ONE);
    Grant _ = control.admit(List.of("crun"), ONE);
    assertThatThrownBy(() -> control.admit(List.of("crun"), ONE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("admission.memory_mb");
    assertThat(control.promised("bubblewrap")).isEqualTo(ONE);
    assertThat(control.promised("crun")).isEqualTo(ONE);
    assertThat(control.promised("east")).isEqualTo(Resources.NONE);
    assertThat(control.usage("crun")).isEqualTo(control.usage());
  }

  @Test
  void aCapacityOfItsOwnCountsForItsProviderAlone() {
    Grant _ = control.admit(List.of("east"), ONE);
    assertThat(control.usage().promised()).isEqualTo(Resources.NONE);
    assertThat(control.usage("east").promised()).isEqualTo(ONE);
    assertThatThrownBy(() -> control.admit(List.of("east"), ONE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("providers.east.capacity_memory_mb");
    assertThatThrownBy(() -> control.admit(List.of("east"), LARGE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("provider east has 1024 MB and 1 cpu for all")
        .hasMessageContaining("raise providers.east.capacity_memory_mb");
    control.admit(List.of("crun"), ONE).close();
  }

  @Test
  void whereTheBestIsFullTheNextProviderIsAdmitted() {
    Grant first = control.admit(List.of("east", "crun"), ONE);
    Grant second = control.admit(List.of("east", "crun"), ONE);
    assertThat(control.promised("east")).isEqualTo(ONE);
    assertThat(control.promised("crun")).isEqualTo(ONE);
    Grant third = control.admitAtOnce(List.of("east", "crun"), ONE);
    assertThatThrownBy(() -> control.admitAtOnce(List.of("east", "crun"), ONE))
        .hasMessageContaining("providers.east");
    List.of(first, second, third).forEach(Grant::close);
    assertThat(control.promised("east")).isEqualTo(Resources.NONE);
    assertThat(control.promised("crun")).isEqualTo(Resources.NONE);
  }

  @Test
  void aRequestWaitsForAProviderThatCouldEverHoldIt() throws Exception {
    AdmissionControl patient =
        new AdmissionControl(
            new Admission(LARGE, Duration.ofMinutes(5), InstantSource.system()),
            Map.of("east", own("east", ONE, Duration.ofMinutes(5))));
    Grant held = patient.admit(List.of("crun"), LARGE);
    AtomicReference<Grant> admitted = new AtomicReference<>();
    Thread waiting =
        Thread.startVirtualThread(
            () -> admitted.set(patient.admit(List.of("east", "crun"), LARGE)));
    await().until(() -> patient.usage().waiting() == 1);
    assertThat(patient.usage("east").waiting()).isZero();
    held.close();
    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(patient.promised("crun")).isEqualTo(LARGE);
  }

  @Test
  void aPromiseMovesToTheProviderThatMakesTheSandbox() {
    Grant grant = control.admit(List.of("east", "crun"), ONE);
    control.move(grant, "crun");
    assertThat(control.promised("east")).isEqualTo(Resources.NONE);
    control.move(grant, "bubblewrap");
    assertThat(control.promised("crun")).isEqualTo(Resources.NONE);
    assertThat(control.promised("bubblewrap")).isEqualTo(ONE);
    Grant _ = control.admit(List.of("east"), ONE);
    assertThatThrownBy(() -> control.move(grant, "east")).isInstanceOf(LimitExceeded.class);
    assertThat(control.promised("bubblewrap")).as("the promise stays").isEqualTo(ONE);
    grant.close();
    grant.close();
    assertThat(control.usage().promised()).isEqualTo(Resources.NONE);
    assertThat(control.promised("east")).isEqualTo(ONE);
  }

  @Test
  void whatExistsAlreadyIsCountedForItsProvider() {
    Grant adopted = control.adopt("east", LARGE);
    assertThat(control.usage("east").free()).isEqualTo(Resources.of(0, -3072));
    adopted.close();
    assertThat(control.usage("east").free()).isEqualTo(ONE);
  }
}
