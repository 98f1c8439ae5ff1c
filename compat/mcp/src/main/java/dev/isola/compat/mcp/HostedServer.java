package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.codec.time.Deadline;
import dev.isola.document.request.McpServer;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server of the Model Context Protocol in a sandbox. It is an execution with a tag, started by
 * the first request; it outlives this process, and the next one attaches to it by the tag. While
 * clients use the server, the host is attached.
 */
final class HostedServer {
  /** The tag of the execution. */
  static final String TAG = "isola-mcp";

  /** How long a request waits for the end of a back-off before it is refused. */
  private static final Duration MAX_BACKOFF_WAIT = Duration.ofSeconds(2);

  private static final String ENDED_EARLY =
      "ended before it answered initialize; see its output for the reason";

  private static final Duration REPLAY_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration REPEATED_HANDSHAKE = Duration.ofSeconds(10);

  /** A connection whose handshake is complete. */
  record Connected(StdioConnection connection, Handshake handshake) {}

  /** An exit of the server. */
  private record LastExit(String reason, long atNanos, Duration backoff, boolean failed) {}

  private final Supplier<Sandbox> sandbox;
  private final String provider;
  private final McpServer spec;
  private final HostingLimits limits;
  private final String version;
  private final ByteBudget budget;
  private final MessageRouter router;

  /** Guards {@link #opening}, and the end of a connection that is not in use. */
  private final ReentrantLock lock = new ReentrantLock();

  private @Nullable FutureTask<Connected> opening;
  private final AtomicReference<@Nullable Connected> connected = new AtomicReference<>();
  private final AtomicReference<@Nullable LastExit> lastExit = new AtomicReference<>();
  private volatile @Nullable Handshake handshake;
  private final AtomicReference<@Nullable ExecutionId> recorded = new AtomicReference<>();
  private volatile @Nullable ExecutionId execution;
  private volatile long offset;
  private volatile long startedNanos = System.nanoTime();
  private volatile long lastUseNanos = System.nanoTime();
  private final AtomicInteger starts = new AtomicInteger();

  /**
   * @param sandbox returns the running sandbox, and resumes it if it is suspended
   */
  HostedServer(
      Supplier<Sandbox> sandbox,
      String provider,
      McpServer spec,
      HostingLimits limits,
      String version,
      ByteBudget budget) {
    this.sandbox = sandbox;
    this.provider = provider;
    this.spec = spec;
    this.limits = limits;
    this.version = version;
    this.budget = budget;
    router = new MessageRouter(budget);
  }

  MessageRouter router() {
    return router;
  }

  /** Sends a message to the server. Returns false if it does not read, or does not run. */
  boolean send(Map<String, ?> message) {
    Connected now = connected.get();
    return now != null && now.connection().send(message);
  }

  /** Called every few seconds while a client waits. */
  interface Tick {
    void run() throws IOException;
  }

