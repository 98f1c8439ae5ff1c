package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.SandboxException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An authenticated connection to an agent, which carries many streams. Three threads serve it: one
 * reads, one writes, one checks liveness. The agent is not trusted: any violation of the protocol
 * closes the connection, and every waiting caller gets an exception.
 */
final class AgentConnection implements AutoCloseable {
  /**
   * The windows of connections that the agent accepted: few have a wide one, so that all of them
   * together hold little of the server's memory.
   */
  private static final int WIDE_WINDOW = 1024 * 1024;

  private static final int NARROW_WINDOW = 64 * 1024;
  private static final int WIDE_STREAMS_MAX = 16;

  private static final int AGENT_STREAMS_MAX = 1024;
  private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration LINGER = Duration.ofSeconds(5);

  /** The reason in BYE if another server took over. */
  private static final String REPLACED = "replaced";

  private static final Duration BYE_TIMEOUT = Duration.ofSeconds(1);

  private final SandboxId id;
  private final AgentChannel channel;
  private final LinkTimeouts timeouts;
  private final SendQueue outbox = new SendQueue();
  private final ConcurrentHashMap<Integer, ConnectionStream> streams = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, CompletableFuture<Boolean>> pings =
      new ConcurrentHashMap<>();
  private final AtomicInteger lastStream = new AtomicInteger();
  private final AtomicInteger agentStreams = new AtomicInteger();
  private final AtomicLong lastPing = new AtomicLong();
  private final AtomicReference<@Nullable CloseReason> closeReason = new AtomicReference<>();
  private final CompletableFuture<Handshake.Welcome> handshake = new CompletableFuture<>();
  private final Thread reader;
  private final Thread writer;
  private final Thread keepalive;
  private volatile long lastReceived = System.nanoTime();
  private volatile boolean keepalivePaused;
  private volatile boolean held;
  private volatile @Nullable String bye;
  private volatile int sendWindow = Wire.FRAME_MAX;
  private int lastIncoming = Wire.AGENT_STREAM - 1;

  private AgentConnection(
      SandboxId id, AgentChannel channel, Secret secret, LinkTimeouts timeouts) {
    this.id = id;
    this.channel = channel;
    this.timeouts = timeouts;
    this.reader = thread("reader", () -> read(secret));
    this.writer = thread("writer", this::write);
    this.keepalive = thread("keepalive", this::watchLiveness);
  }

  /**
   * Performs the handshake over {@code channel}, which is closed on failure.
   *
   * @throws ConnectionLostException when the agent is silent, fails to authenticate or closes the
   *     channel
   * @throws SandboxException with {@code CANCELLED} when the thread is interrupted
   */
  static AgentConnection open(
      SandboxId id, AgentChannel channel, Secret secret, LinkTimeouts timeouts)
      throws ConnectionLostException {
    AgentConnection connection = new AgentConnection(id, channel, secret, timeouts);
    connection.reader.start();
    try {
      connection.handshake.get(timeouts.handshakeTimeout().toNanos(), TimeUnit.NANOSECONDS);
      return connection;
    } catch (TimeoutException e) {
      String reason = "no handshake within " + timeouts.handshakeTimeout().toMillis() + " ms";
      throw new ConnectionLostException(
          connection.closeWith(new CloseReason(CloseReason.Kind.SILENT, reason)));
    } catch (InterruptedException e) {
      connection.close();
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(id, "connecting");
    } catch (ExecutionException e) {
      throw new ConnectionLostException(
          connection.closeWith(new CloseReason(CloseReason.Kind.DROPPED, "the handshake failed")));
    }
  }

  SandboxId id() {
    return id;
  }

  Handshake.Welcome welcome() {
    return handshake.join();
  }

  boolean isClosed() {
    return closeReason.get() != null;
  }

  Optional<CloseReason> closeReason() {
    return Optional.ofNullable(closeReason.get());
  }

  /** Pauses or resumes the liveness check, while the sandbox is frozen on purpose. */
  void pauseKeepalive(boolean paused) {
    lastReceived = System.nanoTime();
    keepalivePaused = paused;
  }

  /**
   * Opens a stream.
   *
   * @param request its CREDIT field is {@code window} where the reply has content
   * @throws SandboxException when the connection is closed; the request was not sent then
   */
  LinkStream request(AgentOperation operation, WireFieldsBuilder request, int window) {
    return request(operation, request, window, _ -> {});
  }

