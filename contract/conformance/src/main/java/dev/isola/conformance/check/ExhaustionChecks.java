package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Checks that one sandbox cannot exhaust objects that the kernel counts per machine or per user.
 * Not run if the provider does not declare {@link LimitKind#KERNEL_OBJECTS}.
 */
public final class ExhaustionChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** A sandbox that gets more than this is considered unlimited. */
  private static final int WITHOUT_END = 4000;

  private static final String INOTIFY =
      """
      import ctypes
      libc = ctypes.CDLL(None)
      def take():
          count = 0
          while count < 1000 and libc.inotify_init() >= 0: count += 1
          return count
      """;

  private static final String COUNT = INOTIFY + "print(take())";

  /** Allocates objects as root and then as eight other users, if a process can switch users. */
  private static final String HOLD_INOTIFY =
      INOTIFY
          + """
          import os, signal
          total = take()
          for user in range(1001, 1009):
              if os.getuid() != 0: break
              done, tell = os.pipe()
              if os.fork() == 0:
                  try: os.setuid(user)
                  except OSError: pass
                  os.write(tell, str(take()).encode())
                  signal.pause()
              total += int(os.read(done, 16))
          with open('counting', 'w') as file: file.write(str(total))
          os.rename('counting', 'held')
          signal.pause()
          """;

  private static final String HOLD_TERMINALS =
      """
      import os, signal
      count = 0
      try:
          while count < %d:
              os.openpty()
              count += 1
      except OSError:
          pass
      with open('counting', 'w') as file: file.write(str(count))
      os.rename('counting', 'held')
      signal.pause()
      """
          .formatted(WITHOUT_END);

  private static Sandbox sandbox(CheckContext check) {
    if (!check.info().support().enforcedLimits().contains(LimitKind.KERNEL_OBJECTS)) {
      throw check.notRun("the provider does not declare kernel objects as enforced");
    }
    return check.create(spec -> spec.limits(spec.build().limits().withFileDescriptors(1 << 14)));
  }

  /** Starts a script that allocates as much as it can and holds it; returns once it has. */
  private static Execution hold(Sandbox sandbox, String script) {
    Execution holder = sandbox.start(Command.argv("python3", "-c", script));
    Expect.eventually(
        TIMEOUT,
        "the script takes what it can get",
        () -> {
          Expect.that(holder.await(Duration.ZERO).isEmpty(), "the script keeps running");
          return sandbox.files().exists("held");
        });
    return holder;
  }

  private static int held(Sandbox sandbox) {
    return number(sandbox.run(Command.argv("cat", "held")));
  }

  private static int number(ExecResult result) {
    Expect.that(result.succeeded(), "the script counts: " + result);
    return Integer.parseInt(result.stdout().text().strip());
  }

  private static int machine(CheckContext check, String file) throws IOException {
    Path path = Path.of(file);
    if (!Files.isReadable(path)) {
      throw check.notRun("this machine has no " + file);
    }
    byte[] text = new byte[32];
    try (InputStream kernel = Files.newInputStream(path)) {
      int length = kernel.read(text); // in one read: the kernel returns the value only to the first
      return Integer.parseInt(new String(text, 0, length, StandardCharsets.US_ASCII).strip());
    }
  }

  @Check(value = "S2", tools = "python3")
  public void inotifyInstancesAreNotExhausted(CheckContext check) {
    Sandbox consumer = sandbox(check);
    Sandbox other = sandbox(check);
    try (Execution holder = hold(consumer, HOLD_INOTIFY)) {
      int had = held(consumer);
      Expect.that(had >= 8, "a sandbox has some inotify instances: " + had);
      int left = number(other.run(Command.argv("python3", "-c", COUNT).withTimeout(TIMEOUT)));
      Expect.that(
          left >= 8,
          "another sandbox has some while one holds all that its users can get, "
              + had
              + ": "
              + left);
      holder.kill();
    }
  }

  @Check(value = "S2", tools = "python3")
  public void terminalsAreNotExhausted(CheckContext check) throws IOException {
    int all = machine(check, "/proc/sys/kernel/pty/max");
    Sandbox consumer = sandbox(check);
    int before = machine(check, "/proc/sys/kernel/pty/nr");
    try (Execution holder = hold(consumer, HOLD_TERMINALS)) {
      int had = held(consumer);
      int taken = machine(check, "/proc/sys/kernel/pty/nr") - before;
      Expect.that(had >= 16, "a sandbox has some terminals: " + had);
      Expect.that(taken <= all / 8, "one sandbox takes few of the machine's " + all + ": " + taken);
      holder.kill();
    }
  }
}
