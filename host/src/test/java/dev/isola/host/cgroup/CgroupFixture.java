package dev.isola.host.cgroup;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * A control group on the real kernel with processes in it; closing it removes everything.
 *
 * <p>A hybrid host provides three variants: all hierarchies, only version 1, and only the unified
 * hierarchy.
 */
final class CgroupFixture implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  enum Variant {
    ALL_HIERARCHIES,
    VERSION_1_ALONE,
    V2_ONLY
  }

  final InstanceId instance =
      new InstanceId(SandboxId.random(RandomGenerator.getDefault()).value());
  final SandboxId id = SandboxId.random(RandomGenerator.getDefault());
  final ControlGroups machine;
  final ControlGroup group;

  /**
   * The same groups in all hierarchies, so that CPU, memory and processes of a test are always
   * limited.
   */
  final ControlGroup all = ControlGroups.ofHost().group(instance, id);

  private final List<Process> started = new ArrayList<>();

  CgroupFixture(Variant variant) {
    machine = machine(variant);
    assumeTrue(!machine.locations().isEmpty(), "NOT RUN: no group can be made here, " + variant);
    group = machine.group(instance, id);
  }

  static ControlGroups machine(Variant variant) {
    return switch (variant) {
      case ALL_HIERARCHIES -> ControlGroups.ofHost();
      case VERSION_1_ALONE -> of(line -> !line.contains(" - cgroup2 "));
      case V2_ONLY -> of(line -> !line.contains(" - cgroup "));
    };
  }

  private static ControlGroups of(Predicate<String> mount) {
    return ControlGroups.parse(
        String.join(
            "\n", KernelFile.read(Path.of("/proc/self/mountinfo")).lines().filter(mount).toList()),
        KernelFile.read(Path.of("/proc/self/cgroup")),
        KernelFile::read);
  }

  CgroupFixture require(LimitKind kind) {
    assumeTrue(
        machine.enforceable().contains(kind), "NOT RUN: this machine lets us not limit " + kind);
    return this;
  }

  CgroupFixture requireFreezer() {
    assumeTrue(machine.canFreeze(), "NOT RUN: this machine lets us not freeze a group");
    return this;
  }

  static void requireTool(String... words) {
    try {
      Process process =
          new ProcessBuilder(words)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      process.waitFor();
    } catch (IOException e) {
      abort("NOT RUN: " + words[0] + " is not installed");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Starts a shell that joins the group before it runs the script. */
  Process start(ControlGroup joined, String script, String... arguments) throws IOException {
    StringBuilder join = new StringBuilder();
    for (Path file : joined.joinFiles()) {
      join.append("echo 0 > '").append(file).append("' || exit 99\n");
    }
    List<String> words = new ArrayList<>(List.of("sh", "-c", join + script, "sh"));
    words.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    started.add(process);
    return process;
  }

  @Override
  public void close() throws IOException {
    try {
      group.remove(TIMEOUT);
      all.remove(TIMEOUT);
    } finally {
      for (Process process : started) {
        process.destroyForcibly();
        try {
          process.waitFor();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        process.getOutputStream().close();
        process.getInputStream().close();
        process.getErrorStream().close();
      }
    }
  }

  static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
