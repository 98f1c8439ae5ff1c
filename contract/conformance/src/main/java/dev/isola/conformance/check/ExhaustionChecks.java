package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.Expect;
import dev.isola.conformance.Subject;
import dev.isola.spi.Isolation;
import dev.isola.spi.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Checks that one sandbox cannot use up what the kernel counts for the whole machine or for one of
 * its users.
 */
public final class ExhaustionChecks {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Counts how often something can be had; more than this is without end for a sandbox. */
  private static final int WITHOUT_END = 4000;

  private static final String INOTIFY =
      """
      import ctypes
      libc = ctypes.CDLL(None)
      count = 0
      while count < %d and libc.inotify_init() >= 0: count += 1
      print(count)
      """;

  private static final String TERMINALS =
      """
      import os
      count = 0
      try:
          while count < %d:
              os.openpty()
              count += 1
      except OSError:
          pass
      print(count)
      """;

  private static Sandbox sandbox(Subject s) {
    if (s.info().isolation() == Isolation.PROCESS) {
      throw s.notRun("isolation process promises nothing here");
    }
    if (s.info().isolation() != Isolation.CONTAINER) {
      throw s.notRun("the sandbox has a kernel of its own, which counts for itself");
    }
    return s.create(spec -> spec.limits(spec.build().limits().withFileDescriptors(1 << 14)));
  }

  private static int count(Sandbox sandbox, String script) {
    ExecResult result =
        sandbox.run(
            Command.argv("python3", "-c", script.formatted(WITHOUT_END)).withTimeout(PATIENCE));
    Expect.that(result.succeeded(), "the script counts: " + result);
    return Integer.parseInt(result.stdout().text().strip());
  }

  private static int number(Subject s, String file) throws IOException {
    Path path = Path.of(file);
    if (!Files.isReadable(path)) {
      throw s.notRun("this machine has no " + file);
    }
    byte[] text = new byte[32];
    try (InputStream kernel = Files.newInputStream(path)) {
      int length = kernel.read(text); // at once: the kernel tells the value only to the first read
      return Integer.parseInt(new String(text, 0, length, StandardCharsets.US_ASCII).strip());
    }
  }

  @Check(value = "S2", tools = "python3")
  public void inotifyInstancesAreNotUsedUp(Subject s) throws IOException {
    int machine = number(s, "/proc/sys/fs/inotify/max_user_instances");
    int had = count(sandbox(s), INOTIFY);
    Expect.that(had >= 8, "a sandbox has some inotify instances: " + had);
    Expect.that(
        had <= Math.max(16, machine / 2),
        "one sandbox gets less than half of the " + machine + " instances of a user: " + had);
  }

  @Check(value = "S2", tools = "python3")
  public void terminalsAreNotUsedUp(Subject s) throws IOException {
    int machine = number(s, "/proc/sys/kernel/pty/max");
    int had = count(sandbox(s), TERMINALS);
    Expect.that(had >= 16, "a sandbox has some terminals: " + had);
    Expect.that(
        had <= machine / 8, "one sandbox gets few of the machine's " + machine + ": " + had);
  }
}
