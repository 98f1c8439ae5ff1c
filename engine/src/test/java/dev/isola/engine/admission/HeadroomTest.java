package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Resources;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits are ceilings: the state of the machine decides about admission. */
class HeadroomTest {
  private static final Resources DEFAULT = Resources.of(ResourceLimits.DEFAULT);
  private static final Resources ANY = new Resources(Resources.UNLIMITED, Resources.UNLIMITED);
  private static final long MEMORY_MB = 24_000;

  private final AtomicReference<MachineState> machine = new AtomicReference<>(available(20_000));

  private static MachineState available(long megabytes) {
    return new MachineState(OptionalLong.of(megabytes), OptionalDouble.empty());
  }

  private CapacityPool admission(Duration timeout) {
    return new CapacityPool(
        Capacity.ofInstallation(ANY),
        new Headroom(4, 10, MEMORY_MB, machine::get, DiskHeadroom.UNCHECKED),
        timeout,
        InstantSource.system());
  }

  @Test
  void thousandIdleDefaultSandboxesFitIntoTwentyFourGigabytes() {
    CapacityPool pool = admission(Duration.ZERO);
    List<Reservation> grants = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Reservation reservation = pool.admit("p", DEFAULT);
      reservation.markStarted();
      grants.add(reservation);
      machine.set(available(20_000 - 10L * grants.size())); // an idle sandbox uses little memory
    }
    assertThat(pool.usage().reserved().memoryMb()).isEqualTo(1000 * 1024);
    grants.forEach(Reservation::close);
    assertThat(pool.usage().reserved()).isEqualTo(Resources.NONE);
  }

  @Test
  void rejectionNamesTheShortage() {
    machine.set(available(700));
    assertThatThrownBy(() -> admission(Duration.ZERO).admit("p", DEFAULT))
        .isInstanceOfSatisfying(
            LimitExceeded.class,
            e ->
                assertThat(e.context())
                    .containsEntry("resource", "memory")
                    .containsEntry("actual", "256")
                    .containsEntry("free", "188"))
        .hasMessageContainingAll(
            "needs 256 MB (its limit of 1024 MB divided by the overcommit factor 4.0)",
            "has 188 MB available",
            "admission.memory_overcommit");
  }

  @Test
  void requestLargerThanTheMachineFailsImmediately() {
    assertThatThrownBy(() -> admission(Duration.ofHours(1)).admit("p", Resources.of(1, 200_000)))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContainingAll("50000 MB", "24000 MB", "in total");
  }

  @Test
  void memoryPressureBlocksAdmission() {
    machine.set(new MachineState(OptionalLong.of(20_000), OptionalDouble.of(34.5)));
    assertThatThrownBy(() -> admission(Duration.ZERO).admit("p", DEFAULT))
        .isInstanceOfSatisfying(
            LimitExceeded.class,
            e -> assertThat(e.context()).containsEntry("resource", "memoryPressure"))
        .hasMessageContainingAll("34.5 %", "admission.max_memory_pressure");
  }

  @Test
  void timeoutNamesTheShortage() {
    machine.set(available(600));
    assertThatThrownBy(() -> admission(Duration.ofMillis(1500)).admit("p", DEFAULT))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContainingAll("88 MB available", "the request waited 1 s");
  }

  @Test
  void waitingRequestIsAdmittedWhenMemoryBecomesAvailable() throws InterruptedException {
    machine.set(available(0));
    CapacityPool pool = admission(Duration.ofMinutes(5));
    Thread waiting = Thread.startVirtualThread(() -> pool.admit("p", DEFAULT).close());
    await().until(() -> pool.usage().waiting() == 1);
    machine.set(available(10_000));
    assertThat(waiting.join(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void startingSandboxesAreCountedUntilTheirUsageIsVisible() {
    machine.set(available(512 + 256 + 16));
    CapacityPool pool = admission(Duration.ZERO);
    Reservation first = pool.admit("p", DEFAULT);
    Reservation second = pool.admit("p", DEFAULT);
    assertThatThrownBy(() -> pool.admit("p", DEFAULT)).isInstanceOf(LimitExceeded.class);
    first.markStarted();
    first.markStarted();
    pool.admit("p", DEFAULT).close();
    second.close();
    pool.admit("p", DEFAULT).close();
  }

  @Test
  void machineStateIsReadFromProc(@TempDir Path proc) throws IOException {
    assertThat(MachineState.read(proc)).isEqualTo(MachineState.UNKNOWN);
    Files.writeString(
        proc.resolve("meminfo"),
        "MemTotal:       24576000 kB\nMemFree: 1024 kB\nMemAvailable:   2048000 kB\n");
    assertThat(MachineState.read(proc)).isEqualTo(available(2000));
    Files.createDirectory(proc.resolve("pressure"));
    Files.writeString(
        proc.resolve("pressure/memory"),
        """
        some avg10=2.00 avg60=0.00 avg300=0.00 total=0
        full avg10=1.53 avg60=0.00 avg300=0.00 total=0
        """);
    assertThat(MachineState.read(proc))
        .isEqualTo(new MachineState(OptionalLong.of(2000), OptionalDouble.of(1.53)));
  }

  @Test
  void unreportedKernelValuesAreIgnored() {
    machine.set(MachineState.UNKNOWN);
    admission(Duration.ZERO).admit("p", DEFAULT).close();
  }
}
