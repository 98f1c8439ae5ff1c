package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SandboxProcessesTest {
  @TempDir Path proc;

  private void process(int pid, int parent, String cgroup, String cmdline, String environ)
      throws IOException {
    Path folder = Files.createDirectories(proc.resolve(Integer.toString(pid)));
    Files.writeString(
        folder.resolve("stat"),
        pid + " (odd) name)) S " + parent + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0");
    Files.writeString(folder.resolve("cgroup"), cgroup);
    Files.writeString(folder.resolve("cmdline"), cmdline);
    Files.writeString(folder.resolve("environ"), environ);
  }

  @Test
  void processBelongsToTheSandboxItOrItsParentNames() throws IOException {
    process(1, 0, "4:memory:/", "init", "");
    process(10, 1, "4:memory:/isola-i-aaa", "bwrap", "");
    process(11, 10, "4:memory:/", "agent\0--sandbox\0aaa", "");
    process(12, 11, "4:memory:/", "sleep", "");
    process(13, 12, "4:memory:/", "sleep", "");
    process(20, 1, "4:memory:/", "x", "ISOLA_SANDBOX=bbb\0");
    process(30, 1, "4:memory:/", "someone else", "");
    process(31, 30, "4:memory:/", "their child", "");
    Files.createDirectories(proc.resolve("40")); // Ended during the scan.
    Files.createDirectories(proc.resolve("sys"));
    assertThat(new SandboxProcesses(proc).of(List.of("aaa", "bbb", "ccc")))
        .isEqualTo(
            Map.of("aaa", List.of(10L, 11L, 12L, 13L), "bbb", List.of(20L), "ccc", List.of()));
  }

  @Test
  void privateMemoryExcludesSharedPages() {
    String rollup =
        """
        5581c0a6d000-7ffd3a9f3000 ---p 00000000 00:00 0      [rollup]
        Rss:                1672 kB
        Pss:                 157 kB
        Shared_Clean:       1520 kB
        Private_Clean:         8 kB
        Private_Dirty:       144 kB
        Private_Hugetlb:      16 kB
        Swap:                  0 kB
        """;
    assertThat(SandboxProcesses.privateBytesOf(rollup)).isEqualTo(OptionalLong.of(168 * 1024));
    assertThat(SandboxProcesses.privateBytesOf("")).isEmpty();
  }

  @Test
  void memoryOfAnEndedProcessIsEmpty() {
    assertThat(new SandboxProcesses(proc).privateBytes("77")).isEmpty();
    assertThat(new SandboxProcesses(Path.of("/proc")).privateBytes("self").orElse(0)).isPositive();
  }
}