  /**
   * Opens a stream.
   *
   * @param prepare called with the stream before the request is sent
   */
  LinkStream request(
      AgentOperation operation,
      WireFieldsBuilder request,
      int window,
      Consumer<LinkStream> prepare) {
    int number = nextStream();
    byte[] frame = request.frame(Wire.REQUEST, number);
    LinkStream stream = new LinkStream(this, number, operation, window, sendWindow);
    prepare.accept(stream);
    streams.put(number, stream);
    boolean sent = false;
    try {
      sent = sendContent(ByteBuffer.wrap(frame));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(id, operation.toString());
    } finally {
      if (!sent) {
        streams.remove(number);
      }
    }
    CloseReason reason = closeReason.get();
    if (!sent) {
      CloseReason lost =
          reason == null
              ? new CloseReason(CloseReason.Kind.DROPPED, "the connection is closed")
              : reason;
      throw lost.exception(id, false);
    }
    if (reason != null) {
      // The connection was closed in between, and may have missed this stream.
      stream.connectionClosed(reason);
    }
    return stream;
  }

  private int nextStream() {
    int number = lastStream.incrementAndGet();
    if (number <= 0) {
      throw closeWith(new CloseReason(CloseReason.Kind.CLOSED, "all stream numbers are in use"))
          .exception(id, false);
    }
    return number;
  }

  /**
   * Adds a stream that forwards frames to a peer. The caller sends the request.
   *
   * @param create creates the stream with its number
   */
  ForwardedStream forward(IntFunction<ForwardedStream> create) {
    int number = nextStream();
    ForwardedStream stream = create.apply(number);
    streams.put(number, stream);
    CloseReason reason = closeReason.get();
    if (reason != null) {
      streams.remove(number);
      stream.connectionClosed(reason);
    }
    return stream;
  }

  /** Returns the round-trip time to the agent. */
  Duration ping(Duration timeout) {
    long from = System.nanoTime();
    try {
      CompletableFuture<Boolean> answered = new CompletableFuture<>();
      sendPing(answered);
      answered.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return Duration.ofNanos(System.nanoTime() - from);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(id, "ping");
    } catch (TimeoutException | ExecutionException e) {
      CloseReason reason =
          new CloseReason(CloseReason.Kind.SILENT, "no reply to a ping within " + timeout);
      throw closeWith(reason).exception(id, false);
    }
  }

  /**
   * Queues a content frame, waiting while the agent does not read. Returns false when the
   * connection is closed.
   */
  boolean sendContent(ByteBuffer frame) throws InterruptedException {
    return outbox.put(frame);
  }

  /** Queues a content frame whose payload is a file region, in the same way. */
  boolean sendContent(byte[] header, FileRegion part) throws InterruptedException {
    return outbox.put(header, part);
  }

  /** Queues a small frame without waiting. */
  void sendControl(byte[] frame) {
    boolean queued = outbox.putControl(frame);
    assert queued || isClosed();
  }

  /**
   * Closes the connection because the agent violated the protocol. Returns the reason why it is
   * closed.
   */
  CloseReason protocolViolation(String violation) {
    return closeWith(
        new CloseReason(
            CloseReason.Kind.VIOLATION, "the agent violated the protocol: " + violation));
  }

  /** Expects that the agent hangs up after all that was sent before has been received. */
  void expectHangUp() {
    held = true;
    streams.values().forEach(ConnectionStream::awaitSent);
  }

  /** Closes a connection whose agent was expected to hang up. */
  void hangUp() {
    closeWith(new CloseReason(CloseReason.Kind.HELD, "the sandbox is held"));
  }

  /** Returns whether the agent hangs up, or has hung up, because the sandbox is held. */
  boolean isHeld() {
    return held;
  }

  /**
   * Returns an operation that would fail if the agent hung up now: one that changes something, or
   * transfers a file. Others continue on the next connection.
   */
  Optional<AgentOperation> unfinishedOperation() {
    return streams.values().stream()
        .filter(ConnectionStream::needsConnection)
        .map(ConnectionStream::operation)
        .findFirst();
  }

