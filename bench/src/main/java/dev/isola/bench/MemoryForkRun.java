package dev.isola.bench;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Output;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Forks a sandbox in which a Python interpreter holds a block of random bytes, and asks the
 * interpreter of each fork for the checksum of its block.
 */
final class MemoryForkRun {
  static final int FORKS = 10;
  static final long HELD_BYTES = 100_000_000;
  private static final long MEMORY_MB = 1024;
  private static final Duration LINGER = Duration.ofMinutes(2);
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Command TRUE = Command.argv("/bin/true");

  /** Prints the checksum of the block at the start and for each line of input. */
  private static final String INTERPRETER =
      """
      import os, sys, zlib
      block = os.urandom(int(sys.argv[1]))
      print(zlib.crc32(block), flush=True)
      for line in sys.stdin:
          print(zlib.crc32(block), flush=True)
      """;

  private final BenchProvider benchProvider;
  private final Provider provider;
  private final int n;
  private final long heldBytes;
  private final ConcurrentLinkedQueue<Sandbox> forks = new ConcurrentLinkedQueue<>();
  private final List<Long> charged = new ArrayList<>();
  private Samples answers = Samples.NONE;
  private Samples frozen = Samples.NONE;
  private int continued;

  MemoryForkRun(BenchProvider benchProvider, int n, long heldBytes) {
    this.benchProvider = benchProvider;
    this.provider = benchProvider.provider();
    this.n = n;
    this.heldBytes = heldBytes;
  }

  /**
   * @throws IOException if a sandbox cannot be created or measured; none remains in that case
   *     either
   */
  MemoryForks run() throws IOException, InterruptedException {
    SandboxSpec spec =
        benchProvider.spec().toBuilder()
            .limits(ResourceLimits.DEFAULT.withMemoryMb(MEMORY_MB))
            .linger(LINGER) // the agent of the source loses its connection while it is saved
            .build();
    Sandbox source = provider.create(spec);
    try (Execution interpreter = startInterpreter(source, heldBytes)) {
      String checksum = line(interpreter);
      for (int i = 0; i < n; i++) {
        try {
          round(source, spec, interpreter.id(), checksum);
        } finally {
          destroyForks();
        }
      }
    } finally {
      provider.destroy(source.id(), DestroyOptions.FORCE);
    }
    return new MemoryForks(
        benchProvider.name(),
        FORKS,
        heldBytes,
        n,
        answers.count(),
        continued,
        answers.medianMs(),
        answers.slowestMs(),
        frozen.medianMs(),
        median(charged));
  }

  static Execution startInterpreter(Sandbox sandbox, long bytes) {
    return sandbox.start(
        Command.argv("python3", "-c", INTERPRETER, Long.toString(bytes)).withStdin());
  }

  private void round(Sandbox source, SandboxSpec spec, ExecutionId interpreter, String checksum)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    try (ForkPoint point =
        source
            .as(MemoryForking.class)
            .orElseThrow(() -> new IOException("the sandbox does not support forks of memory"))
            .createForkPoint()) {
      long held = point.frozenFor().toNanos();
      frozen = frozen.plus(Samples.of(held, held));
      answers = answers.plus(Parallel.runFrom(start, () -> forkOne(point, spec), FORKS));
    }
    for (Sandbox fork : forks) {
      charged(fork).ifPresent(charged::add);
    }
    for (Sandbox fork : forks) {
      if (continues(fork, interpreter, checksum)) {
        continued++;
      }
    }
  }

  private void forkOne(ForkPoint point, SandboxSpec spec) throws IOException {
    Sandbox fork = point.create(spec.withId(SandboxId.random(RANDOM)));
    forks.add(fork);
    if (!fork.run(TRUE).succeeded()) {
      throw new IOException("a command in fork " + fork.id() + " failed");
    }
  }

  private OptionalLong charged(Sandbox fork) {
    Optional<UsageReporting> reporting = fork.as(UsageReporting.class);
    return reporting.isPresent()
            && provider.info().support().enforcedLimits().contains(LimitKind.MEMORY)
        ? OptionalLong.of(reporting.get().usage().memoryBytes())
        : OptionalLong.empty();
  }

  /** Returns whether the interpreter runs in the fork and has the block of the source. */
  static boolean continues(Sandbox fork, ExecutionId interpreter, String checksum)
      throws InterruptedException {
    Optional<Attaching> attaching = fork.as(Attaching.class);
    if (attaching.isEmpty()) {
      return false;
    }
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> answer =
          executor.submit(
              () -> {
                long end =
                    attaching.get().executions().stream()
                        .filter(one -> one.id().equals(interpreter) && one.running())
                        .findFirst()
                        .orElseThrow(() -> new IOException("no interpreter"))
                        .endOffset();
                try (Execution attached = attaching.get().attach(interpreter, end)) {
                  OutputStream in = attached.stdin();
                  in.write('\n');
                  in.flush();
                  return line(attached).equals(checksum);
                }
              });
      try {
        return answer.get(ANSWER.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        answer.cancel(true);
        return false; // it is reported as not continued
      }
    }
  }

  static String line(Execution execution) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\n") < 0) {
      Output output =
          execution
              .read()
              .orElseThrow(() -> new IOException("the interpreter ended: " + text.toString()));
      if (output instanceof Output.Data data) {
        text.append(new String(data.bytes().toArray(), StandardCharsets.US_ASCII));
      }
    }
    return text.toString().strip();
  }

  private void destroyForks() throws IOException {
    IOException failure = null;
    for (Sandbox fork : forks) {
      try {
        provider.destroy(fork.id(), DestroyOptions.FORCE);
      } catch (SandboxException e) {
        failure = new IOException("fork " + fork.id() + " was not destroyed", e);
      }
    }
    forks.clear();
    if (failure != null) {
      throw failure;
    }
  }

  private static OptionalLong median(List<Long> values) {
    long[] sorted = values.stream().mapToLong(Long::longValue).sorted().toArray();
    return Arrays.stream(sorted).skip(sorted.length / 2).findFirst();
  }
}
