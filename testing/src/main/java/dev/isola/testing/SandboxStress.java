package dev.isola.testing;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Creates, uses and destroys sandboxes repeatedly, and kills their processes at random: during
 * create and while a command runs, from the host and from inside the sandbox. A leak check
 * afterwards finds what is left.
 */
public final class SandboxStress {
  /** What is killed in a round. */
  private enum Kill {
    NOTHING,
    /** Processes labeled with the sandbox id, during create. */
    WHILE_MADE,
    /** Processes labeled with the sandbox id, while a command runs. */
    WHILE_RUNNING,
    /** Every process that a command in the sandbox can kill. */
    FROM_WITHIN
  }

  /**
   * The results of all rounds.
   *
   * @param answered commands that returned the expected result
   * @param killed rounds in which processes were killed
   * @param refused calls that failed as expected after a kill
   */
  public record StressSummary(int rounds, int answered, int killed, int refused) {}

  private final TemporaryInstallation installation;
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger killed = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  public SandboxStress(TemporaryInstallation installation) {
    this.installation = installation;
  }

  /**
   * Runs {@code rounds} rounds on two threads; processes are killed in one of five.
   *
   * @throws AssertionError if a round without a kill fails
   */
  public StressSummary run(Provider provider, int rounds, long seed) throws InterruptedException {
    List<Throwable> failures = new ArrayList<>();
    AtomicInteger next = new AtomicInteger();
    Runnable work =
        () -> {
          for (int i = next.getAndIncrement(); i < rounds; i = next.getAndIncrement()) {
            try {
              round(provider, new Random(seed + i));
            } catch (RuntimeException | Error | InterruptedException e) {
              synchronized (failures) {
                failures.add(new AssertionError("round " + i + " of seed " + seed, e));
              }
            }
          }
        };
    List<Thread> threads = List.of(Thread.ofVirtual().start(work), Thread.ofVirtual().start(work));
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new AssertionError(failures.size() + " rounds failed", failures.getFirst());
    }
    return new StressSummary(rounds, answered.get(), killed.get(), refused.get());
  }

  private void round(Provider provider, Random random) throws InterruptedException {
    SandboxId id = SandboxId.random(random);
    Kill kill = random.nextInt(5) > 0 ? Kill.NOTHING : Kill.values()[1 + random.nextInt(3)];
    Thread killer = null;
    if (kill == Kill.WHILE_MADE) {
      int after = random.nextInt(12);
      killer = Thread.ofVirtual().start(() -> killMarked(id, after));
    }
    try {
      SandboxSpec spec =
          SandboxSpec.builder(id)
              .deadline(Duration.ofMinutes(5))
              .startupTimeout(Duration.ofSeconds(20))
              .build();
      use(provider.create(spec), kill, random);
    } catch (SandboxException e) {
      if (kill == Kill.NOTHING) {
        throw e;
      }
      refused.incrementAndGet();
    } finally {
      if (killer != null) {
        killer.join();
      }
      provider.destroy(id, random.nextBoolean() ? DestroyOptions.NORMAL : DestroyOptions.FORCE);
    }
    if (kill != Kill.NOTHING) {
      killed.incrementAndGet();
    }
  }

  private void use(Sandbox sandbox, Kill kill, Random random) {
    sandbox.start(Command.shell("sleep 1000 & setsid sleep 1000 & sleep 1000")).close();
    switch (kill) {
      case WHILE_RUNNING -> killMarked(sandbox.id(), 0);
      case FROM_WITHIN -> sandbox.start(Command.shell("kill -9 -1; kill -9 1")).close();
      default -> {}
    }
    String word = "round-" + random.nextInt(1_000_000);
    ExecResult result = sandbox.run(Command.shell("echo " + word));
    if (result.stdout().text().equals(word + "\n")) {
      answered.incrementAndGet();
    } else if (kill == Kill.NOTHING) {
      throw new AssertionError("a command without a kill returned " + result);
    } else {
      refused.incrementAndGet();
    }
  }

  /** Kills the processes that have the sandbox id on their command line, one after the other. */
  private void killMarked(SandboxId id, int afterMillis) {
    try {
      Thread.sleep(afterMillis);
      String marks =
          "--instance\0" + installation.instance().value() + "\0--sandbox\0" + id.value();
      try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
        for (Path process : processes) {
          if (commandLine(process).contains(marks)) {
            ProcessHandle.of(Long.parseLong(process.getFileName().toString()))
                .ifPresent(ProcessHandle::destroyForcibly);
          }
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("/proc cannot be listed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String commandLine(Path process) {
    try {
      return Files.readString(process.resolve("cmdline"));
    } catch (IOException gone) {
      return "";
    }
  }
}
