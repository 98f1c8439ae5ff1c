package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A sandbox is held and released, with the real agent; nothing of what its clients do is lost. */
@Timeout(60)
class SandboxHoldTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private RealAgent agent;

  @BeforeEach
  void start() throws IOException {
    agent = RealAgent.dialling();
    Files.writeString(agent.socket.resolveSibling("sandbox"), agent.id.value());
    agent.sandbox.connect();
  }

  @AfterEach
  void stop() throws IOException {
    agent.close();
  }

  private static String text(Execution execution) {
    StringBuilder all = new StringBuilder();
    for (Optional<Output> next = execution.read(); next.isPresent(); next = execution.read()) {
      if (next.get() instanceof Output.Data data) {
        all.append(data.bytes().utf8());
      }
    }
    return all.toString();
  }

  @Test
  void callsWaitUntilTheSandboxIsReleased() throws Exception {
    SandboxHold hold = agent.sandbox.hold(TIMEOUT);
    CompletableFuture<String> call =
        CompletableFuture.supplyAsync(
            () -> agent.sandbox.run(Command.shell("echo later")).stdout().text());
    assertThat(agent.socket).doesNotExist();
    Thread.sleep(200);
    assertThat(call).isNotDone();
    KernelEvidence evidence = hold.release();
    assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo("later\n");
    assertThat(Duration.between(evidence.time(), Instant.now()).abs())
        .isLessThan(Duration.ofSeconds(2));
    assertThat(evidence.random()).hasSize(64);
  }

  @Test
  void everyByteOfInputAndOutputArrivesOnce() throws Exception {
    Execution copy = agent.sandbox.start(Command.shell("cat").withStdin());
    int lines = 20_000;
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try (OutputStream in = copy.stdin()) {
                for (int i = 0; i < lines; i++) {
                  in.write((i + "\n").getBytes(UTF_8));
                }
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    CompletableFuture<String> reader = CompletableFuture.supplyAsync(() -> text(copy));
    for (int i = 0; i < 5; i++) {
      try (SandboxHold _ = agent.sandbox.hold(TIMEOUT)) {
        Thread.sleep(10);
      }
    }
    writer.get(30, TimeUnit.SECONDS);
    assertThat(reader.get(30, TimeUnit.SECONDS))
        .isEqualTo(IntStream.range(0, lines).mapToObj(i -> i + "\n").collect(Collectors.joining()));
    assertThat(copy.await()).isEqualTo(new Exit.Exited(0));
  }

  @Test
  void inputIsClosedAfterAHold() throws Exception {
    Execution copy = agent.sandbox.start(Command.shell("cat; echo end").withStdin());
    copy.stdin().write("one\n".getBytes(UTF_8));
    try (SandboxHold _ = agent.sandbox.hold(TIMEOUT)) {
      Thread.sleep(10);
    }
    copy.stdin().close();
    assertThat(text(copy)).isEqualTo("one\nend\n");
  }

  @Test
  void uploadIsNotInterrupted() throws Exception {
    PipedOutputStream content = new PipedOutputStream();
    InputStream slow = new PipedInputStream(content);
    CompletableFuture<Void> upload =
        CompletableFuture.runAsync(
            () -> agent.sandbox.files().write("file", slow, WriteOptions.DEFAULT));
    content.write("half".getBytes(UTF_8));
    content.flush();
    Thread.sleep(200);
    assertThatThrownBy(() -> agent.sandbox.hold(TIMEOUT))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("WRITE");
    content.write(" and half".getBytes(UTF_8));
    content.close();
    upload.get(10, TimeUnit.SECONDS);
    assertThat(agent.sandbox.files().readText("file", UTF_8, 100)).isEqualTo("half and half");
    agent.sandbox.hold(TIMEOUT).release();
  }

  @Test
  void secondHoldWaitsForTheFirst() throws Exception {
    CompletableFuture<SandboxHold> second;
    try (SandboxHold _ = agent.sandbox.hold(TIMEOUT)) {
      second = CompletableFuture.supplyAsync(() -> agent.sandbox.hold(TIMEOUT));
      Thread.sleep(100);
      assertThat(second).isNotDone();
    }
    second.get(10, TimeUnit.SECONDS).release();
    assertThat(agent.sandbox.run(Command.shell("echo on")).stdout().text()).isEqualTo("on\n");
  }

  @Test
  void refusedHoldLeavesTheSandboxUsable() throws Exception {
    Files.writeString(agent.socket.resolveSibling("sandbox"), "another");
    Execution running = agent.sandbox.start(Command.shell("read x; echo $x").withStdin());
    assertThatThrownBy(() -> agent.sandbox.hold(TIMEOUT)).isInstanceOf(SandboxException.class);
    running.stdin().write("still\n".getBytes(UTF_8));
    assertThat(text(running)).isEqualTo("still\n");
  }

  @Test
  void nextServerReleasesASandboxWhoseServerDied() throws Exception {
    Execution running = agent.sandbox.start(Command.shell("sleep 0.2; echo on"));
    SandboxHold _ = agent.sandbox.hold(Duration.ofMinutes(5));
    try (AgentSandbox next = agent.connect(LinkTimeouts.DEFAULT)) {
      next.releaseIfHeld();
      next.releaseIfHeld(); // it is not held any more
      assertThat(next.run(Command.shell("echo here")).stdout().text()).isEqualTo("here\n");
    }
    assertThat(running.id()).isNotNull();
  }

  @Test
  void expiredHoldCannotBeReleased() throws Exception {
    SandboxHold hold = agent.sandbox.hold(Duration.ofMillis(300));
    Thread.sleep(1000);
    assertThatThrownBy(hold::release).isInstanceOf(SandboxException.class);
    assertThat(agent.sandbox.run(Command.shell("echo on")).stdout().text()).isEqualTo("on\n");
  }
}
