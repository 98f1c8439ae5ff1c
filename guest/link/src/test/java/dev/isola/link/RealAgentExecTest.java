package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executions with the real agent. */
@Timeout(60)
class RealAgentExecTest {
  private static RealAgent agent;

  @BeforeAll
  static void start() throws IOException {
    agent = new RealAgent();
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
  }

  private static ExecResult sh(String text) {
    return agent.sandbox.run(Command.shell(text));
  }

  private static String text(Execution execution) {
    StringBuilder all = new StringBuilder();
    for (Optional<Output> piece = execution.read(); piece.isPresent(); piece = execution.read()) {
      if (piece.get() instanceof Output.Data data) {
        all.append(data.bytes().utf8());
      }
    }
    return all.toString();
  }

  @Test
  void runCollectsOutput() {
    ExecResult result = sh("echo out; echo err >&2; exit 3");
    assertThat(result.exit()).isEqualTo(new Exit.Exited(3));
    assertThat(result.stdout().text()).isEqualTo("out\n");
    assertThat(result.stderr().text()).isEqualTo("err\n");
    assertThat(result.duration()).isPositive();
  }

  @Test
  void argumentsEnvironmentAndWorkingFolderAreApplied() {
    agent.sandbox.files().makeFolder("deep/er", 0755);
    ExecResult result =
        agent.sandbox.run(
            Command.argv(
                    "/bin/sh", "-c", "printf '%s|%s|%s' \"$A\" \"$(pwd)\" \"$1\"", "sh", "b  c")
                .withEnv(Map.of("A", "x=y ü"))
                .withCwd("deep/er"));
    assertThat(result.stdout().text()).startsWith("x=y ü|").contains("deep/er|b  c");
  }

