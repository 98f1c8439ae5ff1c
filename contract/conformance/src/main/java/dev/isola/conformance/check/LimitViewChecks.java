package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.ResourceLimits;
import java.time.Duration;

/** Checks that programs see the limits of their sandbox in the usual places. */
public final class LimitViewChecks {
  private static final int MEMORY_MB = 200;
  private static final long GIGABYTE = 1L << 30;

  private static Sandbox limited(CheckContext check, LimitKind kind, ResourceLimits limits) {
    if (!check.info().support().enforcedLimits().contains(kind)) {
      throw check.notRun("the provider does not declare " + kind + " as enforced");
    }
    if (check.info().isolation() != Isolation.CONTAINER) {
      throw check.notRun("only containers have readable control groups");
    }
    return check.create(spec -> spec.limits(limits));
  }

  @Check("S2")
  public void memoryLimitIsVisible(CheckContext check) {
    Sandbox sandbox =
        limited(check, LimitKind.MEMORY, ResourceLimits.DEFAULT.withMemoryMb(MEMORY_MB));
    ExecResult read =
        sandbox.run(
            Command.shell(
                "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes"
                    + " 2>/dev/null; :"));
    Expect.equal(
        (long) MEMORY_MB << 20, number(read.stdout().text()), "the limit as the sandbox reads it");
  }

  @Check("S2")
  public void cpuLimitIsVisible(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.CPU, ResourceLimits.DEFAULT.withCpu(0.5));
    ExecResult read =
        sandbox.run(
            Command.shell(
                "cut -d' ' -f1 /sys/fs/cgroup/cpu.max 2>/dev/null"
                    + " || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
    Expect.equal(50_000L, number(read.stdout().text()), "the quota as the sandbox reads it");
  }

  @Check(value = "S2", tools = "nproc")
  public void programsSeeOnlyTheCpusTheyMayUse(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.CPU, ResourceLimits.DEFAULT.withCpu(1));
    Expect.equal(
        "1\n", sandbox.run(Command.argv("nproc")).stdout().text(), "the processors of one core");
  }

  /** Every installed JDK; the default heap is a quarter of the memory. */
  @Check("S2")
  public void aJvmSizesItselfByTheLimits(CheckContext check) {
    String seen =
        view(
            check,
            "for java in java /usr/lib/jvm/*/bin/java; do command -v $java >/dev/null"
                + " && $java -XX:TieredStopAtLevel=1 -XX:+PrintFlagsFinal"
                + " -Xlog:os+container=trace -version 2>/dev/null"
                + " | sed -n 's/.* MaxHeapSize *= \\([0-9]*\\).*/heap \\1/p;"
                + "s/.*active_processor_count: \\([0-9]*\\)$/processors \\1/p' | sort -u; done; :",
            "a JDK");
    for (String line : seen.lines().toList()) {
      Expect.that(
          line.equals("heap " + (GIGABYTE >> 2)) || line.equals("processors 1"),
          "a JVM has a heap of a quarter of 1 GB and one processor, not " + line);
    }
    Expect.contains(seen, "heap ", "what the JVM says");
    Expect.contains(seen, "processors ", "what the JVM says");
  }

  @Check("S2")
  public void nodeSizesItselfByTheLimits(CheckContext check) {
    String seen =
        view(
            check,
            "command -v node >/dev/null && node -p"
                + " 'os.availableParallelism() + \" \" + process.constrainedMemory() + \" \" +"
                + " (v8.getHeapStatistics().heap_size_limit < (1 << 30))'; :",
            "Node.js");
    Expect.equal("1 " + GIGABYTE + " true\n", seen, "processors, memory and heap of Node.js");
  }

  /** Reads the scheduler trace of the Go toolchain, which is itself written in Go. */
  @Check("S2")
  public void goSizesItselfByTheLimits(CheckContext check) {
    String seen =
        view(
            check,
            "PATH=$PATH:/usr/local/go/bin:/usr/lib/go/bin; command -v go >/dev/null"
                + " && GOTELEMETRY=off GODEBUG=schedtrace=1 go version 2>&1"
                + " | sed -n 's/^SCHED 0ms: \\(gomaxprocs=[0-9]*\\) .*/\\1/p' | head -n 1; :",
            "Go");
    Expect.equal("gomaxprocs=1\n", seen, "the processors of Go");
  }

  @Check("S2")
  public void pythonCountsTheProcessorsItMayUse(CheckContext check) {
    String seen =
        view(
            check,
            "command -v python3 >/dev/null && python3 -c"
                + " 'import os; print(len(os.sched_getaffinity(0)))'; :",
            "Python");
    Expect.equal("1\n", seen, "the processors of Python");
  }

  /** Returns what a language runtime reports in a sandbox with 1 GB of memory and one CPU. */
  private static String view(CheckContext check, String script, String runtime) {
    Sandbox sandbox =
        limited(check, LimitKind.MEMORY, ResourceLimits.DEFAULT.withMemoryMb(1024).withCpu(1));
    ExecResult seen = sandbox.run(Command.shell(script).withTimeout(Duration.ofSeconds(60)));
    if (seen.stdout().text().isEmpty() && seen.stderr().text().isEmpty()) {
      throw check.notRun("there is no " + runtime + " in the sandbox");
    }
    return seen.stdout().text();
  }

  @Check("S2")
  public void aSandboxCannotChangeItsLimits(CheckContext check) {
    Sandbox sandbox =
        limited(check, LimitKind.MEMORY, ResourceLimits.DEFAULT.withMemoryMb(MEMORY_MB));
    ExecResult written =
        sandbox.run(
            Command.shell(
                "for f in memory.max memory/memory.limit_in_bytes pids.max pids/pids.max"
                    + " cpu/cpu.cfs_quota_us cgroup.procs memory/tasks; do"
                    + " test -e /sys/fs/cgroup/$f && echo 1 2>/dev/null >/sys/fs/cgroup/$f"
                    + " && echo changed $f; done; mkdir /sys/fs/cgroup/more 2>/dev/null"
                    + " && test -e /sys/fs/cgroup/more/cgroup.procs && echo made; :"));
    Expect.equal("", written.stdout().text(), "what the sandbox could change");
  }

  private static long number(String text) {
    String first = text.strip();
    Expect.that(first.matches("[0-9]+"), "a number is read, not '" + first + "'");
    return Long.parseLong(first);
  }
}
