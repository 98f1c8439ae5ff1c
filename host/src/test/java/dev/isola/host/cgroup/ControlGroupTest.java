package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.UniqueResources;
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
  private static final Duration TIMEOUT = CgroupFixture.TIMEOUT;

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
  void memoryLimitKillsAndCountsTheProcess() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      fixture.group.create(LIMITS.withMemoryMb(64));
      Process modest = fixture.start(fixture.group, hog(1_000_000));
      assertThat(modest.waitFor()).isZero();
      assertThat(fixture.group.outOfMemoryKills()).isZero();
      assertThat(fixture.group.usage().memoryPeakBytes()).isBetween(1L, 64L << 20);

      Process hog = fixture.start(fixture.group, hog(600_000_000));
      assertThat(hog.waitFor()).isNotZero();
      assertThat(fixture.group.outOfMemoryKills()).isPositive();
      assertThat(fixture.group.memoryEvents())
          .hasValueSatisfying(file -> assertThat(CgroupFixture.text(file)).contains("oom_kill "));
      assertThat(fixture.group.usage().memoryPeakBytes()).isGreaterThan(32L << 20);
    }
  }

  /** Fills the buffers of 200 connections, prints the number of bytes in them, and stays. */
  private static final String CONNECTIONS =
      """
      import signal, socket
      server = socket.create_server(('127.0.0.1', 0), backlog=256)
      held, total, data = [], 0, bytes(65536)
      for _ in range(200):
          held += [socket.create_connection(server.getsockname()), server.accept()[0]]
          for end in held[-2:]:
              end.setblocking(False)
              try:
                  while total < 400 << 20: total += end.send(data)
              except BlockingIOError: pass
      print(total, flush=True)
      signal.pause()
      """;

  @ParameterizedTest
  @EnumSource(
      value = Variant.class,
      names = {"VERSION_1_ALONE", "V2_ONLY"})
  void buffersOfConnectionsAreLimitedAndCounted(Variant variant) throws Exception {
    CgroupFixture.requireTool("python3", "--version");
    try (CgroupFixture fixture = new CgroupFixture(variant).require(LimitKind.MEMORY)) {
      fixture.group.create(LIMITS.withMemoryMb(64));
      Process holder = fixture.start(fixture.group, "exec python3 -c \"$1\"", CONNECTIONS);
      String line = holder.inputReader().readLine();
      if (line == null) { // version 2 counts the buffers as memory and may end the process
        assertThat(fixture.group.outOfMemoryKills()).isPositive();
        return;
      }
      long bytes = Long.parseLong(line);
      assertThat(bytes).isBetween(1L << 20, 128L << 20);
      assertThat(fixture.group.usage().memoryBytes()).isGreaterThan(bytes / 2);
      assertThat(fixture.group.usage().memoryPeakBytes()).isGreaterThan(bytes / 2);
    }
  }

  @Test
  void sameProcessSucceedsWithAHigherMemoryLimit() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      fixture.group.create(LIMITS.withMemoryMb(512));
      assertThat(fixture.start(fixture.group, hog(100_000_000)).waitFor()).isZero();
      assertThat(fixture.group.outOfMemoryKills()).isZero();
    }
  }

  /** Returns the last line, or the whole text if it has no line breaks. */
  private static String hog(long bytes) {
    return "head -c " + bytes + " /dev/zero | tail -n 1 > /dev/null";
  }

  @Test
  void pageCacheIsNotCountedAsMemoryInUse() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.MEMORY)) {
      Path file = folder.resolve("big");
      fixture.group.create(LIMITS);
      assertThat(
              fixture
                  .start(
                      fixture.group,
                      "head -c 50000000 /dev/zero > \"$1\"; sync \"$1\"",
                      file.toString())
                  .waitFor())
          .isZero();
      assertThat(fixture.group.usage().memoryPeakBytes()).isGreaterThan(40_000_000);
      await().atMost(TIMEOUT).until(() -> fixture.group.usage().memoryBytes() < 30_000_000);
    }
  }

  @Test
  void threadLimitIsEnforced() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      fixture.group.create(LIMITS.withThreads(12 - ControlGroup.AGENT_THREADS));
      Process many =
          fixture.start(
              fixture.group,
              "i=0; while test $i -lt 100; do sleep 1000 > /dev/null & echo $!; i=$((i+1)); done;"
                  + " wait");
      long answer =
          many.inputReader().lines().takeWhile(line -> !line.isEmpty()).limit(100).count();
      assertThat(answer).isBetween(1L, 12L);
      assertThat(fixture.group.usage().processes()).isBetween(1, 12);
      assertThat(fixture.group.processEvents())
          .hasValueSatisfying(
              file -> assertThat(KernelFile.number(file, "max").orElse(0)).isPositive());
    }
  }

  @Test
  void cpuLimitIsEnforced() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.CPU)) {
      fixture.group.create(LIMITS.withCpu(0.2));
      fixture.start(fixture.group, "while :; do :; done");
      await()
          .atMost(TIMEOUT)
          .until(() -> fixture.group.usage().cpuTime().compareTo(Duration.ofMillis(100)) > 0);
      Duration before = fixture.group.usage().cpuTime();
      long start = System.nanoTime();
      await()
          .atMost(TIMEOUT)
          .until(
              () ->
                  fixture.group.usage().cpuTime().minus(before).compareTo(Duration.ofMillis(300))
                      > 0);
      double wall = System.nanoTime() - start;
      double used = fixture.group.usage().cpuTime().minus(before).toNanos();
      // On a busy host the value is lower, never higher.
      assertThat(used / wall).isLessThan(0.4);
      Path stat =
          CgroupFolders.find(fixture.group.name(), fixture.machine.hierarchies()).paths().stream()
              .map(path -> path.resolve("cpu.stat"))
              .filter(path -> KernelFile.number(path, "nr_throttled").isPresent())
              .findFirst()
              .orElseThrow();
      assertThat(KernelFile.number(stat, "nr_throttled").orElse(0)).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void frozenProcessesMakeNoProgressUntilThawed(Variant variant) throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(variant).requireFreezer()) {
      Path counter = folder.resolve("counter");
      fixture.group.create(LIMITS);
      assertThat(fixture.group.frozen()).isFalse();
      fixture.start(
          fixture.group,
          "i=0; while :; do i=$((i+1)); echo $i > \"$1.new\"; mv \"$1.new\" \"$1\"; done",
          counter.toString());
      counts(counter);

      fixture.group.freeze(TIMEOUT);
      assertThat(fixture.group.frozen()).isTrue();
      String still = CgroupFixture.text(counter);
      assertThat(still).isNotEmpty();
      await()
          .during(Duration.ofMillis(300))
          .atMost(TIMEOUT)
          .until(() -> CgroupFixture.text(counter).equals(still));
      fixture.group.freeze(TIMEOUT);
      assertThat(fixture.group.frozen()).isTrue();

      fixture.group.thaw();
      assertThat(fixture.group.frozen()).isFalse();
      counts(counter);
      fixture.group.thaw();
    }
  }

  private static void counts(Path counter) {
    Set<String> seen = new HashSet<>();
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              seen.add(CgroupFixture.text(counter));
              return seen.size() > 3;
            });
  }

  @ParameterizedTest
  @EnumSource
  void emptyGroupCanBeFrozen(Variant variant) throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(variant).requireFreezer()) {
      fixture.group.create(LIMITS);
      fixture.group.freeze(TIMEOUT);
      assertThat(fixture.group.frozen()).isTrue();
      fixture.group.kill();
      assertThat(fixture.group.frozen()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void killEndsAForkBomb(Variant variant) throws Exception {
    try (CgroupFixture fixture = exploding(variant, BOMB)) {
      Path refused = fixture.all.processEvents().orElseThrow();
      await().atMost(TIMEOUT).until(() -> KernelFile.number(refused, "max").orElse(0) > 100);
      assertThat(members(fixture.all)).isNotEmpty();
      ends(fixture);
    }
  }

  @ParameterizedTest
  @EnumSource
  void killEndsProcessesThatKeepForking(Variant variant) throws Exception {
    try (CgroupFixture fixture = exploding(variant, RUNAWAYS)) {
      Set<Long> seen = new HashSet<>();
      await()
          .atMost(TIMEOUT)
          .until(
              () -> {
                seen.addAll(members(fixture.all));
                return seen.size() > 50;
              });
      ends(fixture);
      CgroupFolders folders =
          CgroupFolders.find(fixture.group.name(), fixture.machine.hierarchies());
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
    CgroupFixture fixture = new CgroupFixture(variant);
    fixture.all.create(LIMITS.withCpu(1.5));
    fixture.group.create(LIMITS.withCpu(1.5));
    fixture.start(both(fixture), script);
    return fixture;
  }

  private static void ends(CgroupFixture fixture) throws IOException {
    fixture.group.kill();
    assertThat(members(fixture.all)).isEmpty();
    assertThat(fixture.group.usage().processes()).isZero();
  }

  /** Joins the groups of both handles, which together are those of all hierarchies. */
  private static ControlGroup both(CgroupFixture fixture) {
    return fixture.all.joinFiles().containsAll(fixture.group.joinFiles())
        ? fixture.all
        : fixture.group;
  }

  private static Set<Long> members(ControlGroup group) {
    return CgroupFolders.find(group.name(), ControlGroups.ofHost().hierarchies()).members();
  }

  @ParameterizedTest
  @EnumSource
  void frozenProcessesCanBeKilled(Variant variant) throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(variant).requireFreezer()) {
      fixture.group.create(LIMITS);
      Process process = fixture.start(fixture.group, "echo in; exec sleep 1000");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      fixture.group.freeze(TIMEOUT);
      fixture.group.kill();
      process.waitFor();
      assertThat(fixture.group.usage().processes()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void groupIsUsableAfterKill(Variant variant) throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(variant)) {
      fixture.group.create(LIMITS);
      Process process = fixture.start(fixture.group, "echo in; exec sleep 1000");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      fixture.group.kill();
      fixture.group.create(LIMITS);
      assertThat(fixture.start(fixture.group, "sh -c 'exit 7' & wait $!").waitFor()).isEqualTo(7);
    }
  }

  @ParameterizedTest
  @EnumSource
  void removeLeavesNoCgroups(Variant variant) throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(variant)) {
      LeakDetector leaks = new LeakDetector(fixture.instance, folder);
      fixture.machine.enforceable();
      ResourceScan before = leaks.scan();
      fixture.group.create(LIMITS);
      Process process = fixture.start(fixture.group, "echo in; exec sleep 1000 > /dev/null");
      assertThat(process.inputReader().readLine()).isEqualTo("in");
      // Positive control: the scan finds every folder.
      assertThat(ResourceScan.difference(before, leaks.scan()))
          .filteredOn(line -> line.startsWith("cgroup "))
          .hasSameSizeAs(fixture.group.joinFiles());

      fixture.group.remove(TIMEOUT);
      process.waitFor();
      assertThat(leaks.scan().resources()).isEmpty();
      assertThat(fixture.group.joinFiles()).isEmpty();
      assertThat(fixture.group.outOfMemoryKills()).isZero();
      assertThat(fixture.group.usage()).isEqualTo(new CgroupUsage(Duration.ZERO, 0, 0, 0));
      fixture.group.remove(TIMEOUT);
      fixture.group.kill();
    }
  }

  @Test
  void partiallyCreatedGroupIsRemovedWithItsProcesses() throws Exception {
    try (CgroupFixture fixture = new CgroupFixture(Variant.ALL_HIERARCHIES)) {
      fixture.group.create(LIMITS);
      List<Path> files = fixture.group.joinFiles();
      assumeTrue(files.size() > 1, "NOT RUN: there is but one hierarchy");
      // A process that has joined one of the groups; the others were never created.
      Path kept = files.getLast();
      for (Path file : files) {
        if (!file.equals(kept)) {
          Files.delete(file.getParent());
        }
      }
      Process half = fixture.start(fixture.group, "echo in; exec sleep 1000");
      assertThat(half.inputReader().readLine()).isEqualTo("in");
      assertThat(fixture.group.joinFiles()).containsExactly(kept);
      fixture.group.remove(TIMEOUT);
      half.waitFor();
      assertThat(new LeakDetector(fixture.instance, folder).scan().resources()).isEmpty();
    }
  }

  @Test
  void groupCreatedElsewhereIsFoundAndRemoved() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      Path top =
          fixture.machine.locations().stream()
              .filter(place -> place.limits().contains(LimitKind.THREADS))
              .findFirst()
              .orElseThrow()
              .parent();
      Path service = Files.createDirectory(top.resolve("service-" + fixture.instance));
      try {
        Path elsewhere = Files.createDirectory(service.resolve(fixture.group.name()));
        Files.createDirectory(elsewhere.resolve("nested"));
        Process process = fixture.start(fixture.group, "echo in; exec sleep 1000");
        assertThat(process.inputReader().readLine()).isEqualTo("in");
        assertThat(fixture.group.joinFiles()).containsExactly(elsewhere.resolve("cgroup.procs"));
        fixture.group.remove(TIMEOUT);
        assertThat(elsewhere).doesNotExist();
        process.waitFor();
      } finally {
        Files.delete(service);
      }
    }
  }

  @Test
  void removeLeavesOtherGroupsAlone() throws Exception {
    try (CgroupFixture mine = new CgroupFixture(Variant.ALL_HIERARCHIES);
        CgroupFixture other = new CgroupFixture(Variant.ALL_HIERARCHIES)) {
      // The same sandbox id in two installations, and an id that is a prefix of another.
      ControlGroup otherInstance = mine.machine.group(other.instance, mine.id);
      ControlGroup longer = mine.machine.group(mine.instance, new SandboxId(mine.id.value() + "x"));
      mine.group.create(LIMITS);
      otherInstance.create(LIMITS);
      longer.create(LIMITS);
      try {
        Process process = mine.start(otherInstance, "echo in; exec sleep 1000");
        assertThat(process.inputReader().readLine()).isEqualTo("in");
        mine.group.remove(TIMEOUT);
        assertThat(process.isAlive()).isTrue();
        assertThat(otherInstance.usage().processes()).isEqualTo(1);
        assertThat(longer.joinFiles()).hasSameSizeAs(otherInstance.joinFiles());
      } finally {
        otherInstance.remove(TIMEOUT);
        longer.remove(TIMEOUT);
      }
    }
  }

  @Test
  void createAgainUpdatesLimits() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES)
            .require(LimitKind.MEMORY)
            .require(LimitKind.THREADS)) {
      fixture.group.create(LIMITS);
      List<Path> files = fixture.group.joinFiles();
      fixture.group.create(LIMITS.withMemoryMb(100).withThreads(10));
      fixture.group.create(LIMITS.withMemoryMb(300).withThreads(30));
      assertThat(fixture.group.joinFiles()).isEqualTo(files);
      CgroupFolders folders =
          CgroupFolders.find(fixture.group.name(), fixture.machine.hierarchies());
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
  void rejectedLimitLeavesNoCgroups() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.THREADS)) {
      assertThatThrownBy(
              () -> fixture.group.create(LIMITS.withThreads(-7 - ControlGroup.AGENT_THREADS)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("'-7' cannot be written to ")
          .hasMessageContaining("pids.max");
      assertThat(new LeakDetector(fixture.instance, folder).scan().resources()).isEmpty();
    }
  }

  /** Version 1 rejects more than the parent has; the smaller value applies. */
  @Test
  void cpuQuotaIsCappedByTheParent() throws Exception {
    try (CgroupFixture fixture =
        new CgroupFixture(Variant.ALL_HIERARCHIES).require(LimitKind.CPU)) {
      CgroupLocation wide =
          fixture.machine.locations().stream()
              .filter(place -> place.limits().contains(LimitKind.CPU))
              .findFirst()
              .orElseThrow();
      Path narrow = Files.createDirectory(wide.parent().resolve("narrow-" + fixture.instance));
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
  void removeEmptyRemovesOnlyOldEmptyGroups(Variant variant) throws Exception {
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
      assertThat(used.group.joinFiles()).as("it has a process").isNotEmpty();
      assertThat(other.group.joinFiles()).as("another installation's").isNotEmpty();
      assertThat(member.isAlive()).isTrue();
    }
  }

  @Test
  void handleHasNoSideEffects() {
    InstanceId instance = UniqueResources.instanceId("sideeffects");
    ControlGroups.ofHost().group(instance, new SandboxId("none"));
    assertThat(new LeakDetector(instance, folder).scan().resources()).isEmpty();
  }

  @Test
  void probeLeavesNoCgroups() {
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