  @Test
  void unstartableCommandIsRejected() {
    assertThatThrownBy(() -> agent.sandbox.run(Command.argv("no-such-program")))
        .isInstanceOfSatisfying(
            InvalidRequest.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.COMMAND_NOT_FOUND));
    agent.sandbox.files().writeText("plain", "x", UTF_8);
    assertThatThrownBy(() -> agent.sandbox.run(Command.argv("./plain")))
        .isInstanceOfSatisfying(
            InvalidRequest.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.COMMAND_NOT_EXECUTABLE));
    assertThatThrownBy(() -> agent.sandbox.run(Command.argv("true").withCwd("not/there")))
        .isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> agent.sandbox.run(Command.argv("true").withUser("no-such-user")))
        .isInstanceOfSatisfying(
            InvalidRequest.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USER_NOT_FOUND));
  }

  @Test
  void tooLargeRequestIsRejected() {
    assertThatThrownBy(() -> agent.sandbox.run(Command.argv("echo", "x".repeat(300_000))))
        .isInstanceOf(InvalidRequest.class);
    assertThat(sh("true").succeeded()).isTrue();
  }

  @Test
  void echoesStandardInput() throws Exception {
    byte[] content = "0123456789abcdef".repeat(256 * 1024).getBytes(UTF_8);
    try (Execution cat = agent.sandbox.start(Command.argv("cat").withStdin())) {
      Thread writer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try (OutputStream in = cat.stdin()) {
                      in.write(content);
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      long total = 0;
      while (cat.read().orElse(null) instanceof Output.Data data) {
        assertThat(data.offset()).isEqualTo(total);
        assertThat(data.at())
            .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(5));
        total += data.bytes().size();
      }
      writer.join();
      assertThat(total).isEqualTo(content.length);
      assertThat(cat.await()).isEqualTo(new Exit.Exited(0));
      assertThatThrownBy(() -> cat.stdin().write(1)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void commandWithoutStdinReadsEndOfFile() throws IOException {
    assertThat(sh("cat; echo done").stdout().text()).isEqualTo("done\n");
    try (Execution execution = agent.sandbox.start(Command.argv("true"))) {
      assertThatThrownBy(() -> execution.stdin().write(1)).isInstanceOf(IOException.class);
      execution.stdin().close();
    }
  }

  @Test
  void signalReachesTheProcessGroup() {
    try (Execution execution =
        agent.sandbox.start(
            Command.shell("trap 'echo got; exit 9' TERM; echo up; while :; do sleep 0.1; done"))) {
      assertThat(execution.read()).isPresent();
      execution.signal(Signal.TERM);
      assertThat(text(execution)).contains("got\n");
      assertThat(execution.await()).isEqualTo(new Exit.Exited(9));
      execution.signal(Signal.TERM);
      execution.kill();
    }
    try (Execution execution = agent.sandbox.start(Command.argv("sleep", "60"))) {
      execution.signal(Signal.INT);
      assertThat(execution.await()).isEqualTo(new Exit.Signaled(Signal.INT));
      assertThat(execution.await()).isEqualTo(new Exit.Signaled(Signal.INT));
    }
  }

  @Test
  void killReachesDetachedProcesses() {
    Execution execution =
        agent.sandbox.start(
            Command.shell("setsid sh -c 'setsid sleep 61.5 & setsid sleep 61.5' & sleep 61.5"));
    await().until(() -> processes("sleep 61.5") >= 3);
    execution.kill();
    assertThat(execution.await()).isEqualTo(new Exit.Signaled(Signal.KILL));
    await().until(() -> processes("sleep 61.5") == 0);
  }

  private static long processes(String commandLine) {
    return ProcessHandle.allProcesses()
        .filter(p -> p.info().commandLine().orElse("").contains(commandLine))
        .count();
  }

  @Test
  void commandTimesOut() {
    Duration limit = Duration.ofMillis(300);
    ExecResult result =
        agent.sandbox.run(Command.shell("echo before; sleep 60 & sleep 60").withTimeout(limit));
    assertThat(result.exit()).isEqualTo(new Exit.TimedOut(limit));
    assertThat(result.stdout().text()).isEqualTo("before\n");
    assertThat(result.duration()).isBetween(limit, Duration.ofSeconds(5));
  }

  @Test
  void awaitHonoursItsTimeout() {
    try (Execution execution =
        agent.sandbox.start(Command.shell("yes | head -c 5000000; sleep 60"))) {
      assertThat(execution.await(Duration.ofMillis(200))).isEmpty();
      execution.kill();
      assertThat(execution.await(Duration.ofSeconds(10))).isPresent();
      assertThat(execution.await(Duration.ZERO)).isPresent();
    }
  }

  @Test
  void interruptKillsTheRun() throws Exception {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    sh("sleep 62.5");
                  } catch (SandboxException e) {
                    thrown.set(e);
                  }
                });
    await().until(() -> processes("sleep 62.5") > 0);
    caller.interrupt();
    caller.join();
    assertThat(thrown.get()).isInstanceOf(DeadlineExceeded.class);
    await().until(() -> processes("sleep 62.5") == 0);
    assertThat(sh("echo alive").stdout().text()).isEqualTo("alive\n");
  }

  @Test
  void floodOfOutputIsCountedExactly() {
    long size = 1L << 30;
    long before = Runtime.getRuntime().totalMemory();
    ExecResult result =
        agent.sandbox.run(
            Command.shell("head -c " + size + " /dev/zero; echo tail >&2; printf end"),
            new OutputLimit(1000, 1000));
    assertThat(result.stdout().total()).isEqualTo(size + 3);
    assertThat(result.stdout().head().size()).isEqualTo(1000);
    assertThat(result.stdout().tail().utf8()).endsWith("end");
    assertThat(result.stderr().text()).isEqualTo("tail\n");
    assertThat(Runtime.getRuntime().totalMemory() - before).isLessThan(1L << 30);
  }

  @Test
  void commandBlocksWhenItsOutputIsNotRead() {
    try (Execution execution =
        agent.sandbox.start(Command.shell("head -c 50000000 /dev/zero; touch written"))) {
      assertThat(execution.read()).isPresent();
      ExecutionInfo info = info(execution.id());
      assertThat(info.running()).isTrue();
      assertThat(info.endOffset()).isLessThan(10_000_000);
      execution.await();
      assertThat(agent.sandbox.files().exists("written")).isTrue();
    }
  }

  private static ExecutionInfo info(ExecutionId id) {
    return attaching().executions().stream()
        .filter(e -> e.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private static Attaching attaching() {
    return agent.sandbox.as(Attaching.class).orElseThrow();
  }

  @Test
  void executionsAreListedAndAttachable() {
    Execution first =
        agent.sandbox.start(
            Command.shell("printf 0123456789; sleep 63").withTag("mine").withStdin());
    assertThat(first.read()).isPresent();
    first.close();
    ExecutionInfo info = info(first.id());
    assertThat(info.tag()).contains("mine");
    assertThat(info.pid()).isEqualTo(first.pid());
    assertThat(info.running()).isTrue();
    assertThat(info.argv()).containsExactly("/bin/sh", "-c", "printf 0123456789; sleep 63");
    assertThat(info.endOffset()).isEqualTo(10);
    Execution second = attaching().attach(first.id(), 4);
    assertThat(((Output.Data) second.read().orElseThrow()).bytes().utf8()).isEqualTo("456789");
    second.kill();
    assertThat(second.await()).isEqualTo(new Exit.Signaled(Signal.KILL));
    assertThat(attaching().attach(first.id(), 0).await()).isEqualTo(new Exit.Signaled(Signal.KILL));
    assertThat(info(first.id()).exit()).contains(new Exit.Signaled(Signal.KILL));
    assertThatThrownBy(() -> attaching().attach(new ExecutionId("999999"), 0))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> attaching().attach(new ExecutionId("nonsense"), 0))
        .isInstanceOf(NotFound.class);
  }

  @Test
  void attachReportsTheJournalGap() {
    Execution first =
        agent.sandbox.start(Command.shell("head -c 4000000 /dev/zero; echo; sleep 64"));
    first.close();
    await().until(() -> info(first.id()).endOffset() == 4_000_001);
    Execution second = attaching().attach(first.id(), 0);
    Output gap = second.read().orElseThrow();
    assertThat(gap).isInstanceOf(Output.Gap.class);
    assertThat(gap.offset()).isZero();
    assertThat(gap.end()).isEqualTo(info(first.id()).firstOffset());
    long end = gap.end();
    while (end < 4_000_001) {
      Output piece = second.read().orElseThrow();
      assertThat(piece.offset()).isEqualTo(end);
      end = piece.end();
    }
    second.kill();
    second.close();
  }

  @Test
  void executionSurvivesADroppedConnection() throws IOException {
    try (RealAgent other = new RealAgent()) {
      AgentSandbox sandbox = other.sandbox;
      Execution execution =
          sandbox.start(
              Command.shell("for i in 1 2 3; do echo $i; read x; done; exit 5").withStdin());
      assertThat(execution.read()).isPresent();
      AgentConnection connection = sandbox.client().connection();
      connection.simulateDrop();
      Execution again = sandbox.as(Attaching.class).orElseThrow().attach(execution.id(), 2);
      again.stdin().write("\n\n\n".getBytes(UTF_8));
      assertThat(text(execution)).isEqualTo("2\n3\n");
      assertThat(execution.await()).isEqualTo(new Exit.Exited(5));
      assertThat(text(again)).isEqualTo("2\n3\n");
      assertThatThrownBy(() -> execution.stdin().write(1)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void secondServerReplacesTheFirst() throws IOException {
    try (RealAgent other = new RealAgent()) {
      Execution execution =
          other.sandbox.start(Command.shell("echo first; sleep 0.5; echo second; exit 4"));
      AgentSandbox later = other.connect(LinkTimeouts.DEFAULT);
      Execution attached = later.as(Attaching.class).orElseThrow().attach(execution.id(), 0);
      assertThat(text(attached)).isEqualTo("first\nsecond\n");
      assertThat(attached.await()).isEqualTo(new Exit.Exited(4));
      assertThatThrownBy(() -> text(execution)).isInstanceOf(SandboxException.class);
      later.close();
    }
  }

  @Test
  void terminalHasSizeAndEcho() throws IOException {
    Terminals terminals = agent.sandbox.as(Terminals.class).orElseThrow();
    try (Terminal terminal = terminals.open(Command.argv("/bin/sh"), new TerminalSize(100, 40))) {
      terminal.stdin().write("stty size; echo $TERM\n".getBytes(UTF_8));
      expect(terminal, "40 100");
      terminal.resize(new TerminalSize(120, 50));
      terminal.stdin().write("stty size; tty\n".getBytes(UTF_8));
      expect(terminal, "50 120");
      terminal.stdin().write(4);
      terminal.stdin().flush();
      assertThat(terminal.await()).isEqualTo(new Exit.Exited(0));
      terminal.resize(new TerminalSize(80, 24));
    }
  }

  private static void expect(Terminal terminal, String expected) {
    StringBuilder seen = new StringBuilder();
    while (seen.indexOf(expected) < 0) {
      Output.Data data = (Output.Data) terminal.read().orElseThrow();
      assertThat(data.channel()).isEqualTo(Channel.TERMINAL);
      seen.append(data.bytes().utf8());
    }
  }

  @Test
  void concurrentCommandsSucceed() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<ExecResult>> results =
          java.util.stream.IntStream.range(0, 200)
              .mapToObj(i -> threads.submit(() -> sh("echo " + i)))
              .toList();
      for (int i = 0; i < 200; i++) {
        assertThat(results.get(i).get().stdout().text()).isEqualTo(i + "\n");
      }
    }
  }

  @Test
  void onlyDeclaredCapabilitiesAreAvailable() {
    assertThat(agent.sandbox.as(Pausing.class)).isEmpty();
    assertThat(agent.sandbox.as(Attaching.class)).isPresent();
    assertThat(agent.sandbox.state()).isEqualTo(SandboxState.RUNNING);
    assertThat(agent.sandbox.ping()).isPositive();
  }

  @Test
  void everyCallAfterShutdownThrowsGone() throws Exception {
    try (RealAgent other = new RealAgent()) {
      CountDownLatch waiting = new CountDownLatch(1);
      Execution execution = other.sandbox.start(Command.argv("sleep", "65"));
      AtomicReference<Exit> seen = new AtomicReference<>();
      Thread waiter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    waiting.countDown();
                    seen.set(execution.await());
                  });
      waiting.await();
      other.sandbox.shutdown();
      waiter.join();
      assertThat(seen.get()).isNotNull();
      await().until(() -> !other.alive());
      assertThat(other.sandbox.state()).isEqualTo(SandboxState.DESTROYED);
      assertThatThrownBy(() -> other.sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
      assertThatThrownBy(() -> other.sandbox.files().stat("/x", NOFOLLOW_LINKS))
          .isInstanceOf(Gone.class);
      assertThatThrownBy(other.sandbox::ping).isInstanceOf(Gone.class);
      execution.kill();
      execution.close();
      assertThat(Files.exists(other.socket)).isFalse();
    }
  }

  @Test
  void killedAgentIsGone() throws IOException {
    RealAgent other = new RealAgent();
    try {
      other.sandbox.ping();
      ProcessHandle.of(other.pid).orElseThrow().destroyForcibly();
      await().until(() -> !other.alive());
      assertThatThrownBy(() -> other.sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
      assertThat(other.sandbox.state()).isEqualTo(SandboxState.DESTROYED);
    } finally {
      RealAgent.deleteTree(other.folder);
    }
  }

  @Test
  void killAllLeavesOnlyTheAgent() throws IOException {
    try (RealAgent other = new RealAgent()) {
      Execution execution = other.sandbox.start(Command.shell("setsid sleep 66 & sleep 66"));
      other.sandbox.killAll();
      assertThat(execution.await()).isEqualTo(new Exit.Signaled(Signal.KILL));
      assertThat(other.sandbox.run(Command.shell("echo still here")).succeeded()).isTrue();
    }
  }
}
