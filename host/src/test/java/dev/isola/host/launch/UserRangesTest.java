package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which sandbox gets which user ids. All sandboxes of these tests have the same hash. */
final class UserRangesTest {
  private static final InstanceId INSTANCE = new InstanceId("mine");
  private static final int HASH = 7;
  private static final long FIRST = (8L + HASH) * UserRanges.COUNT;

  @TempDir Path folder;
  private UserRanges ranges;

  @BeforeEach
  void createEtc() throws IOException {
    Files.createDirectory(folder.resolve("etc"));
    ranges = new UserRanges(folder.resolve("registry"), folder.resolve("etc"));
  }

  private void etc(String file, String text) throws IOException {
    Files.writeString(folder.resolve("etc").resolve(file), text);
  }

  private Path sandbox(String data, String id) throws IOException {
    return Files.createDirectories(folder.resolve(data).resolve("sandboxes").resolve(id));
  }

  private long firstId(Path sandbox) throws IOException {
    return ranges.firstId(INSTANCE, sandbox, HASH);
  }

  @Test
  void sandboxesWithTheSameHashHaveDifferentRanges() throws IOException {
    assertThat(firstId(sandbox("one", "a"))).isEqualTo(FIRST);
    assertThat(firstId(sandbox("one", "b"))).isEqualTo(FIRST + UserRanges.COUNT);
    assertThat(firstId(sandbox("two", "a"))).isEqualTo(FIRST + 2 * UserRanges.COUNT);
  }

  @Test
  void sandboxKeepsItsRangeAcrossRestarts() throws IOException {
    Path neighbour = sandbox("one", "a");
    Path sandbox = sandbox("one", "b");
    firstId(neighbour);
    long before = firstId(sandbox);
    Files.delete(neighbour.resolve("first-user"));
    Files.delete(neighbour);
    UserRanges restarted = new UserRanges(ranges.registry(), ranges.etc());
    assertThat(restarted.firstId(INSTANCE, sandbox, HASH)).isEqualTo(before);
  }

  @Test
  void rangeIsReusedOnceTheSandboxAndItsLayersAreGone() throws IOException {
    Path sandbox = sandbox("one", "a");
    Path layer = Files.createDirectories(folder.resolve("one/layers/x"));
    Files.writeString(layer.resolve("first"), Long.toString(firstId(sandbox)));
    Files.delete(sandbox.resolve("first-user"));
    Files.delete(sandbox);
    assertThat(firstId(sandbox("two", "b"))).isEqualTo(FIRST + UserRanges.COUNT);
    Files.delete(layer.resolve("first"));
    assertThat(firstId(sandbox("two", "c"))).isEqualTo(FIRST);
  }

  @Test
  void endedClaimsOfAnInstallationAreRemovedAndNoOthers() throws IOException {
    Path gone = sandbox("one", "a");
    firstId(gone);
    Path forked = sandbox("one", "b");
    Path layer = Files.createDirectories(folder.resolve("one/layers/x"));
    Files.writeString(layer.resolve("first"), Long.toString(firstId(forked)));
    firstId(sandbox("one", "c"));
    Path foreign = sandbox("two", "d");
    long _ = ranges.firstId(new InstanceId("other"), foreign, HASH);
    for (Path sandbox : List.of(gone, forked, foreign)) {
      Files.delete(sandbox.resolve("first-user"));
      Files.delete(sandbox);
    }
    Files.writeString(ranges.registry().resolve("4711"), ""); // lost with the power of the machine

    ranges.removeEndedClaims(INSTANCE);

    assertThat(ranges.registry().resolve(Long.toString(FIRST))).doesNotExist();
    try (Stream<Path> left = Files.list(ranges.registry())) {
      assertThat(left.map(one -> one.getFileName().toString()))
          .containsExactlyInAnyOrder(
              Long.toString(FIRST + UserRanges.COUNT),
              Long.toString(FIRST + 2 * UserRanges.COUNT),
              Long.toString(FIRST + 3 * UserRanges.COUNT),
              "4711",
              "lock");
    }
  }

  @Test
  void machineWithoutClaimsHasNothingToRemove() throws IOException {
    ranges.removeEndedClaims(INSTANCE);
    assertThat(ranges.registry()).doesNotExist();
  }

  @Test
  void lostRecordIsRestoredFromTheClaim() throws IOException {
    Path sandbox = sandbox("one", "a");
    firstId(sandbox);
    Files.writeString(sandbox.resolve("first-user"), "");
    assertThat(firstId(sandbox)).isEqualTo(FIRST);
  }

  @Test
  void lostClaimIsNotGivenToAnother() throws IOException {
    firstId(sandbox("one", "a"));
    Files.writeString(ranges.registry().resolve(Long.toString(FIRST)), "");
    assertThat(firstId(sandbox("one", "b"))).isEqualTo(FIRST + UserRanges.COUNT);
  }

  @Test
  void idsOfTheMachinesUsersAreNotUsed() throws IOException {
    etc("passwd", "root:x:0:0:root:/root:/bin/sh\nada:x:" + (FIRST + 5) + ":100::/:/bin/sh\n");
    etc("group", "crew:x:" + (FIRST + UserRanges.COUNT) + ":\n");
    etc("subuid", "ada:" + (FIRST + 3 * UserRanges.COUNT - 1) + ":2\n");
    etc("subgid", "# none\nada:" + (FIRST + 4 * UserRanges.COUNT) + ":65536\n");
    assertThat(firstId(sandbox("one", "a"))).isEqualTo(FIRST + 5 * UserRanges.COUNT);
  }

  @Test
  void operatorChoosesTheIdsInSubuid() throws IOException {
    etc("subuid", "ada:100000:65536\nisola:1000000:131072\n");
    etc("subgid", "isola:1000000:131072\n");
    List<Long> ids = List.of(firstId(sandbox("one", "a")), firstId(sandbox("one", "b")));
    assertThat(ids).containsExactlyInAnyOrder(1_000_000L, 1_065_536L);
    assertThatThrownBy(() -> firstId(sandbox("one", "c")))
        .hasMessageContainingAll("no range of user ids is left", "all 2", "/etc/subuid");
  }

  @Test
  void idsThatAreRootsOrTooLargeAreNotUsed() throws IOException {
    etc("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    etc("subuid", "isola:0:131072\n");
    assertThat(firstId(sandbox("one", "a"))).isEqualTo(65_536);
    etc("subuid", "isola:2147400000:4000000000\n");
    assertThat(firstId(sandbox("one", "b"))).isEqualTo(2_147_400_000);
  }

  @Test
  void rangesAreDifferentForConcurrentCallers() throws Exception {
    int count = 50;
    etc("subuid", "isola:1000000:" + (count * UserRanges.COUNT) + "\n");
    List<Callable<Long>> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Path sandbox = sandbox("one", "s" + i);
      calls.add(() -> firstId(sandbox));
    }
    List<Long> ids = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Long> call : threads.invokeAll(calls)) {
        ids.add(call.get());
      }
    }
    assertThat(ids).doesNotHaveDuplicates().hasSize(count);
  }

  @Test
  void readOnlyMachineKeepsTheClaimsWithTheProvider() throws IOException {
    Files.writeString(folder.resolve("registry"), "a file in place of the folder");
    assertThat(firstId(sandbox("one", "a"))).isEqualTo(FIRST);
    assertThat(firstId(sandbox("one", "b"))).isEqualTo(FIRST + UserRanges.COUNT);
    assertThat(folder.resolve("one/users")).isDirectory();
  }
}
