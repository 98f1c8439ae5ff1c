package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.FakeClock;
import dev.isola.engine.api.Resources;
import dev.isola.spi.error.LimitExceeded;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** P8: a provider with a dedicated capacity is admitted by it; all others share one. */
class AdmissionControlTest {
  private static final Resources ONE = Resources.of(1, 1024);
  private static final Resources LARGE = Resources.of(1, 4096);

  private final AdmissionControl control =
      new AdmissionControl(
          new CapacityPool(Resources.of(2, 2048), Duration.ZERO, new FakeClock()),
          Map.of("east", own("east", Resources.of(1, 1024), Duration.ZERO)));

  private static CapacityPool own(String name, Resources capacity, Duration timeout) {
    return new CapacityPool(
        Capacity.ofProvider(name, capacity), Headroom.UNCHECKED, timeout, InstantSource.system());
  }

  @Test
  void providersWithoutDedicatedCapacityShareOne() {
    Reservation _ = control.admit(List.of("bubblewrap"), ONE);
    Reservation _ = control.admit(List.of("crun"), ONE);
    assertThatThrownBy(() -> control.admit(List.of("crun"), ONE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("admission.memory_mb");
    assertThat(control.reserved("bubblewrap")).isEqualTo(ONE);
    assertThat(control.reserved("crun")).isEqualTo(ONE);
    assertThat(control.reserved("east")).isEqualTo(Resources.NONE);
    assertThat(control.usage("crun")).isEqualTo(control.usage());
  }

  @Test
  void dedicatedCapacityAppliesToItsProviderOnly() {
    Reservation _ = control.admit(List.of("east"), ONE);
    assertThat(control.usage().reserved()).isEqualTo(Resources.NONE);
    assertThat(control.usage("east").reserved()).isEqualTo(ONE);
    assertThatThrownBy(() -> control.admit(List.of("east"), ONE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("providers.east.capacity_memory_mb");
    assertThatThrownBy(() -> control.admit(List.of("east"), LARGE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("provider east has 1024 MB and 1 cpu in total")
        .hasMessageContaining("raise providers.east.capacity_memory_mb");
    control.admit(List.of("crun"), ONE).close();
  }

  @Test
  void nextProviderIsUsedIfTheBestIsFull() {
    Reservation first = control.admit(List.of("east", "crun"), ONE);
    Reservation second = control.admit(List.of("east", "crun"), ONE);
    assertThat(control.reserved("east")).isEqualTo(ONE);
    assertThat(control.reserved("crun")).isEqualTo(ONE);
    Reservation third = control.admitNow(List.of("east", "crun"), ONE);
    assertThatThrownBy(() -> control.admitNow(List.of("east", "crun"), ONE))
        .hasMessageContaining("providers.east");
    List.of(first, second, third).forEach(Reservation::close);
    assertThat(control.reserved("east")).isEqualTo(Resources.NONE);
    assertThat(control.reserved("crun")).isEqualTo(Resources.NONE);
  }

  @Test
  void requestWaitsForAProviderThatCanEverFitIt() throws Exception {
    AdmissionControl patient =
        new AdmissionControl(
            new CapacityPool(LARGE, Duration.ofMinutes(5), InstantSource.system()),
            Map.of("east", own("east", ONE, Duration.ofMinutes(5))));
    Reservation held = patient.admit(List.of("crun"), LARGE);
    AtomicReference<Reservation> admitted = new AtomicReference<>();
    Thread waiting =
        Thread.startVirtualThread(
            () -> admitted.set(patient.admit(List.of("east", "crun"), LARGE)));
    await().until(() -> patient.usage().waiting() == 1);
    assertThat(patient.usage("east").waiting()).isZero();
    held.close();
    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(patient.reserved("crun")).isEqualTo(LARGE);
  }

  @Test
  void reservationMovesToTheProviderThatCreatesTheSandbox() {
    Reservation reservation = control.admit(List.of("east", "crun"), ONE);
    control.move(reservation, "crun");
    assertThat(control.reserved("east")).isEqualTo(Resources.NONE);
    control.move(reservation, "bubblewrap");
    assertThat(control.reserved("crun")).isEqualTo(Resources.NONE);
    assertThat(control.reserved("bubblewrap")).isEqualTo(ONE);
    Reservation _ = control.admit(List.of("east"), ONE);
    assertThatThrownBy(() -> control.move(reservation, "east")).isInstanceOf(LimitExceeded.class);
    assertThat(control.reserved("bubblewrap")).as("the reservation is unchanged").isEqualTo(ONE);
    reservation.close();
    reservation.close();
    assertThat(control.usage().reserved()).isEqualTo(Resources.NONE);
    assertThat(control.reserved("east")).isEqualTo(ONE);
  }

  @Test
  void existingSandboxesAreReservedForTheirProvider() {
    Reservation adopted = control.adopt("east", LARGE);
    assertThat(control.usage("east").free()).isEqualTo(Resources.of(0, -3072));
    adopted.close();
    assertThat(control.usage("east").free()).isEqualTo(ONE);
  }
}
