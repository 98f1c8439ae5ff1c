package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Resources;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.store.DiskReserve;
import dev.isola.store.DiskSpace;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** A disk limit is a ceiling: the space that is free decides about admission. */
class DiskHeadroomTest {
  private static final Resources DEFAULT = Resources.of(ResourceLimits.DEFAULT);
  private static final Resources ANY = new Resources(Resources.UNLIMITED, Resources.UNLIMITED);
  private static final Path DATA = Path.of("/data");
  private static final Path PROVIDER = Path.of("/data/provider");
  private static final Path SNAPSHOTS = Path.of("/snapshots");
  private static final long MANY = 1_000_000;

  private final Map<Path, DiskSpace> disks =
      new ConcurrentHashMap<>(Map.of(DATA, free(60_000), SNAPSHOTS, free(60_000)));

  private static DiskSpace free(long megabytes) {
    return free(megabytes, MANY);
  }

  private static DiskSpace free(long megabytes, long inodes) {
    return new DiskSpace(megabytes << 20, 100_000L << 20, inodes, 2 * MANY);
  }

  private DiskHeadroom headroom() {
    return new DiskHeadroom(
        100,
        256,
        4096,
        List.of(DATA, PROVIDER),
        List.of(SNAPSHOTS),
        DiskReserve.NONE,
        folder -> Optional.ofNullable(disks.get(folder)));
  }

  private CapacityPool admission(Duration timeout) {
    MachineState memory = new MachineState(OptionalLong.of(1 << 30), OptionalDouble.empty());
    return new CapacityPool(
        Capacity.ofInstallation(ANY),
        new Headroom(1_000_000, 100, 1 << 30, () -> memory, headroom()),
        timeout,
        InstantSource.system());
  }

  private void assertRefused(Resources requested, String... words) {
    assertThatThrownBy(() -> admission(Duration.ZERO).admit("p", requested))
        .isInstanceOfSatisfying(
            LimitExceeded.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL);
              assertThat(e.context()).containsEntry("resource", "disk");
            })
        .hasMessageContainingAll(words)
        .hasMessageContaining("free disk space");
  }

  @Test
  void fiveThousandDefaultSandboxesFitIntoSixtyGigabytes() {
    CapacityPool pool = admission(Duration.ZERO);
    List<Reservation> grants = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      Reservation reservation = pool.admit("p", DEFAULT);
      reservation.markStarted();
      grants.add(reservation);
      disks.put(DATA, free(60_000 - 10L * grants.size())); // an idle sandbox uses less
    }
    assertThat(grants).hasSize(5000);
    disks.put(DATA, free(256 + 102));
    assertRefused(DEFAULT, "needs 103 MB", "limit of 10240 MB", "100.0", "has 102 MB free");
  }

  @Test
  void createsLeaveTheFloorWhateverTheLimitIs() {
    Resources tiny = new Resources(1, 1, 1);
    disks.put(DATA, free(256 + 1));
    admission(Duration.ZERO).admit("p", tiny).close();
    disks.put(DATA, free(255));
    assertRefused(tiny, "/data has 255 MB free", "leave 256 MB", "admission.min_free_disk_mb");
    disks.put(DATA, free(60_000, 4095));
    assertRefused(tiny, "4095 inodes", "leave 4096", "admission.min_free_inodes");
    assertThat(headroom().problem()).isPresent();
  }

  @Test
  void everyFileSystemCounts() {
    disks.put(PROVIDER, free(300));
    assertRefused(DEFAULT, "/data/provider has 44 MB free");
    disks.put(PROVIDER, free(10_000));
    disks.put(SNAPSHOTS, free(300));
    admission(Duration.ZERO).admit("p", DEFAULT).close();
    assertThat(headroom().problem()).isEmpty();
    disks.put(SNAPSHOTS, free(200));
    assertRefused(DEFAULT, "/snapshots has 200 MB free");
    assertThat(headroom().problem()).isPresent();
  }

  @Test
  void smallFileSystemHasASmallerFloorAndSmallerDisks() {
    disks.put(DATA, new DiskSpace(8L << 20, 100L << 20, 100, 400));
    admission(Duration.ZERO).admit("p", DEFAULT).close();
    disks.put(DATA, new DiskSpace(4L << 20, 100L << 20, 100, 400));
    assertRefused(DEFAULT, "leave 5 MB");
    disks.put(DATA, new DiskSpace(8L << 20, 100L << 20, 19, 400));
    assertRefused(DEFAULT, "leave 20");
  }

  @Test
  void sandboxesThatAreStartingCount() {
    disks.put(DATA, free(256 + 103 + 1));
    CapacityPool pool = admission(Duration.ZERO);
    Reservation first = pool.admit("p", DEFAULT);
    Reservation second = pool.admit("p", DEFAULT);
    assertThatThrownBy(() -> pool.admit("p", DEFAULT)).isInstanceOf(LimitExceeded.class);
    first.markStarted();
    second.markStarted();
    pool.admit("p", DEFAULT).close();
  }

  @Test
  void requestThatWaitsIsAdmittedWhenThereIsSpace() throws InterruptedException {
    disks.put(DATA, free(0));
    CapacityPool pool = admission(Duration.ofMinutes(5));
    Thread waiting = Thread.startVirtualThread(() -> pool.admit("p", DEFAULT).close());
    await().until(() -> pool.usage().waiting() == 1);
    disks.put(DATA, free(10_000));
    assertThat(waiting.join(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void realFileSystemIsRead() {
    DiskSpace space = DiskSpace.of(Path.of("/")).orElseThrow();
    assertThat(space.freeBytes()).isBetween(0L, space.bytes());
    assertThat(space.freeInodes()).isBetween(0L, space.inodes());
    assertThat(DiskSpace.of(Path.of("/does/not/exist"))).isEmpty();
  }
}