  /**
   * Waits until the agent has closed the connection, as it was requested to.
   *
   * @throws IOException if it does not
   */
  void awaitHangUp(Duration timeout) throws IOException {
    try {
      if (!reader.join(timeout)) {
        throw new IOException("the agent has not hung up within " + timeout.toMillis() + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(id, "hanging up");
    }
  }

  /** Closes the connection; the agent and its commands keep running. */
  @Override
  public void close() {
    closeWith(new CloseReason(CloseReason.Kind.CLOSED, "the connection was closed by the server"));
  }

  /** Closes the connection because the sandbox is gone. */
  void markGone(String reason) {
    closeWith(new CloseReason(CloseReason.Kind.GONE, reason));
  }

  /** Closes the channel as if it had failed, for tests. */
  void simulateDrop() {
    closeWith(new CloseReason(CloseReason.Kind.DROPPED, "dropped"));
  }

  /** Returns how many streams are open, for tests. */
  int openStreams() {
    return streams.size();
  }

  /** Returns the threads, for tests that check that they have ended. */
  List<Thread> threads() {
    return List.of(reader, writer, keepalive);
  }

  private Thread thread(String name, Runnable body) {
    String full = "isola-link-" + name + "-" + id;
    return channel.supportsVirtualThreads()
        ? Thread.ofVirtual().name(full).unstarted(body)
        : Thread.ofPlatform().daemon().name(full).unstarted(body);
  }

  private void read(Secret secret) {
    try {
      FrameReader frames = new FrameReader(channel, this::isBulk);
      Handshake.Welcome welcome = new Handshake(frames, channel, secret).perform();
      sendWindow = welcome.window();
      lastReceived = System.nanoTime();
      writer.start();
      keepalive.start();
      handshake.complete(welcome);
      while (!isClosed()) {
        Frame frame = frames.next();
        lastReceived = System.nanoTime();
        if (frame.type() == Wire.CHALLENGE && !channel.isConnectionOriented()) {
          throw new EOFException("the agent ended the connection"); // it cannot close the channel
        }
        take(frame);
      }
    } catch (ProtocolViolation e) {
      protocolViolation(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      boolean gone = e instanceof AgentAbsentException absent && absent.isPermanent();
      closeWith(
          new CloseReason(
              gone ? CloseReason.Kind.GONE : CloseReason.Kind.DROPPED,
              String.valueOf(e.getMessage())));
    } catch (RuntimeException | Error e) {
      closeWith(new CloseReason(CloseReason.Kind.VIOLATION, "reading failed: " + e));
      throw e;
    }
  }

  private boolean isBulk(int number) {
    ConnectionStream stream = streams.get(number);
    return stream != null && stream.operation().isBulk();
  }

  private void take(Frame frame) throws IOException {
    try {
      dispatch(frame);
    } catch (IOException | RuntimeException | Error e) {
      frame.release(); // A method that throws has not kept the frame.
      throw e;
    }
  }

  private void write() {
    try {
      outbox.writeTo(channel);
    } catch (IOException e) {
      waitForBye();
      closeWith(new CloseReason(CloseReason.Kind.DROPPED, "writing failed: " + e.getMessage()));
    } catch (InterruptedException e) {
      close();
    }
  }

  /** Waits briefly for the reading thread, since an ending agent sends BYE with its reason. */
  private void waitForBye() {
    try {
      reader.join(BYE_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void dispatch(Frame frame) throws IOException {
    switch (frame.type()) {
      case Wire.PING -> answerPing(frame);
      case Wire.PONG -> completePing(frame);
      case Wire.BYE -> {
        requireConnection(frame);
        bye = WireFields.parse(frame.payload()).optionalText(FieldTag.REASON).orElse("no reason");
        if (bye.equals(REPLACED)) {
          // A relay may take long to pass on that the agent has closed the channel.
          throw new EOFException("the agent ended the connection");
        }
      }
      case Wire.INCOMING -> incoming(frame);
      case Wire.RESPONSE,
          Wire.DATA,
          Wire.EOF,
          Wire.CREDIT,
          Wire.END,
          Wire.ERROR,
          Wire.OUTPUT,
          Wire.ITEM,
          Wire.GAP ->
          toStream(frame);
      default -> throw new ProtocolViolation("a frame of type " + frame.type());
    }
  }

  private void toStream(Frame frame) {
    ConnectionStream stream = streams.get(frame.stream());
    if (stream == null) {
      throw new ProtocolViolation(
          "a frame of type " + frame.type() + " for a stream that is not open");
    }
    if (frame.isTerminal()) {
      streams.remove(frame.stream());
      if (stream.operation() == AgentOperation.INCOMING) {
        agentStreams.decrementAndGet();
      }
    }
    try {
      stream.accept(frame);
    } catch (ProtocolViolation e) {
      // A stream whose last frame is refused has left the table: closing would not wake its caller.
      stream.connectionClosed(protocolViolation(String.valueOf(e.getMessage())));
      throw e;
    }
  }

  private void answerPing(Frame frame) {
    requireConnection(frame);
    if (frame.payload().length > Wire.PING_MAX) {
      throw new ProtocolViolation("a PING of " + frame.payload().length + " bytes");
    }
    outbox.offer(Wire.frame(Wire.PONG, 0, frame.payload()));
  }

  private void completePing(Frame frame) {
    requireConnection(frame);
    CompletableFuture<Boolean> waiting =
        frame.payload().length == 8 ? pings.remove(Wire.getLong(frame.payload(), 0)) : null;
    if (waiting == null) {
      throw new ProtocolViolation("a PONG without a PING");
    }
    waiting.complete(true);
  }

  private void incoming(Frame frame) {
    int number = frame.stream();
    if (number >= 0 || (number <= lastIncoming && lastIncoming < 0)) {
      throw new ProtocolViolation(
          "INCOMING with a stream number that is not one of the agent's or already used");
    }
    WireFields fields = WireFields.parse(frame.payload());
    int relayNumber = fields.range(FieldTag.RELAY, 1, Integer.MAX_VALUE);
    if (!(streams.get(relayNumber) instanceof LinkStream relay)
        || (relay.operation() != AgentOperation.RELAY
            && relay.operation() != AgentOperation.EGRESS)) {
      throw new ProtocolViolation("INCOMING without a relay");
    }
    int open = agentStreams.incrementAndGet();
    if (open > AGENT_STREAMS_MAX) {
      throw new ProtocolViolation("too many INCOMING streams");
    }
    int window = open <= WIDE_STREAMS_MAX ? WIDE_WINDOW : NARROW_WINDOW;
    lastIncoming = number;
    LinkStream stream = new LinkStream(this, number, AgentOperation.INCOMING, window, sendWindow);
    streams.put(number, stream);
    relay.incoming(stream, fields);
  }

  private static void requireConnection(Frame frame) {
    if (frame.stream() != 0) {
      throw new ProtocolViolation("a frame of type " + frame.type() + " on a stream");
    }
  }

  private void sendPing(CompletableFuture<Boolean> waiting) {
    long nonce = lastPing.incrementAndGet();
    pings.put(nonce, waiting);
    byte[] payload = new byte[8];
    Wire.putLong(payload, 0, nonce);
    if (!outbox.putControl(Wire.frame(Wire.PING, 0, payload))) {
      waiting.completeExceptionally(new IOException("the connection is closed"));
    }
  }

  /** Closes the connection when a stream is open and the agent does not answer pings. */
  private void watchLiveness() {
    long silence = timeouts.keepaliveTime().toNanos();
    long pingedAt = 0;
    boolean pinged = false;
    while (!isClosed()) {
      long now = System.nanoTime();
      long lastHeard = lastReceived;
      if (keepalivePaused || streams.isEmpty() || (pinged && lastHeard - pingedAt > 0)) {
        pinged = false;
      } else if (pinged && now - pingedAt > timeouts.keepaliveTimeout().toNanos()) {
        closeWith(new CloseReason(CloseReason.Kind.SILENT, "the agent does not answer"));
      } else if (!pinged && now - lastHeard >= silence) {
        pinged = true;
        pingedAt = now;
        sendPing(new CompletableFuture<>());
      }
      checkCancelled(now);
      long wait = pinged ? timeouts.keepaliveTimeout().toNanos() / 4 : silence / 2;
      if (!isClosed()) {
        LockSupport.parkNanos(this, wait);
      }
    }
  }

  private void checkCancelled(long now) {
    if (keepalivePaused) {
      return;
    }
    for (ConnectionStream stream : streams.values()) {
      stream.cancelLingering(now - LINGER.toNanos());
      if (stream.cancelledBefore(now - CANCEL_TIMEOUT.toNanos())) {
        protocolViolation("a cancelled stream was not ended");
      }
    }
  }

  /** Closes everything, once. Returns the reason why the connection is closed. */
  private CloseReason closeWith(CloseReason requested) {
    CloseReason reason = withByeReason(requested);
    if (!closeReason.compareAndSet(null, reason)) {
      return closeReason().orElse(reason);
    }
    channel.close();
    outbox.close();
    streams.values().forEach(stream -> stream.connectionClosed(reason));
    streams.clear();
    pings
        .values()
        .forEach(waiting -> waiting.completeExceptionally(new IOException(reason.message())));
    pings.clear();
    handshake.completeExceptionally(new IOException(reason.message()));
    LockSupport.unpark(keepalive);
    return reason;
  }

  /** Prefers the reason in the agent's BYE over a dropped connection. */
  private CloseReason withByeReason(CloseReason requested) {
    String reason = bye;
    if (held && reason == null && requested.kind() == CloseReason.Kind.DROPPED) {
      return new CloseReason(CloseReason.Kind.HELD, "the sandbox is held");
    }
    if (reason == null || requested.kind() != CloseReason.Kind.DROPPED) {
      return requested;
    }
    return reason.equals(REPLACED)
        ? new CloseReason(CloseReason.Kind.REPLACED, "another server took over")
        : new CloseReason(
            CloseReason.Kind.GONE, "its agent ended (" + RemoteError.sanitize(reason) + ")");
  }
}
