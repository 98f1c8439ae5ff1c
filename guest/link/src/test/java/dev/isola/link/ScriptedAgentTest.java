package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The link against a well-behaved fake agent: requests, credit, reconnects. */
@Timeout(20)
class ScriptedAgentTest {
  private static final LinkTimeouts OPTIONS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(2))
          .withKeepalive(Duration.ofMillis(200), Duration.ofSeconds(2));

  @SuppressWarnings("NullAway.Init")
  private FakeAgent agent;

  @SuppressWarnings("NullAway.Init")
  private AgentClient client;

  @AfterEach
  void close() throws IOException {
    client.close();
    agent.close();
    assertThat(agent.failures).isEmpty();
    await().untilAsserted(() -> assertThat(BufferPool.SHARED.inUse()).isZero());
  }

  private void startAgent(FakeAgent.Script script) throws IOException {
    agent = FakeAgent.afterHandshake(script);
    client = agent.client(OPTIONS);
  }

  private Execution start(Command command) {
    return new AgentExecutions(client, Optional.of(Duration.ofSeconds(90))).start(command);
  }

  private static WireFields fields(Frame request) {
    return WireFields.parse(request.payload(), 1);
  }

  private static WireFieldsBuilder stat(WireFieldsBuilder fields, String path) {
    return fields
        .add(FieldTag.PATH, path)
        .add(FieldTag.TYPE, 1)
        .add(FieldTag.MODE, 0644)
        .add(FieldTag.SIZE, 3)
        .add(FieldTag.UID, 1000)
        .add(FieldTag.GID, 1001)
        .add(FieldTag.GROUP, "staff")
        .add(FieldTag.MTIME_NS, 1_500_000_000_123_456_789L);
  }

  @Test
  void sendsTheWholeCommand() throws IOException {
    AtomicReference<WireFields> seen = new AtomicReference<>();
    startAgent(
        peer -> {
          Frame request = peer.request();
          seen.set(fields(request));
          peer.started(1);
          peer.exit(1, 0);
          peer.answerPings();
        });
    try (Execution execution =
        start(
            Command.shell("ls", "a b")
                .withEnv("K", "V")
                .withCwd("/w")
                .withUser("me")
                .withTag("t"))) {
      assertThat(execution.id().value()).isEqualTo("5");
      assertThat(execution.pid()).isEqualTo(55);
      assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
      assertThat(execution.duration()).isEqualTo(Duration.ofMillis(1));
    }
    WireFields request = seen.get();
    assertThat(request.texts(FieldTag.ARG)).containsExactly("/bin/sh", "-c", "ls 'a b'");
    assertThat(request.texts(FieldTag.ENV)).containsExactly("K=V");
    assertThat(request.text(FieldTag.CWD)).isEqualTo("/w");
    assertThat(request.text(FieldTag.USER)).isEqualTo("me");
    assertThat(request.text(FieldTag.TAG)).isEqualTo("t");
    assertThat(request.number(FieldTag.NO_STDIN)).isEqualTo(1);
    assertThat(request.number(FieldTag.TIMEOUT_MS)).isEqualTo(90_000);
    assertThat(request.number(FieldTag.CREDIT)).isEqualTo(AgentExecution.WINDOW);
  }

  @Test
  void startIsRetriedAtTheProcessLimit() throws IOException {
    startAgent(
        peer -> {
          for (int i = 0; i < 3; i++) {
            peer.error(peer.request().stream(), Wire.E_LIMIT, 11, "cannot start a process");
          }
          int stream = peer.request().stream();
          peer.started(stream);
          peer.exit(stream, 0);
          peer.answerPings();
        });
    try (Execution execution = start(Command.argv("true"))) {
      assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    }
  }

  @Test
  void startIsNotRetriedAtOtherLimits() throws IOException {
    startAgent(
        peer -> {
          peer.error(peer.request().stream(), Wire.E_LIMIT, 7, "arguments are too long");
          peer.answerPings();
        });
    assertThatThrownBy(() -> start(Command.argv("true"))).isInstanceOf(LimitExceeded.class);
  }

  @Test
  void creditIsGrantedAsOutputIsConsumed() throws IOException {
    AtomicInteger granted = new AtomicInteger();
    int piece = 64 * 1024 - Wire.OUTPUT_HEADER;
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          long offset = 0;
          for (int i = 0; i < 16; i++, offset += piece) {
            peer.output(1, 1, offset, new byte[piece]);
          }
          while (granted.get() < 2 * AgentExecution.WINDOW) {
            int more = Wire.getInt(peer.awaitType(Wire.CREDIT).payload(), 0);
            granted.addAndGet(more);
            for (int i = 0; i < more / (64 * 1024); i++, offset += piece) {
              peer.output(1, 1, offset, new byte[piece]);
            }
          }
          peer.exit(1, 0);
          peer.answerPings();
        });
    Execution execution = start(Command.argv("flood"));
    long total = 0;
    while (execution.read().orElse(null) instanceof Output.Data data) {
      assertThat(data.offset()).isEqualTo(total);
      total += data.bytes().size();
    }
    assertThat(total).isEqualTo(48L * piece);
    assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
  }

  @Test
  void inputStaysWithinTheAgentsCredit() throws Exception {
    AtomicInteger received = new AtomicInteger();
    CountDownLatch window = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          while (received.get() < Wire.FRAME_MAX) {
            received.addAndGet(peer.awaitType(Wire.DATA).payload().length);
          }
          window.countDown();
          go.await();
          peer.raw(Wire.credit(1, 100));
          received.addAndGet(peer.awaitType(Wire.DATA).payload().length);
          peer.awaitType(Wire.EOF);
          peer.exit(1, 0);
          peer.answerPings();
        });
    Execution execution = start(Command.argv("cat").withStdin());
    Thread writer =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    execution.stdin().write(new byte[Wire.FRAME_MAX + 100]);
                    execution.stdin().close();
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  }
                });
    window.await();
    assertThat(received.get()).isEqualTo(Wire.FRAME_MAX);
    assertThat(writer.isAlive()).isTrue();
    go.countDown();
    writer.join();
    assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    assertThat(received.get()).isEqualTo(Wire.FRAME_MAX + 100);
    assertThatThrownBy(() -> execution.stdin().write(1)).isInstanceOf(IOException.class);
  }

  @Test
  void reattachesAtTheSameOffset() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.output(1, 1, 0, "first".getBytes(UTF_8));
        });
    Execution execution = start(Command.argv("x"));
    agent.next(
        peer -> {
          Frame request = peer.request();
          assertThat(request.payload()[0]).isEqualTo((byte) AgentOperation.ATTACH.value());
          assertThat(fields(request).number(FieldTag.EXECUTION)).isEqualTo(5);
          assertThat(fields(request).number(FieldTag.OFFSET)).isEqualTo(5);
          peer.started(1);
          byte[] gap = new byte[16];
          Wire.putLong(gap, 0, 5);
          Wire.putLong(gap, 8, 10);
          peer.send(Wire.GAP, 1, gap);
          peer.output(1, 2, 15, "last".getBytes(UTF_8));
          peer.exit(1, 7);
          peer.answerPings();
        });
    assertThat(((Output.Data) execution.read().orElseThrow()).bytes().utf8()).isEqualTo("first");
    assertThat(execution.read()).contains(new Output.Gap(5, 10));
    assertThat(execution.read().orElseThrow().end()).isEqualTo(19);
    assertThat(execution.read()).isEmpty();
    assertThat(execution.read()).isEmpty();
    assertThat(execution.await()).isEqualTo(new Exit.Exited(7));
    assertThat(agent.connections()).isEqualTo(2);
  }

  @Test
  void executionUnknownToTheAgentIsLost() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
        });
    Execution execution = start(Command.argv("x"));
    agent.next(
        peer -> {
          peer.error(peer.request().stream(), Wire.E_NO_SUCH_EXECUTION, "never heard of it");
          peer.answerPings();
        });
    assertThat(execution.await()).isInstanceOf(Exit.Lost.class);
    assertThatThrownBy(execution::read).isInstanceOf(OutcomeUnknown.class);
  }

  @Test
  void executionsOfAGoneAgentAreLost() throws IOException {
    CountDownLatch started = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          started.await();
        });
    Execution execution = start(Command.argv("x"));
    agent.close();
    started.countDown();
    assertThat(execution.await()).isInstanceOf(Exit.Lost.class);
    assertThatThrownBy(() -> new AgentFiles(client).stat("/x", NOFOLLOW_LINKS))
        .isInstanceOf(Gone.class);
    assertThat(client.goneReason()).isPresent();
    execution.kill();
  }

  @Test
  void replacedConnectionDoesNotReconnect() throws IOException {
    CountDownLatch started = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          started.await();
          peer.bye("replaced");
        });
    Execution execution = start(Command.argv("x"));
    started.countDown();
    assertThatThrownBy(execution::await).isInstanceOf(OutcomeUnknown.class);
    assertThat(agent.connections()).isEqualTo(1);
  }

  /** A relay may pass on BYE long before the end of the channel. */
  @Test
  void replacedConnectionEndsBeforeItsChannelDoes() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.bye("replaced");
          peer.answerPings();
        });
    Execution execution = start(Command.argv("x"));
    assertThatThrownBy(() -> execution.await(Duration.ofSeconds(20)))
        .isInstanceOf(OutcomeUnknown.class)
        .hasMessageContaining("another server took over");
  }

  @Test
  void readOnlyRequestIsRetriedAfterADrop() throws IOException {
    startAgent(FakePeer::request);
    client.connection();
    agent.next(
        peer -> {
          peer.error(peer.request().stream(), Wire.E_NOT_FOUND, "no such file");
          peer.answerPings();
        });
    assertThatThrownBy(
            () ->
                client.call(
                    AgentOperation.STAT,
                    new WireFieldsBuilder(AgentOperation.STAT).add(FieldTag.PATH, "/x"),
                    OPTIONS.responseTimeout()))
        .isInstanceOf(NotFound.class);
    assertThat(agent.connections()).isEqualTo(2);
  }

  @Test
  void mutatingRequestIsNotRetriedAfterADrop() throws IOException {
    startAgent(FakePeer::request);
    client.connection();
    assertThatThrownBy(() -> new AgentFiles(client).makeFolder("/x", 0755))
        .isInstanceOf(OutcomeUnknown.class);
    assertThat(agent.connections()).isEqualTo(1);
  }

  @Test
  void interruptedStartIsKilled() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    AtomicReference<WireFields> signal = new AtomicReference<>();
    startAgent(
        peer -> {
          peer.request();
          asked.countDown();
          peer.awaitType(Wire.CANCEL);
          peer.started(1);
          peer.error(1, Wire.E_CANCELLED, "detached");
          Frame kill = peer.request();
          signal.set(fields(kill));
          peer.end(kill.stream());
          peer.answerPings();
        });
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    start(Command.argv("x"));
                  } catch (SandboxException e) {
                    thrown.set(e);
                  }
                });
    asked.await();
    caller.interrupt();
    caller.join();
    assertThat(thrown.get()).isInstanceOf(DeadlineExceeded.class);
    await().until(() -> signal.get() != null);
    assertThat(signal.get().number(FieldTag.EXECUTION)).isEqualTo(5);
    assertThat(signal.get().number(FieldTag.SIGNAL)).isEqualTo(Signal.KILL.number());
    assertThat(signal.get().number(FieldTag.SCOPE)).isEqualTo(Wire.SCOPE_TREE);
  }

  @Test
  void killWorksWhileInterrupted() throws Exception {
    AtomicInteger kills = new AtomicInteger();
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          Frame kill = peer.request();
          kills.incrementAndGet();
          peer.end(kill.stream());
          peer.answerPings();
        });
    Execution execution = start(Command.argv("x"));
    AtomicReference<Boolean> flag = new AtomicReference<>(false);
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  Thread.currentThread().interrupt();
                  execution.kill();
                  flag.set(Thread.currentThread().isInterrupted());
                });
    caller.join();
    assertThat(kills.get()).isEqualTo(1);
    assertThat(flag.get()).isTrue();
  }

  @Test
  void closingAnExecutionDetaches() throws IOException {
    CountDownLatch detached = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.awaitType(Wire.CANCEL);
          peer.error(1, Wire.E_CANCELLED, "detached");
          detached.countDown();
          peer.answerPings();
        });
    Execution execution = start(Command.argv("x"));
    execution.close();
    execution.close();
    await().until(() -> detached.getCount() == 0);
    assertThatThrownBy(execution::read).isInstanceOf(SandboxException.class);
    assertThat(client.connection().isClosed()).isFalse();
  }

  @Test
  void listsLazilyAndCancels() throws IOException {
    AtomicInteger sent = new AtomicInteger();
    CountDownLatch cancelled = new CountDownLatch(1);
    startAgent(
        peer -> {
          long credit = fields(peer.request()).number(FieldTag.CREDIT);
          byte[] item = stat(new WireFieldsBuilder(), "/w/" + "n".repeat(4000)).payload();
          for (; credit >= item.length; credit -= item.length) {
            peer.send(Wire.ITEM, 1, item);
            sent.incrementAndGet();
          }
          peer.awaitType(Wire.CANCEL);
          cancelled.countDown();
          peer.error(1, Wire.E_CANCELLED, "cancelled");
          peer.answerPings();
        });
    try (Stream<FileInfo> list = new AgentFiles(client).list("/w", 1)) {
      FileInfo first = list.findFirst().orElseThrow();
      assertThat(first.mode()).isEqualTo(0644);
      assertThat(first.owner()).isEqualTo("1000");
      assertThat(first.group()).isEqualTo("staff");
      assertThat(first.modifiedAt()).isEqualTo(Instant.parse("2017-07-14T02:40:00.123456789Z"));
    }
    await().until(() -> cancelled.getCount() == 0);
    assertThat(sent.get()).isLessThan(100);
  }

  @Test
  void earlyErrorStopsTheUpload() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.awaitType(Wire.DATA);
          peer.error(1, Wire.E_NO_SPACE, "the disk is full");
          peer.answerPings();
        });
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 0;
          }
        };
    assertThatThrownBy(() -> new AgentFiles(client).write("/x", endless, WriteOptions.DEFAULT))
        .isInstanceOfSatisfying(
            SandboxException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL));
  }

  @Test
  void writesWithItsOptions() throws IOException {
    AtomicReference<WireFields> seen = new AtomicReference<>();
    startAgent(
        peer -> {
          seen.set(fields(peer.request()));
          assertThat(peer.awaitType(Wire.DATA).payload()).isEqualTo("abc".getBytes(UTF_8));
          peer.awaitType(Wire.EOF);
          peer.end(1, stat(new WireFieldsBuilder(), "/x"));
          peer.answerPings();
        });
    FileInfo info =
        new AgentFiles(client)
            .as(FileUser.of("me"))
            .write(
                "/x",
                new ByteArrayInputStream("abc".getBytes(UTF_8)),
                WriteOptions.DEFAULT.withMode(0600).onlyNew().synced());
    assertThat(info.size()).isEqualTo(3);
    assertThat(seen.get().number(FieldTag.FLAGS))
        .isEqualTo(Wire.WRITE_ATOMIC | Wire.WRITE_PARENTS | Wire.WRITE_NEW | Wire.WRITE_SYNC);
    assertThat(seen.get().number(FieldTag.MODE)).isEqualTo(0600);
    assertThat(seen.get().text(FieldTag.USER)).isEqualTo("me");
  }

  @Test
  void watchesAgainAfterADrop() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
        });
    Watch watch = AgentWatch.open(client, "/w", true);
    agent.next(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.send(
              Wire.ITEM,
              1,
              new WireFieldsBuilder().add(FieldTag.EVENT, 1).add(FieldTag.PATH, "/w/a").payload());
          peer.answerPings();
        });
    Duration timeout = Duration.ofSeconds(5);
    assertThat(watch.next(timeout)).contains(new FileChange(FileChange.Kind.OVERFLOW, "/w", true));
    assertThat(watch.next(timeout))
        .contains(new FileChange(FileChange.Kind.CREATED, "/w/a", false));
    watch.close();
    assertThat(watch.ended()).isTrue();
    assertThat(watch.next(timeout)).isEmpty();
  }

  @Test
  void drainReturnsWhatHasArrivedFromAnAgentWithoutMarks() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.send(
              Wire.ITEM,
              1,
              new WireFieldsBuilder().add(FieldTag.EVENT, 1).add(FieldTag.PATH, "/w/a").payload());
          while (true) {
            Frame frame = peer.read();
            if (frame.type() == Wire.PING) {
              peer.send(Wire.PONG, 0, frame.payload());
            } else if (frame.type() == Wire.DATA) {
              requests.incrementAndGet();
            }
          }
        });
    try (Watch watch = AgentWatch.open(client, "/w", true)) {
      client.connection().ping(Duration.ofSeconds(5)); // its answer follows the change
      assertThat(watch.drain(10))
          .containsExactly(new FileChange(FileChange.Kind.CREATED, "/w/a", false));
      assertThat(watch.drain(10)).isEmpty();
      client.connection().ping(Duration.ofSeconds(5));
      assertThat(requests.get()).isZero();
    }
  }

  @Test
  void idleConnectionIsNotPinged() throws Exception {
    AtomicInteger frames = new AtomicInteger();
    CountDownLatch asked = new CountDownLatch(1);
    startAgent(
        peer -> {
          while (true) {
            Frame frame = peer.read();
            frames.incrementAndGet();
            if (frame.type() == Wire.PING) {
              peer.send(Wire.PONG, 0, frame.payload());
              asked.countDown();
            }
          }
        });
    client.connection().ping(Duration.ofSeconds(5));
    asked.await();
    assertThat(frames.get()).isEqualTo(1);
  }

  @Test
  void silentAgentIsPingedWhileAStreamIsOpen() throws Exception {
    CountDownLatch pinged = new CountDownLatch(2);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          while (true) {
            Frame frame = peer.read();
            if (frame.type() == Wire.PING) {
              peer.send(Wire.PONG, 0, frame.payload());
              pinged.countDown();
            }
          }
        });
    start(Command.argv("x"));
    pinged.await();
    assertThat(client.connection().isClosed()).isFalse();
  }

  @Test
  void onlyDeclaredCapabilitiesAreAvailable() throws IOException {
    startAgent(FakePeer::answerPings);
    AgentSandbox sandbox =
        AgentSandbox.builder(FakeAgent.ID, agent.connector(), agent.secret)
            .capabilities(Set.of(Attaching.class))
            .providerCapabilities(Map.of())
            .build();
    assertThat(sandbox.as(Attaching.class)).isPresent();
    for (Class<? extends Capability> type : Capability.all()) {
      assertThat(sandbox.as(type).isPresent()).isEqualTo(type == Attaching.class);
    }
    assertThatThrownBy(
            () ->
                AgentSandbox.builder(FakeAgent.ID, agent.connector(), agent.secret)
                    .capabilities(Set.of(Pausing.class))
                    .build())
        .isInstanceOf(IllegalArgumentException.class);
    sandbox.markDestroyed("it was destroyed");
    assertThatThrownBy(() -> sandbox.run(Command.argv("x"))).isInstanceOf(Gone.class);
  }
}
