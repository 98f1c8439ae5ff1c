package dev.isola.bench;

import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Keeps many sandboxes of one provider alive at once, measures them, and destroys them. */
final class DensityRun {
  private static final Command TRUE = Command.argv("/bin/true");

  private final BenchProvider benchProvider;
  private final int count;
  private final SandboxProcesses residents = new SandboxProcesses(Path.of("/proc"));
  private final List<Sandbox> alive = new ArrayList<>();

  DensityRun(BenchProvider benchProvider, int count) {
    this.benchProvider = benchProvider;
    this.count = count;
  }

  /**
   * @throws IOException if a sandbox cannot be created or measured; none remains in that case
   *     either
   */
  Density run() throws IOException {
    warmUp();
    LeakDetector leakDetector =
        new LeakDetector(benchProvider.trial().instance(), benchProvider.trial().data());
    ResourceScan before = leakDetector.scan();
    Own own = own();
    Samples created = Samples.NONE;
    Samples destroyed = Samples.NONE;
    Look look;
    Own grown;
    int answered;
    try {
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        Sandbox sandbox = benchProvider.provider().create(benchProvider.spec());
        long taken = System.nanoTime() - start;
        alive.add(sandbox);
        created = created.plus(Samples.of(taken, taken));
      }
      answered = countResponsive(); // Before any command, which would increase the memory.
      look = look();
      grown = own();
    } finally {
      destroyed = destroyAll();
    }
    return new Density(
        benchProvider.name(),
        count,
        answered,
        look.processes(),
        look.privateBytes(),
        look.privateBytesMost(),
        look.chargedBytes(),
        (grown.privateBytes() - own.privateBytes()) / count,
        (grown.heapBytes() - own.heapBytes()) / count,
        created.medianMs(),
        destroyed.medianMs(),
        leakDetector.leakedSince(before));
  }

  /** The first sandbox loads and compiles the code that the others use. */
  private void warmUp() {
    Sandbox sandbox = benchProvider.provider().create(benchProvider.spec());
    try {
      sandbox.run(TRUE);
    } finally {
      benchProvider.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
    }
  }

  private record Look(
      double processes, long privateBytes, long privateBytesMost, OptionalLong chargedBytes) {}

  private Look look() throws IOException {
    Map<String, List<Long>> found =
        residents.of(alive.stream().map(sandbox -> sandbox.id().value()).toList());
    long[] processes = new long[alive.size()];
    long[] bytes = new long[alive.size()];
    for (int i = 0; i < bytes.length; i++) {
      List<Long> pids = found.getOrDefault(alive.get(i).id().value(), List.of());
      processes[i] = pids.size();
      for (long pid : pids) {
        OptionalLong own = residents.privateBytes(Long.toString(pid));
        if (own.isPresent()) {
          bytes[i] += own.getAsLong();
        } else if (residents.isRunning(pid)) {
          throw new IOException("the memory of process " + pid + " cannot be read");
        }
      }
    }
    Arrays.sort(processes);
    Arrays.sort(bytes);
    return new Look(median(processes), median(bytes), bytes[bytes.length - 1], charged());
  }

  private OptionalLong charged() {
    if (!benchProvider.provider().info().support().enforcedLimits().contains(LimitKind.MEMORY)) {
      return OptionalLong.empty();
    }
    long[] charged = new long[alive.size()];
    for (int i = 0; i < charged.length; i++) {
      Optional<UsageReporting> reporting = alive.get(i).as(UsageReporting.class);
      if (reporting.isEmpty()) {
        return OptionalLong.empty();
      }
      charged[i] = reporting.get().usage().memoryBytes();
    }
    Arrays.sort(charged);
    return OptionalLong.of(median(charged));
  }

  private static long median(long[] sorted) {
    return sorted[sorted.length / 2];
  }

  private int countResponsive() {
    int answered = 0;
    for (Sandbox sandbox : alive) {
      try {
        if (sandbox.run(TRUE).succeeded()) {
          answered++;
        }
      } catch (SandboxException e) {
        // A sandbox that does not respond is not counted.
      }
    }
    return answered;
  }

  private Samples destroyAll() {
    Samples samples = Samples.NONE;
    for (Sandbox sandbox : alive) {
      long start = System.nanoTime();
      benchProvider.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
      long taken = System.nanoTime() - start;
      samples = samples.plus(Samples.of(taken, taken));
    }
    alive.clear();
    return samples;
  }

  private record Own(long privateBytes, long heapBytes) {}

  /** Returns the memory of this process after a garbage collection. */
  private Own own() throws IOException {
    System.gc();
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    return new Own(
        residents
            .privateBytes("self")
            .orElseThrow(
                () -> new IOException("the kernel does not report the memory of this process")),
        heap);
  }
}
