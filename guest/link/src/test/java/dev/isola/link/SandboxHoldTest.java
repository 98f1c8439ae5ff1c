package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
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

  /** Starts a call on a thread of its own, and returns when that thread waits. */
  private static <T> CompletableFuture<T> startAndAwaitBlocked(Supplier<T> call) {
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<T> result =
        CompletableFuture.supplyAsync(
            call, task -> caller.set(Thread.ofPlatform().daemon().start(task)));
    Set<Thread.State> blocked = EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);
    await().atMost(TIMEOUT).until(() -> blocked.contains(caller.get().getState()));
    return result;
  }

  @Test
  void callsWaitUntilTheSandboxIsReleased() throws Exception {
    SandboxHold hold = agent.sandbox.hold(TIMEOUT);
    CompletableFuture<String> call =
        startAndAwaitBlocked(() -> agent.sandbox.run(Command.shell("cat file")).stdout().text());
    assertThat(agent.socket).doesNotExist();
    assertThat(call).isNotDone();
    // The command has something to print only if it runs after this.
    Files.writeString(agent.root.resolve("file"), "released");
    Instant before = Instant.now();
    KernelEvidence evidence = hold.release();
    assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo("released");
    assertThat(evidence.time()).isBetween(before.minusSeconds(2), Instant.now().plusSeconds(2));
    assertThat(evidence.random()).hasSize(64);
  }

  @Test
  void everyByteOfInputAndOutputArrivesOnce() throws Exception {
    Execution copy = agent.sandbox.start(Command.shell("cat").withStdin());
    int lines = 20_000;
    AtomicInteger written = new AtomicInteger();
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try (OutputStream in = copy.stdin()) {
                for (int i = 0; i < lines; i++) {
                  in.write((i + "\n").getBytes(UTF_8));
                  written.incrementAndGet();
                }
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    CompletableFuture<String> reader = CompletableFuture.supplyAsync(() -> text(copy));
    for (int i = 0; i < 5; i++) {
      int before = i * lines / 6;
      await().atMost(TIMEOUT).until(() -> written.get() > before);
      agent.sandbox.hold(TIMEOUT).release();
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
    agent.sandbox.hold(TIMEOUT).release();
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
    await().atMost(TIMEOUT).until(() -> slow.available() == 0);
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
    List<String> order = new CopyOnWriteArrayList<>();
    SandboxHold first = agent.sandbox.hold(TIMEOUT);
    CompletableFuture<SandboxHold> second =
        startAndAwaitBlocked(
            () -> {
              SandboxHold hold = agent.sandbox.hold(TIMEOUT);
              order.add("second");
              return hold;
            });
    order.add("first released");
    first.release();
    second.get(10, TimeUnit.SECONDS).release();
    assertThat(order).containsExactly("first released", "second");
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
    Path ticks = agent.root.resolve("ticks");
    agent.sandbox.start(Command.shell("while echo >>ticks; do sleep 0.02; done"));
    SandboxHold hold = agent.sandbox.hold(Duration.ofMillis(300));
    long frozen = Files.exists(ticks) ? Files.size(ticks) : 0;
    await().atMost(TIMEOUT).until(() -> Files.exists(ticks) && Files.size(ticks) > frozen);
    assertThatThrownBy(hold::release).isInstanceOf(SandboxException.class);
    assertThat(agent.sandbox.run(Command.shell("echo on")).stdout().text()).isEqualTo("on\n");
  }
}
