package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.ResourceLimits;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Checks that declared limits are enforced. A check of an undeclared limit is not run. */
public final class LimitsChecks {
  private static final ResourceLimits DEFAULT = ResourceLimits.DEFAULT;

  private static Sandbox limited(CheckContext check, LimitKind kind, ResourceLimits limits) {
    if (!check.info().support().enforcedLimits().contains(kind)) {
      throw check.notRun(
          "the provider does not declare "
              + kind.name().toLowerCase(Locale.ROOT).replace('_', ' ')
              + " as enforced");
    }
    return check.create(spec -> spec.limits(limits));
  }

  private static void expectUsable(Sandbox sandbox) {
    ExecResult after = sandbox.run(Command.shell("echo works"));
    Expect.equal("works\n", after.stdout().text(), "a command after the limit was met");
  }

  /**
   * A shell keeps the descriptor that a redirection replaces open, so every level uses one more.
   */
  private static Command nestedRedirections(int levels) {
    return Command.shell("{ ".repeat(levels) + "echo opened; " + "} 3</dev/null; ".repeat(levels));
  }

  @Check("S2")
  public void fileDescriptorsAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.FILE_DESCRIPTORS, DEFAULT.withFileDescriptors(32));
    ExecResult few = sandbox.run(nestedRedirections(5));
    Expect.equal("opened\n", few.stdout().text(), "the output with few descriptors");
    ExecResult many = sandbox.run(nestedRedirections(60));
    Expect.that(!many.succeeded(), "60 open files do not fit into a limit of 32: " + many);
    Expect.equal("", many.stdout().text(), "the output with too many descriptors");
    expectUsable(sandbox);
  }

  @Check(value = "S2", tools = "tail")
  public void memoryIsLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.MEMORY, DEFAULT.withMemoryMb(64));
    ExecResult few = sandbox.run(hog(1_000_000));
    Expect.that(few.succeeded(), "a megabyte fits into 64: " + few);
    ExecResult many = sandbox.run(hog(600_000_000).withTimeout(Duration.ofSeconds(60)));
    Expect.equal(new Exit.OutOfMemory(), many.exit(), "how 600 MB in 64 end");
    Expect.that(many.limitsMet().contains(LimitKind.MEMORY), "the result names the limit: " + many);
    if (check.info().isolation() == Isolation.KERNEL && sandbox.state() == SandboxState.DESTROYED) {
      // A user-space kernel is a single host process and is killed as a whole.
      Expect.gone("a command after that", () -> sandbox.run(Command.shell("echo")));
    } else {
      expectUsable(sandbox);
    }
  }

  /** Fills the buffers of 200 connections, writes the number of bytes in them, and stays. */
  private static final String CONNECTIONS =
      """
      import os, signal, socket
      try:
          server = socket.create_server(('127.0.0.1', 0), backlog=256)
          socket.create_connection(server.getsockname()).close()
          server.accept()[0].close()
      except OSError:
          raise SystemExit(77)
      held, total, data = [], 0, bytes(65536)
      for _ in range(200):
          held += [socket.create_connection(server.getsockname()), server.accept()[0]]
          for end in held[-2:]:
              end.setblocking(False)
              try:
                  while total < 400 << 20: total += end.send(data)
              except BlockingIOError: pass
      with open('counting', 'w') as file: file.write(str(total))
      os.rename('counting', 'held')
      signal.pause()
      """;

  private static final int NO_LOOPBACK = 77;

  /**
   * Buffers of connections are memory of the kernel, which control groups 1 count separately. A
   * kernel in user space keeps them in its own memory, which {@link #memoryIsLimited} fills.
   */
  @Check(value = "S2", tools = "python3")
  public void buffersOfConnectionsAreLimitedAndCounted(CheckContext check) {
    if (check.info().isolation() == Isolation.KERNEL) {
      throw check.notRun("the buffers are memory of the sandbox's own kernel");
    }
    int limit = 64;
    Sandbox sandbox = limited(check, LimitKind.MEMORY, DEFAULT.withMemoryMb(limit));
    boolean engine = check.info().hosting() != Hosting.LOCAL;
    if (engine && sandbox.run(Command.shell("test -d /sys/fs/cgroup/memory")).succeeded()) {
      throw check.notRun("an engine cannot limit buffers with control groups of version 1");
    }
    try (Execution holder = sandbox.start(Command.argv("python3", "-c", CONNECTIONS))) {
      Expect.eventually(
          Duration.ofMinutes(2),
          "the script fills the buffers, or is ended at the limit",
          () -> holder.await(Duration.ZERO).isPresent() || sandbox.files().exists("held"));
      Optional<Exit> ended = holder.await(Duration.ZERO);
      if (ended.equals(Optional.of(new Exit.Exited(NO_LOOPBACK)))) {
        throw check.notRun("the sandbox has no loopback interface");
      }
      if (ended.isPresent()) {
        Expect.equal(new Exit.OutOfMemory(), ended.get(), "how the script ends");
        return;
      }
      long bytes = Long.parseLong(sandbox.run(Command.argv("cat", "held")).stdout().text());
      Expect.that(
          bytes <= (2L * limit) << 20,
          "200 connections in " + limit + " MB hold no more than twice that: " + bytes);
      sandbox
          .as(UsageReporting.class)
          .ifPresent(
              usage -> {
                long used = usage.usage().memoryBytes();
                Expect.that(used >= bytes / 2, "the usage counts " + bytes + " bytes: " + used);
              });
      holder.kill();
    }
  }

  @Check(value = "S2", tools = "tail")
  public void otherSandboxesAreNotAffectedByALimit(CheckContext check) {
    Sandbox greedy =
        limited(check, LimitKind.MEMORY, DEFAULT.withMemoryMb(64).withDiskMb(32).withProcesses(24));
    Sandbox other = check.create(spec -> spec);
    try (Execution idle = other.start(Command.shell("sleep 1000"));
        Execution hogs =
            greedy.start(
                Command.shell(
                    "sleep 1; for i in 1 2 3 4 5 6; do (head -c 600000000 /dev/zero | tail -n 1) &"
                        + " done; head -c 100000000 /dev/zero > big; wait"))) {
      expectUsable(other);
      hogs.await(Duration.ofSeconds(60));
      expectUsable(other);
      Expect.that(
          idle.await(Duration.ofMillis(50)).isEmpty(), "the command of the other sandbox goes on");
      idle.kill();
      hogs.kill();
    }
  }

  @Check("S2")
  public void aRequiredLimitThatIsNotEnforcedIsRefused(CheckContext check) {
    for (LimitKind kind : LimitKind.values()) {
      Expect.equal(
          check.info().support().enforcedLimits().contains(kind),
          check.info().missing(check.spec().build(), Requirements.limits(kind)).isEmpty(),
          "whether a request may require the limit of " + kind + ", as declared,");
    }
  }

  /** tail -n 1 of input without line breaks buffers all of it. */
  private static Command hog(long bytes) {
    return Command.shell("head -c " + bytes + " /dev/zero | tail -n 1 > /dev/null");
  }

  private static void namesTheDisk(ExecResult result) {
    Expect.that(
        result.limitsMet().contains(LimitKind.DISK)
            || result.stderr().text().contains("No space left on device"),
        "the result names the limit: " + result);
  }

  @Check("S2")
  public void diskIsLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.DISK, DEFAULT.withDiskMb(32));
    Command fill = Command.shell("head -c 100000000 /dev/zero > big");
    ExecResult result = sandbox.run(fill.withTimeout(Duration.ofSeconds(60)));
    Expect.that(!result.succeeded(), "100 MB do not fit into 32: " + result);
    namesTheDisk(result);
    sandbox.files().remove("big", false);
    Expect.thrown(
        "writing 40 MB through the file API",
        () ->
            sandbox
                .files()
                .write("big", FileContents.of(new byte[40_000_000]), WriteOptions.DEFAULT),
        LimitExceeded.class);
    Expect.that(!sandbox.files().exists("big"), "the file that did not fit is not there");
    expectUsable(sandbox);
  }

  @Check(value = "S2", tools = "while")
  public void diskIsLimitedForManyFilesToo(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.DISK, DEFAULT.withDiskMb(32));
    Command fill =
        Command.shell(
            "i=0; while test $i -lt 2000; do head -c 1000000 /dev/zero > f$i || exit 1;"
                + " i=$((i+1)); done");
    ExecResult result = sandbox.run(fill.withTimeout(Duration.ofSeconds(60)));
    Expect.that(!result.succeeded(), "2 GB do not fit into 32 MB: " + result);
    Expect.that(!result.timedOut(), "it is ended when the limit is met: " + result);
    namesTheDisk(result);
    sandbox.run(Command.shell("rm -f f*"));
    expectUsable(sandbox);
    sandbox.files().write("small", FileContents.of(new byte[1_000_000]), WriteOptions.DEFAULT);
  }

  @Check("S2")
  public void commandsWithoutATimeoutGetTheDefault(CheckContext check) {
    Sandbox sandbox =
        limited(check, LimitKind.TIMEOUT, DEFAULT.withTimeout(Duration.ofMillis(700)));
    ExecResult result = sandbox.run(Command.shell("echo begun; sleep 20"));
    Expect.that(result.timedOut(), "the sandbox's timeout ends the command: " + result.exit());
    Expect.equal("begun\n", result.stdout().text(), "the output before it");
    Command longer = Command.shell("sleep 1; echo slept").withTimeout(Duration.ofSeconds(30));
    Expect.equal(
        "slept\n", sandbox.run(longer).stdout().text(), "a command with a timeout of its own");
    expectUsable(sandbox);
  }

  @Check(value = "S2", needs = UsageReporting.class, tools = "while")
  public void processorTimeIsLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.CPU, DEFAULT.withCpu(0.25));
    UsageReporting usage = sandbox.as(UsageReporting.class).orElseThrow();
    Duration before = usage.usage().cpuTime();
    long start = System.nanoTime();
    sandbox.run(Command.shell("while :; do :; done").withTimeout(Duration.ofSeconds(4)));
    double elapsed = (System.nanoTime() - start) / 1e9;
    double used = usage.usage().cpuTime().minus(before).toNanos() / 1e9;
    Expect.that(
        used <= elapsed * 0.25 * 1.5 + 0.1,
        "a quarter of a processor is used, not " + used + " s in " + elapsed + " s");
    Expect.that(used > 0, "something is used");
  }
}
