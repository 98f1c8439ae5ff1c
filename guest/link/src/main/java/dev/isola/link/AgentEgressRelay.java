package dev.isola.link;

import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Accepts the connections of guest processes to other hosts. After a lost connection to the agent
 * it asks again, until it is closed or replaced, or the sandbox is gone. The agent is not trusted:
 * what it names as host is checked before a handler sees it.
 */
final class AgentEgressRelay implements EgressAccess.Relay {
  private static final int MAX_CONNECTIONS = 512;
  private static final int MAX_PORT = 65_535;
  private static final int EVERY_PORT = 1;
  private static final int HANDOVER = 2;
  private static final Pattern HOST = Pattern.compile("[0-9a-z._:-]{1,253}");
  private static final long PAUSE = Duration.ofMillis(10).toNanos();
  private static final long PAUSE_MAX = Duration.ofMillis(500).toNanos();

  private final AgentClient client;
  private final String certificate;
  private final Consumer<EgressAccess.OutboundConnection> handler;
  private final Semaphore slots = new Semaphore(MAX_CONNECTIONS);

  /** Held while a request is made, so that the end of the previous one is seen after it. */
  private final ReentrantLock requesting = new ReentrantLock();

  private volatile Set<Integer> ports;
  private volatile LinkStream stream;
  private volatile boolean everyPort;
  private volatile Optional<HandoverSocket> handovers = Optional.empty();
  private volatile boolean closed;
  private final Thread thread;

  private AgentEgressRelay(
      AgentClient client,
      String certificate,
      Set<Integer> ports,
      Consumer<EgressAccess.OutboundConnection> handler) {
    this.client = client;
    this.certificate = certificate;
    this.handler = handler;
    this.ports = Set.copyOf(ports);
    this.stream = request();
    this.thread =
        Thread.ofVirtual().name("isola-link-egress-" + client.id()).unstarted(this::keepOpen);
  }

  /** Returns once the agent passes connections on. */
  static AgentEgressRelay open(
      AgentClient client,
      String certificate,
      Set<Integer> ports,
      Consumer<EgressAccess.OutboundConnection> handler) {
    AgentEgressRelay relay = new AgentEgressRelay(client, certificate, ports, handler);
    relay.thread.start();
    return relay;
  }

  @Override
  public boolean servesEveryPort() {
    return everyPort;
  }

  @Override
  public void setPorts(Set<Integer> newPorts) {
    requesting.lock();
    try {
      ports = Set.copyOf(newPorts);
      if (!everyPort && !closed) {
        stream = request(); // ends the previous one; connections continue
      }
    } finally {
      requesting.unlock();
    }
  }

  /** Stops accepting; open connections continue. */
  @Override
  public void close() {
    replace();
    stream.cancel();
  }

  /** Stops asking the agent, because another relay has taken its place. */
  void replace() {
    closed = true;
    LockSupport.unpark(thread);
  }

  private LinkStream request() {
    WireFieldsBuilder request = new WireFieldsBuilder(AgentOperation.EGRESS);
    if (!certificate.isEmpty()) {
      request.add(FieldTag.TRUST, certificate);
    }
    ports.forEach(port -> request.add(FieldTag.PORT, port));
    LinkStream opened = client.openRelay(AgentOperation.EGRESS, request, this::incoming);
    WireFields response = opened.awaitResponse(client.timeouts().responseTimeout());
    try {
      long flags = response.number(FieldTag.FLAGS, 0);
      everyPort = (flags & EVERY_PORT) != 0;
      handovers = (flags & HANDOVER) != 0 ? handovers() : Optional.empty();
    } catch (ProtocolViolation e) {
      throw opened.protocolViolation(e.getMessage());
    }
    return opened;
  }

  private Optional<HandoverSocket> handovers() {
    return client.endpoint() instanceof AgentAcceptor acceptor
        ? acceptor.handovers()
        : Optional.empty();
  }

  /** Runs on the reading thread and must not block. */
  private void incoming(LinkStream incoming, WireFields fields) {
    int port = fields.range(FieldTag.PORT, 1, MAX_PORT);
    String host = fields.text(FieldTag.HOST);
    if (!HOST.matcher(host).matches()) {
      throw new ProtocolViolation("INCOMING with a host that is neither a name nor an address");
    }
    if (!slots.tryAcquire()) {
      incoming.cancel();
      return;
    }
    Thread.ofVirtual()
        .name("isola-link-outbound-" + client.id())
        .start(() -> serve(incoming, host, port));
  }

  private void serve(LinkStream incoming, String host, int port) {
    try (AgentOutboundConnection connection =
        new AgentOutboundConnection(incoming, host, port, handovers)) {
      handler.accept(connection);
    } finally {
      slots.release();
    }
  }

  private void keepOpen() {
    long pause = 0;
    while (!closed) {
      try {
        if (pause > 0) {
          LockSupport.parkNanos(this, pause);
          reopen();
        }
        pause = 0;
        waitForEnd();
      } catch (SandboxException e) {
        handovers.ifPresent(HandoverSocket::reset); // as connections that the agent has
        if (client.isClosed() || client.goneReason().isPresent() || isTakenOver()) {
          return;
        }
        pause = Math.clamp(pause * 2, PAUSE, PAUSE_MAX);
      }
    }
  }

  /** Another server has the connections now; asking again would take them from it. */
  private boolean isTakenOver() {
    CloseReason reason = stream.closeReason();
    return reason != null && reason.kind() == CloseReason.Kind.REPLACED;
  }

  private void reopen() {
    requesting.lock();
    try {
      if (!closed) {
        stream = request();
      }
    } finally {
      requesting.unlock();
    }
    if (closed) {
      stream.cancel(); // closed in between
    }
  }

  /**
   * Waits for the end of the request. One that ends without an error was replaced: by {@link
   * #setPorts}, or by another relay.
   */
  private void waitForEnd() {
    LinkStream waiting = stream;
    try {
      waiting.next(LinkStream.FOREVER);
    } catch (InterruptedException e) {
      closed = true;
      return;
    }
    requesting.lock();
    try {
      closed |= stream == waiting;
    } finally {
      requesting.unlock();
    }
  }
}