  /**
   * Starts the server, or attaches to it, if necessary. The start continues if the client does not
   * wait for it.
   *
   * @throws RpcError if it cannot be started now
   */
  Connected connect(Tick tick) throws RpcError, IOException, InterruptedException {
    lastUseNanos = System.nanoTime();
    FutureTask<Connected> task;
    lock.lock();
    try {
      Connected now = connected.get();
      if (now != null) {
        return now;
      }
      task = opening;
      if (task == null || task.isDone()) {
        task = new FutureTask<>(this::open);
        opening = task;
        Thread.ofVirtual().name("isola-mcp-start").start(task);
      }
    } finally {
      lock.unlock();
    }
    Deadline deadline = Deadline.in(limits.startTimeout().plus(REPLAY_TIMEOUT));
    while (true) {
      try {
        Connected made = task.get(CallWait.INTERVAL.toNanos(), TimeUnit.NANOSECONDS);
        lastUseNanos = System.nanoTime();
        return made;
      } catch (TimeoutException e) {
        if (deadline.over()) {
          throw failed("did not start within " + limits.startTimeout().toSeconds() + " s");
        }
        tick.run();
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case RpcError error -> throw error;
          case SandboxException error -> throw error;
          case null, default -> throw new IllegalStateException(e);
        }
      }
    }
  }

  private Connected open() throws RpcError, InterruptedException {
    Sandbox running = sandbox.get();
    Attaching attaching =
        running
            .as(Attaching.class)
            .orElseThrow(() -> Capability.unsupported(provider, "attaching"));
    Optional<ExecutionInfo> latest =
        attaching.executions().stream()
            .filter(one -> one.tag().equals(Optional.of(TAG)))
            .reduce((_, last) -> last);
    if (latest.isPresent() && latest.get().running() && latest.get().stdinOpen()) {
      Optional<Connected> attached = attach(attaching, latest.get());
      if (attached.isPresent()) {
        return attached.get();
      }
    } else if (latest.isPresent() && latest.get().exit().isPresent()) {
      recordExit(latest.get().id(), latest.get().exit().get());
    }
    awaitBackoff();
    return start(running);
  }

  /** Attaches to a server that an earlier connection, or an earlier process, has started. */
  private Optional<Connected> attach(Attaching attaching, ExecutionInfo info)
      throws RpcError, InterruptedException {
    boolean same = info.id().equals(execution);
    long from = same ? Math.min(offset, info.endOffset()) : 0;
    Handshake known = same ? handshake : null;
    execution = info.id();
    Incoming incoming = new Incoming(true);
    StdioConnection connection =
        incoming.open(attaching.attach(info.id(), from), from, info.endOffset());
    if (!incoming.caughtUp.await(REPLAY_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
      connection.close();
      throw failed("did not continue after " + REPLAY_TIMEOUT.toSeconds() + " s");
    }
    Optional<Handshake> found = Optional.ofNullable(known).or(() -> incoming.replayed());
    if (found.isPresent()) {
      return Optional.of(publish(connection, found.get()));
    }
    try {
      // The beginning of the output is no longer stored. Most servers accept a second handshake.
      return Optional.of(publish(connection, shake(connection, REPEATED_HANDSHAKE)));
    } catch (RpcError e) {
      connection.kill();
      connection.close();
      return Optional.empty(); // it is started again
    }
  }

  private Connected start(Sandbox running) throws RpcError, InterruptedException {
    starts.incrementAndGet();
    startedNanos = System.nanoTime();
    Execution process;
    try {
      process = running.start(spec.command().withStdin().withTag(TAG));
    } catch (SandboxException e) {
      ended(e.fault().problem(), true);
      throw failed("could not be started: " + e.fault().problem());
    }
    execution = process.id();
    handshake = null;
    StdioConnection connection = new Incoming(false).open(process, 0, 0);
    try {
      return publish(connection, shake(connection, limits.startTimeout()));
    } catch (RpcError | InterruptedException e) {
      connection.kill();
      connection.close();
      recordExit(process.id(), "it did not complete the handshake", true);
      throw e;
    }
  }

  private Connected publish(StdioConnection connection, Handshake found) throws RpcError {
    handshake = found;
    Connected made = new Connected(connection, found);
    connected.set(made);
    if (connection.isClosed()) { // it exited in the meantime, and was not yet known to be ours
      connected.compareAndSet(made, null);
      throw failed(ENDED_EARLY);
    }
    return made;
  }

  private Handshake shake(StdioConnection connection, Duration timeout)
      throws RpcError, InterruptedException {
    HostedClient host = new HostedClient("", false, false, false, false);
    HostedCall call = router.begin(host, 0, Optional.empty(), result -> result);
    try {
      if (!connection.send(Handshake.request(call.id(), version))) {
        throw failed(connection.isClosed() ? ENDED_EARLY : "does not read its standard input");
      }
      ClientQueue.Item item = call.queue().poll(timeout);
      if (item == null) {
        throw failed("did not answer initialize within " + timeout.toSeconds() + " s");
      }
      Map<String, Object> answer = Json.parseObject(item.message());
      if (answer.get("error") instanceof Map<?, ?> error) {
        if (connection.isClosed()) {
          throw failed(ENDED_EARLY);
        }
        throw failed("answered initialize with an error: " + abbreviate(error.get("message")));
      }
      if (item.message().length > HostingLimits.MAX_HANDSHAKE) {
        throw failed("answered initialize with more than 64 KiB");
      }
      Handshake found =
          Handshake.read(RpcMessage.object(answer.get("result")))
              .orElseThrow(
                  () ->
                      failed(
                          "speaks none of the versions of the protocol that can be hosted: "
                              + String.join(", ", ProtocolVersion.HANDSHAKE)));
      boolean _ = connection.send(Handshake.initialized());
      return found;
    } finally {
      router.end(call, _ -> true);
    }
  }

  private static String abbreviate(@Nullable Object text) {
    String all = String.valueOf(text);
    return all.length() > 200 ? all.substring(0, 200) + "..." : all;
  }

  /** Receives the messages of one connection. */
  private final class Incoming implements StdioConnection.Listener {
    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private volatile @Nullable StdioConnection connection;
    private volatile boolean replay;
    private volatile @Nullable Handshake replayed;

    Incoming(boolean replay) {
      this.replay = replay;
    }

    StdioConnection open(Execution process, long from, long replayEnd) {
      StdioConnection made = new StdioConnection(process, from, replayEnd, budget, this);
      connection = made;
      made.start();
      return made;
    }

    private boolean send(Map<String, ?> message) {
      StdioConnection now = connection;
      return now != null && now.send(message);
    }

    Optional<Handshake> replayed() {
      return Optional.ofNullable(replayed);
    }

    @Override
    public void line(byte[] line) {
      if (!replay) {
        router.receive(line, this::send);
      } else if (replayed == null && line.length <= HostingLimits.MAX_HANDSHAKE) {
        try {
          Map<String, Object> result = RpcMessage.object(Json.parseObject(line).get("result"));
          replayed = Handshake.read(result).orElse(null);
        } catch (MalformedJson e) {
          // Not a message; what was written before is not counted.
        }
      }
    }

    @Override
    public void tooLong(String beginning) {
      if (!replay) {
        router.tooLong(beginning);
      }
    }

    @Override
    public void caughtUp() {
      replay = false;
      caughtUp.countDown();
    }

    @Override
    public void ended(StdioConnection ended, Optional<Exit> exit, String reason) {
      caughtUp.countDown();
      offset = ended.offset();
      exit.ifPresent(end -> recordExit(ended.execution(), end));
      Connected now = connected.get();
      if (now == null || now.connection() == ended) {
        connected.compareAndSet(now, null);
        router.failAll(
            exit.isPresent()
                ? "the hosted server has ended: " + reason + "; see its output for the reason"
                : "the connection to the hosted server was lost: " + reason);
      }
    }
  }

  private void recordExit(ExecutionId id, Exit exit) {
    boolean clean = exit instanceof Exit.Exited(int code) && code == 0;
    recordExit(id, CommandTools.describe(exit), !clean);
  }

  /** Records an exit once; it is observed by a connection, or found when none was open. */
  private void recordExit(ExecutionId id, String reason, boolean failed) {
    if (id.equals(recorded.getAndSet(id))) {
      return;
    }
    if (id.equals(execution)) {
      execution = null;
    }
    ended(reason, failed);
  }

  private void ended(String reason, boolean failed) {
    LastExit before = lastExit.get();
    long now = System.nanoTime();
    boolean soon = now - startedNanos < HostingLimits.MAX_BACKOFF.toNanos();
    Duration backoff = HostingLimits.FIRST_BACKOFF;
    if (before != null && soon) {
      Duration twice = before.backoff().multipliedBy(2);
      backoff = twice.compareTo(HostingLimits.MAX_BACKOFF) < 0 ? twice : HostingLimits.MAX_BACKOFF;
    }
    lastExit.set(new LastExit(reason, now, backoff, failed));
  }

  /** Waits until the server may be started. */
  private void awaitBackoff() throws RpcError, InterruptedException {
    LastExit exit = lastExit.get();
    if (exit == null) {
      return;
    }
    if (!restarts(exit)) {
      throw failed(
          "has ended ("
              + exit.reason()
              + "), and its restart policy forbids to start it again; create a new sandbox");
    }
    Duration left = backoffLeft(exit);
    if (left.compareTo(MAX_BACKOFF_WAIT) > 0) {
      throw failed(
          "has ended ("
              + exit.reason()
              + "); it is started again at the first request after "
              + (left.toSeconds() + 1)
              + " s");
    }
    Thread.sleep(left);
  }

  private boolean restarts(LastExit exit) {
    return switch (spec.restart()) {
      case ALWAYS -> true;
      case ON_FAILURE -> exit.failed();
      case NEVER -> false;
    };
  }

  private static Duration backoffLeft(LastExit exit) {
    Duration left = exit.backoff().minusNanos(System.nanoTime() - exit.atNanos());
    return left.isNegative() ? Duration.ZERO : left;
  }

  private static RpcError failed(String what) {
    return new RpcError(RpcError.HOSTED_SERVER, "the hosted server " + what);
  }

  /** Detaches if no client has used the server for some time. Returns whether it is in use. */
  boolean detachIfIdle(Duration unused) {
    lock.lock();
    try {
      Connected now = connected.get();
      if (isOpening() || !router.isIdle() || System.nanoTime() - lastUseNanos < unused.toNanos()) {
        return true;
      }
      if (now == null) {
        return false;
      }
      if (now.connection().hasInput()) {
        now.connection().kill(); // it does not read, and would find half a message
        return true;
      }
      if (connected.compareAndSet(now, null)) {
        offset = now.connection().offset();
        now.connection().close();
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean isOpening() {
    FutureTask<Connected> task = opening;
    return task != null && !task.isDone();
  }

  /** Records that a client uses the server. */
  void touch() {
    lastUseNanos = System.nanoTime();
  }

  /** Describes the server. */
  Map<String, Object> status() {
    Map<String, Object> json = new LinkedHashMap<>();
    LastExit exit = lastExit.get();
    ExecutionId id = execution;
    json.put("state", state(exit, id));
    if (id != null) {
      json.put("execution", id.toString());
    }
    json.put("starts", starts.get());
    if (exit != null) {
      json.put("lastExit", exit.reason());
      if (id == null && restarts(exit)) {
        json.put("backoffSeconds", backoffLeft(exit).toSeconds());
      }
    }
    Handshake found = handshake;
    if (found != null) {
      json.put("protocolVersion", found.version());
      json.put("serverInfo", found.serverInfo());
    }
    json.put("restart", spec.restart().name().toLowerCase(Locale.ROOT));
    json.put("requests", router.calls().size());
    json.put("streams", router.streams().size());
    json.put("droppedMessages", router.dropped());
    return json;
  }

  private String state(@Nullable LastExit exit, @Nullable ExecutionId id) {
    if (connected.get() != null) {
      return "running";
    }
    lock.lock();
    try {
      if (isOpening()) {
        return "starting";
      }
    } finally {
      lock.unlock();
    }
    if (id != null) {
      return "running"; // when it was last used
    }
    if (exit == null) {
      return "stopped";
    }
    if (!restarts(exit)) {
      return "exited";
    }
    return backoffLeft(exit).isZero() ? "stopped" : "backoff";
  }
}
