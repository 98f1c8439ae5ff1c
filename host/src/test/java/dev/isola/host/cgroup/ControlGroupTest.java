package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.host.cgroup.CgroupFixture.Variant;
import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Control groups of the real kernel with misbehaving processes. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ControlGroupTest {
  private static final ResourceLimits LIMITS =
      ResourceLimits.DEFAULT.withCpu(2).withMemoryMb(256).withThreads(64);
  private static final Duration PATIENCE = CgroupFixture.TIMEOUT;

  /** Fork bomb: grows up to the limit and starts again; the first process stays. */
  private static final String BOMB =
      "exec perl -e '$SIG{CHLD} = q(IGNORE); my $first = $$; while (1) { my $p = fork;"
          + " srand if defined $p && $p == 0;"
          + " exit if $$ != $first && (defined $p ? $p == 0 && rand() < 0.5 : rand() < 0.05) }'";

  /**
   * Eight processes that constantly replace themselves, so that a list of pids is always outdated.
   */
  private static final String RUNAWAYS =
      "exec perl -e '$SIG{CHLD} = q(IGNORE); fork for 1..3; while (1) { exit if fork }'";

  @TempDir Path folder;

  @Test
  void whoTakesTooMuchMemoryIsKilledAndCounted() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      bench.group.create(LIMITS.withMemoryMb(64));
      Process modest = bench.start(bench.group, hog(1_000_000));
      assertThat(modest.waitFor()).isZero();
      assertThat(bench.group.outOfMemoryKills()).isZero();
      assertThat(bench.group.usage().memoryPeakBytes()).isBetween(1L, 64L << 20);

      Process hog = bench.start(bench.group, hog(600_000_000));
      assertThat(hog.waitFor()).isNotZero();
      assertThat(bench.group.outOfMemoryKills()).isPositive();
      assertThat(bench.group.memoryEvents())
          .hasValueSatisfying(file -> assertThat(CgroupFixture.text(file)).contains("oom_kill "));
      assertThat(bench.group.usage().memoryPeakBytes()).isGreaterThan(32L << 20);
    }
  }

  @Test
  void theSameHogIsFedWhereThereIsRoom() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      bench.group.create(LIMITS.withMemoryMb(512));
      assertThat(bench.start(bench.group, hog(100_000_000)).waitFor()).isZero();
      assertThat(bench.group.outOfMemoryKills()).isZero();
    }
  }

  /** Returns the last line, or the whole text if it has no line breaks. */
  private static String hog(long bytes) {
    return "head -c " + bytes + " /dev/zero | tail -n 1 > /dev/null";
  }

  @Test
  void filesThatWereReadAreNotMemoryInUse() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      Path file = folder.resolve("big");
      bench.group.create(LIMITS);
      assertThat(
              bench
                  .start(
                      bench.group,
                      "head -c 50000000 /dev/zero > \"$1\"; sync \"$1\"",
                      file.toString())
                  .waitFor())
          .isZero();
      assertThat(bench.group.usage().memoryPeakBytes()).isGreaterThan(40_000_000);
      await().atMost(PATIENCE).until(() -> bench.group.usage().memoryBytes() < 30_000_000);
    }
  }

  @Test
  void noMoreThreadsThanAllowedAreStarted() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      bench.group.create(LIMITS.withThreads(12 - ControlGroup.AGENT_THREADS));
      Process many =
          bench.start(
              bench.group,
              "i=0; while test $i -lt 100; do sleep 1000 > /dev/null & echo $!; i=$((i+1)); done;"
                  + " wait");
      long said = many.inputReader().lines().takeWhile(line -> !line.isEmpty()).limit(100).count();
      assertThat(said).isBetween(1L, 12L);
      assertThat(bench.group.usage().processes()).isBetween(1, 12);
      assertThat(bench.group.processEvents())
          .hasValueSatisfying(
              file -> assertThat(KernelFile.number(file, "max").orElse(0)).isPositive());
    }
  }

  @Test
  void theProcessorIsShared() throws Exception {
    try (CgroupFixture bench = new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.CPU)) {
      bench.group.create(LIMITS.withCpu(0.2));
      bench.start(bench.group, "while :; do :; done");
      await()
          .atMost(PATIENCE)
          .until(() -> bench.group.usage().cpuTime().compareTo(Duration.ofMillis(100)) > 0);
      Duration before = bench.group.usage().cpuTime();
      long start = System.nanoTime();
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  bench.group.usage().cpuTime().minus(before).compareTo(Duration.ofMillis(300))
                      > 0);
      double wall = System.nanoTime() - start;
      double used = bench.group.usage().cpuTime().minus(before).toNanos();
      // On a busy host the value is lower, never higher.
      assertThat(used / wall).isLessThan(0.4);
      Path stat =
          CgroupFolders.find(bench.group.name(), bench.machine.hierarchies()).paths().stream()
              .map(path -> path.resolve("cpu.stat"))
              .filter(path -> KernelFile.number(path, "nr_throttled").isPresent())
              .findFirst()
              .orElseThrow();
      assertThat(KernelFile.number(stat, "nr_throttled").orElse(0)).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsFrozenStandsStillUntilItIsThawed(Variant variant) throws Exception {
    try (CgroupFixture bench = new CgroupFixture(variant).requireFreezer()) {
      Path counter = folder.resolve("counter");
      bench.group.create(LIMITS);
      assertThat(bench.group.frozen()).isFalse();
      bench.start(
          bench.group,
          "i=0; while :; do i=$((i+1)); echo $i > \"$1.new\"; mv \"$1.new\" \"$1\"; done",
          counter.toString());
      counts(counter);

      bench.group.freeze(PATIENCE);
      assertThat(bench.group.frozen()).isTrue();
      String still = CgroupFixture.text(counter);
      assertThat(still).isNotEmpty();
      await()
          .during(Duration.ofMillis(300))
          .atMost(PATIENCE)
          .until(() -> CgroupFixture.text(counter).equals(still));
      bench.group.freeze(PATIENCE);
      assertThat(bench.group.frozen()).isTrue();

      bench.group.thaw();
      assertThat(bench.group.frozen()).isFalse();
      counts(counter);
      bench.group.thaw();
    }
  }

  private static void counts(Path counter) {
    Set<String> seen = new HashSet<>();
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              seen.add(CgroupFixture.text(counter));
              return seen.size() > 3;
            });
  }

  @ParameterizedTest
  @EnumSource
  void anEmptyGroupFreezesToo(Variant variant) throws Exception {
    try (CgroupFixture bench = new CgroupFixture(variant).requireFreezer()) {
      bench.group.create(LIMITS);
      bench.group.freeze(PATIENCE);
      assertThat(bench.group.frozen()).isTrue();
      bench.group.kill();
      assertThat(bench.group.frozen()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aForkBombIsEnded(Variant variant) throws Exception {
    try (CgroupFixture bench = exploding(variant, BOMB)) {
      Path refused = bench.all.processEvents().orElseThrow();
      await().atMost(PATIENCE).until(() -> KernelFile.number(refused, "max").orElse(0) > 100);
      assertThat(members(bench.all)).isNotEmpty();
      ends(bench);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whoeverRunsAwayIsCaught(Variant variant) throws Exception {
    try (CgroupFixture bench = exploding(variant, RUNAWAYS)) {
      Set<Long> seen = new HashSet<>();
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                seen.addAll(members(bench.all));
                return seen.size() > 50;
              });
      ends(bench);
      CgroupFolders folders = CgroupFolders.find(bench.group.name(), bench.machine.hierarchies());
      if (folders.file("cgroup.kill").isEmpty()) {
        assertThat(folders.file("pids.max"))
            .as("luck is not enough: they may not fork while they are killed")
            .hasValueSatisfying(file -> assertThat(CgroupFixture.text(file)).isEqualTo("0"));
      }
    }
  }

  private static CgroupFixture exploding(Variant variant, String script) throws IOException {
    CgroupFixture.requireTool("perl", "-e", "1");
    // The fixture limits it even if the variant cannot.
    assumeTrue(
        ControlGroups.ofHost().enforceable().contains(LimitKind.THREADS),
        "NOT RUN: threads cannot be limited here, and a fork bomb is no good without");
    CgroupFixture bench = new CgroupFixture(variant);
    bench.all.create(LIMITS.withCpu(1.5));
    bench.group.create(LIMITS.withCpu(1.5));
    bench.start(both(bench), script);
    return bench;
  }

  private static void ends(CgroupFixture bench) throws IOException {
    bench.group.kill();
    assertThat(members(bench.all)).isEmpty();
    assertThat(bench.group.usage().processes()).isZero();
  }

  /** Joins the groups of both handles, which together are those of all hierarchies. */
  private static ControlGroup both(CgroupFixture bench) {
    return bench.all.joinFiles().containsAll(bench.group.joinFiles()) ? bench.all : bench.group;
  }

  private static Set<Long> members(ControlGroup group) {
    return CgroupFolders.find(group.name(), ControlGroups.ofHost().hierarchies()).members();
  }

  @ParameterizedTest
  @EnumSource
  void whatIsFrozenCanBeKilled(Variant variant) throws Exception {
    try (CgroupFixture bench = new CgroupFixture(variant).requireFreezer()) {
      bench.group.create(LIMITS);
      Process process = bench.start(bench.group, "echo in; exec sleep 1000");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      bench.group.freeze(PATIENCE);
      bench.group.kill();
      process.waitFor();
      assertThat(bench.group.usage().processes()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aGroupCanBeUsedAgainAfterItWasKilled(Variant variant) throws Exception {
    try (CgroupFixture bench = new CgroupFixture(variant)) {
      bench.group.create(LIMITS);
      Process process = bench.start(bench.group, "echo in; exec sleep 1000");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      bench.group.kill();
      bench.group.create(LIMITS);
      assertThat(bench.start(bench.group, "sh -c 'exit 7' & wait $!").waitFor()).isEqualTo(7);
    }
  }

  @ParameterizedTest
  @EnumSource
  void removeLeavesNothing(Variant variant) throws Exception {
    try (CgroupFixture bench = new CgroupFixture(variant)) {
      LeakDetector census = new LeakDetector(bench.instance, folder);
      bench.machine.enforceable();
      ResourceScan before = census.scan();
      bench.group.create(LIMITS);
      Process process = bench.start(bench.group, "echo in; exec sleep 1000 > /dev/null");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      // Positive control: the scan finds every folder.
      assertThat(ResourceScan.difference(before, census.scan()))
          .filteredOn(line -> line.startsWith("cgroup "))
          .hasSameSizeAs(bench.group.joinFiles());

      bench.group.remove(PATIENCE);
      process.waitFor();
      assertThat(census.scan().resources()).isEmpty();
      assertThat(bench.group.joinFiles()).isEmpty();
      assertThat(bench.group.outOfMemoryKills()).isZero();
      assertThat(bench.group.usage()).isEqualTo(new CgroupUsage(Duration.ZERO, 0, 0, 0));
      bench.group.remove(PATIENCE);
      bench.group.kill();
    }
  }

  @Test
  void halfAGroupIsRemovedWithWhoIsInIt() throws Exception {
    try (CgroupFixture bench = new CgroupFixture(Variant.ALL_HIERARCHIES)) {
      bench.group.create(LIMITS);
      List<Path> files = bench.group.joinFiles();
      assumeTrue(files.size() > 1, "NOT RUN: there is but one hierarchy");
      // A process that has joined one of the groups; the others were never created.
      Path kept = files.getLast();
      for (Path file : files) {
        if (!file.equals(kept)) {
          Files.delete(file.getParent());
        }
      }
      Process half = bench.start(bench.group, "echo in; exec sleep 1000");
      assertThat(half.inputReader().readLine()).isEqualTo("in");
      assertThat(bench.group.joinFiles()).containsExactly(kept);
      bench.group.remove(PATIENCE);
      half.waitFor();
      assertThat(new LeakDetector(bench.instance, folder).scan().resources()).isEmpty();
    }
  }

  @Test
  void aGroupThatSomebodyMadeElsewhereIsFoundAndRemoved() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      Path top =
          bench.machine.locations().stream()
              .filter(place -> place.limits().contains(LimitKind.THREADS))
              .findFirst()
              .orElseThrow()
              .parent();
      Path service = Files.createDirectory(top.resolve("service-" + bench.instance));
      try {
        Path elsewhere = Files.createDirectory(service.resolve(bench.group.name()));
        Files.createDirectory(elsewhere.resolve("nested"));
        Process process = bench.start(bench.group, "echo in; exec sleep 1000");
        assertThat(process.inputReader().readLine()).isEqualTo("in");
        assertThat(bench.group.joinFiles()).containsExactly(elsewhere.resolve("cgroup.procs"));
        bench.group.remove(PATIENCE);
        assertThat(elsewhere).doesNotExist();
        process.waitFor();
      } finally {
        Files.delete(service);
      }
    }
  }

  @Test
  void othersAreLeftAlone() throws Exception {
    try (CgroupFixture mine = new CgroupFixture(Variant.ALL_HIERARCHIES);
        CgroupFixture other = new CgroupFixture(Variant.ALL_HIERARCHIES)) {
      // The same sandbox id in two installations, and an id that is a prefix of another.
      ControlGroup neighbour = mine.machine.group(other.instance, mine.id);
      ControlGroup longer = mine.machine.group(mine.instance, new SandboxId(mine.id.value() + "x"));
      mine.group.create(LIMITS);
      neighbour.create(LIMITS);
      longer.create(LIMITS);
      try {
        Process process = mine.start(neighbour, "echo in; exec sleep 1000");
        assertThat(process.inputReader().readLine()).isEqualTo("in");
        mine.group.remove(PATIENCE);
        assertThat(process.isAlive()).isTrue();
        assertThat(neighbour.usage().processes()).isEqualTo(1);
        assertThat(longer.joinFiles()).hasSameSizeAs(neighbour.joinFiles());
      } finally {
        neighbour.remove(PATIENCE);
        longer.remove(PATIENCE);
      }
    }
  }

  @Test
  void makingAgainSetsTheLimitsAgain() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES)
            .require(LimitKind.MEMORY)
            .require(LimitKind.THREADS)) {
      bench.group.create(LIMITS);
      List<Path> files = bench.group.joinFiles();
      bench.group.create(LIMITS.withMemoryMb(100).withThreads(10));
      bench.group.create(LIMITS.withMemoryMb(300).withThreads(30));
      assertThat(bench.group.joinFiles()).isEqualTo(files);
      CgroupFolders folders = CgroupFolders.find(bench.group.name(), bench.machine.hierarchies());
      assertThat(folders.file("memory.max", "memory.limit_in_bytes"))
          .hasValueSatisfying(
              file -> assertThat(CgroupFixture.text(file)).isEqualTo("" + (300L << 20)));
      assertThat(folders.file("pids.max"))
          .hasValueSatisfying(
              file ->
                  assertThat(CgroupFixture.text(file))
                      .isEqualTo("" + (30 + ControlGroup.AGENT_THREADS)));
    }
  }

  @Test
  void aLimitThatTheKernelRefusesLeavesNothing() throws Exception {
    try (CgroupFixture bench =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      assertThatThrownBy(
              () -> bench.group.create(LIMITS.withThreads(-7 - ControlGroup.AGENT_THREADS)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("'-7' cannot be written to ")
          .hasMessageContaining("pids.max");
      assertThat(new LeakDetector(bench.instance, folder).scan().resources()).isEmpty();
    }
  }

  /** Version 1 rejects more than the parent has; the smaller value applies. */
  @Test
  void aNarrowParentIsNoObstacle() throws Exception {
    try (CgroupFixture bench = new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.CPU)) {
      CgroupLocation wide =
          bench.machine.locations().stream()
              .filter(place -> place.limits().contains(LimitKind.CPU))
              .findFirst()
              .orElseThrow();
      Path narrow = Files.createDirectory(wide.parent().resolve("narrow-" + bench.instance));
      Path nested = narrow.resolve("nested");
      try {
        CgroupLocation place = new CgroupLocation(wide.hierarchy(), narrow, wide.limits(), false);
        for (CgroupSetting setting :
            CgroupSetting.of(LimitKind.CPU, LIMITS.withCpu(0.5), wide.hierarchy(), wide.parent())) {
          setting.write(narrow);
        }
        assertThat(
                wide.hierarchy().unified()
                    || KernelFile.number(narrow.resolve("cpu.cfs_quota_us")).orElse(0) == 50_000)
            .isTrue();
        ControlGroup group =
            new ControlGroup(new ControlGroups(List.of(), List.of(place)), "nested");
        group.create(LIMITS.withCpu(2));
        assertThat(nested).isDirectory();
        group.create(LIMITS.withCpu(0.25));
      } finally {
        Files.deleteIfExists(nested);
        Files.delete(narrow);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Variant.class)
  void whatIsEmptyAndOldIsRemovedAndNothingElse(Variant variant) throws Exception {
    try (CgroupFixture used = new CgroupFixture(variant);
        CgroupFixture other = new CgroupFixture(variant)) {
      ControlGroup empty = used.machine.group(used.instance, new SandboxId("empty"));
      empty.create(LIMITS);
      other.group.create(LIMITS);
      used.group.create(LIMITS);
      Process member = used.start(used.group, "echo in; exec sleep 100");
      assertThat(member.getInputStream().read()).isEqualTo('i');

      used.machine.removeEmpty(used.instance, Duration.ofHours(1));
      assertThat(empty.joinFiles()).as("too young").isNotEmpty();
      used.machine.removeEmpty(used.instance, Duration.ZERO);
      assertThat(empty.joinFiles()).isEmpty();
      assertThat(used.group.joinFiles()).as("somebody is in it").isNotEmpty();
      assertThat(other.group.joinFiles()).as("another installation's").isNotEmpty();
      assertThat(member.isAlive()).isTrue();
    }
  }

  @Test
  void aHandleHasNoSideEffects() {
    InstanceId instance = new InstanceId("sideeffects");
    ControlGroups.ofHost().group(instance, new SandboxId("none"));
    assertThat(new LeakDetector(instance, folder).scan().resources()).isEmpty();
  }

  @Test
  void tryingLeavesNothing() {
    for (Variant variant : Variant.values()) {
      ControlGroups machine = CgroupFixture.machine(variant);
      machine.enforceable();
      machine.canFreeze();
    }
    String mine = "isola-trial-" + ProcessHandle.current().pid() + "-";
    assertThat(ResourceScan.scan().resources())
        .noneMatch(thing -> thing.description().contains(mine));
  }
}
