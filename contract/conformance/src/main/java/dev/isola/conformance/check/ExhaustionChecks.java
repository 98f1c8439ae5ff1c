package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.provider.SpecFeature;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that one sandbox cannot exhaust objects that the kernel counts per machine or per user.
 * Not run if the provider does not declare {@link LimitKind#KERNEL_OBJECTS}.
 */
public final class ExhaustionChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** A sandbox that gets more than this is considered unlimited. */
  private static final int WITHOUT_END = 4000;

  private static final int CONSUMERS = 4;

  private static final String INOTIFY =
      """
      import ctypes
      libc = ctypes.CDLL(None)
      def take():
          count = 0
          while count < 1000 and libc.inotify_init() >= 0: count += 1
          return count
      """;

  /** Queues of the default size; the kernel's default limit has room for nine. */
  private static final String MESSAGE_QUEUES =
      """
      import ctypes, os
      libc = ctypes.CDLL(None)
      if not hasattr(libc, 'mq_open'): libc = ctypes.CDLL('librt.so.1')
      def take():
          count, flags = 0, os.O_CREAT | os.O_RDWR
          while count < 200:
              name = b'/isola-%d-%d' % (os.getuid(), count)
              if libc.mq_open(name, flags, 0o600, None) < 0: break
              count += 1
          return count
      """;

  /** Signals that are never delivered, more than the kernel's default limit of most machines. */
  private static final String SIGNALS =
      """
      import ctypes, os, signal
      libc = ctypes.CDLL(None)
      def take():
          signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 5])
          count, self = 0, os.getpid()
          while count < 150000 and libc.sigqueue(self, signal.SIGRTMIN + 5, None) == 0: count += 1
          return count
      """;

  /** Contexts of asynchronous requests; seventeen of them exceed the kernel's default limit. */
  private static final String CONTEXTS =
      """
      import ctypes, platform
      libc = ctypes.CDLL(None)
      def take():
          number, count = 206 if platform.machine() == 'x86_64' else 0, 0
          while count < 17:
              context = ctypes.c_ulong(0)
              if libc.syscall(number, 4096, ctypes.byref(context)) != 0: break
              count += 1
          return count
      """;

  private static final String COUNT = "print(take())";

  /** Allocates objects as root and then as eight other users, if a process can switch users. */
  private static final String HOLD =
      """
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

  /** Returns how many objects another sandbox gets while one holds all that it can get. */
  private static int left(Sandbox other, String take) {
    return number(other.run(Command.argv("python3", "-c", take + COUNT).withTimeout(TIMEOUT)));
  }

  /** Returns the number of signals that are queued for the user of this process. */
  private static int queuedSignals() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("SigQ:")) {
        return Integer.parseInt(line.substring("SigQ:".length(), line.indexOf('/')).strip());
      }
    }
    return 0;
  }

  /** Without root, the kernel counts all sandboxes as the server's user. */
  private static void requireUsersOfEachSandbox(CheckContext check) {
    if (check.info().isolation().isAtLeast(Isolation.KERNEL)) {
      throw check.notRun("the sandboxes have a kernel of their own");
    }
    if (!check.info().support().features().contains(SpecFeature.USERS)) {
      throw check.notRun("all sandboxes are the same user of the machine");
    }
  }

  @Check(value = "S2", tools = "python3")
  public void inotifyInstancesAreNotExhausted(CheckContext check) {
    Sandbox consumer = sandbox(check);
    Sandbox other = sandbox(check);
    try (Execution holder = hold(consumer, INOTIFY + HOLD)) {
      int had = held(consumer);
      Expect.that(had >= 8, "a sandbox has some inotify instances: " + had);
      int left = left(other, INOTIFY);
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
  public void inotifyInstancesAreNotExhaustedByManySandboxes(CheckContext check)
      throws IOException {
    Sandbox other = sandbox(check);
    requireUsersOfEachSandbox(check);
    List<Execution> holders = new ArrayList<>();
    List<WatchService> watches = new ArrayList<>();
    try {
      int first = 0;
      for (int i = 0; i < CONSUMERS; i++) {
        Sandbox consumer = sandbox(check);
        holders.add(hold(consumer, INOTIFY + HOLD));
        int had = held(consumer);
        first = i == 0 ? had : first;
        Expect.that(had >= 8, "sandbox " + i + " has some inotify instances: " + had);
        Expect.equal(first, had, "the inotify instances of sandbox " + i);
      }
      int left = left(other, INOTIFY);
      Expect.that(left >= 8, "a further sandbox has some: " + left);
      for (int i = 0; i < 8; i++) {
        watches.add(FileSystems.getDefault().newWatchService()); // fails if there is no instance
      }
    } finally {
      holders.forEach(Execution::kill);
      holders.forEach(Execution::close);
      for (WatchService watch : watches) {
        watch.close();
      }
    }
  }

  @Check(value = "S2", tools = "python3")
  public void messageQueuesAreNotExhausted(CheckContext check) {
    Sandbox consumer = sandbox(check);
    Sandbox other = sandbox(check);
    requireUsersOfEachSandbox(check);
    try (Execution holder = hold(consumer, MESSAGE_QUEUES + HOLD)) {
      int had = held(consumer);
      Expect.that(had >= 1 && had <= 100, "a sandbox has some message queues, not all: " + had);
      int left = left(other, MESSAGE_QUEUES);
      Expect.that(left >= 1, "another sandbox has some while one holds all that it gets: " + left);
      holder.kill();
    }
  }

  @Check(value = "S2", tools = "python3")
  public void queuedSignalsAreNotExhausted(CheckContext check) throws IOException {
    Sandbox consumer = sandbox(check);
    Sandbox other = sandbox(check);
    requireUsersOfEachSandbox(check);
    int before = queuedSignals();
    try (Execution holder = hold(consumer, SIGNALS + HOLD)) {
      int had = held(consumer);
      Expect.that(had >= 1000 && had <= 20_000, "a sandbox queues some signals: " + had);
      int machine = queuedSignals() - before;
      Expect.that(machine < 1000, "they do not count as the machine's: " + machine);
      int left = left(other, SIGNALS);
      Expect.that(left >= 1000, "another sandbox queues some while one has all it gets: " + left);
      holder.kill();
    }
  }

  @Check(value = "S2", tools = "python3")
  public void asynchronousRequestsAreNotExhausted(CheckContext check) throws IOException {
    int all = machine(check, "/proc/sys/fs/aio-max-nr");
    Sandbox consumer = sandbox(check);
    int before = machine(check, "/proc/sys/fs/aio-nr");
    try (Execution holder = hold(consumer, CONTEXTS + HOLD)) {
      int taken = machine(check, "/proc/sys/fs/aio-nr") - before;
      Expect.that(taken <= all / 8, "one sandbox takes few of the machine's " + all + ": " + taken);
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
