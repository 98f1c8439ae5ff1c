package dev.isola.link;

import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Accepts connections that guest processes make to a port of their loopback interface. After a
 * dropped connection it asks the agent again, until it is closed or the sandbox is gone.
 */
final class AgentRelay implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 256;
  private static final long PAUSE_MAX = Duration.ofSeconds(5).toNanos();

  private final AgentClient client;
  private final int port;
  private final Consumer<PortDialing.Connection> handler;
  private final Semaphore slots = new Semaphore(MAX_CONNECTIONS);
  private volatile LinkStream stream;
  private volatile boolean closed;
  private final Thread listenThread;

  private AgentRelay(AgentClient client, int port, Consumer<PortDialing.Connection> handler) {
    this.client = client;
    this.port = port;
    this.handler = handler;
    this.stream = request();
    this.listenThread =
        Thread.ofVirtual().name("isola-link-relay-" + client.id()).unstarted(this::listenLoop);
  }

  /** Returns once the agent listens. */
  static AgentRelay open(AgentClient client, int port, Consumer<PortDialing.Connection> handler) {
    AgentRelay relay = new AgentRelay(client, port, handler);
    relay.listenThread.start();
    return relay;
  }

  /** Stops listening; open connections continue. */
  @Override
  public void close() {
    closed = true;
    stream.cancel();
    LockSupport.unpark(listenThread);
  }

  private LinkStream request() {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.RELAY).add(FieldTag.PORT, port);
    LinkStream opened =
        client.openRelay(AgentOperation.RELAY, request, (stream, _) -> incoming(stream));
    opened.awaitResponse(client.timeouts().responseTimeout());
    return opened;
  }

  /** Runs on the reading thread and must not block. */
  private void incoming(LinkStream incoming) {
    if (!slots.tryAcquire()) {
      incoming.cancel();
      return;
    }
    Thread.ofVirtual().name("isola-link-incoming-" + client.id()).start(() -> serve(incoming));
  }

  private void serve(LinkStream incoming) {
    try (AgentPort connection = new AgentPort(incoming)) {
      incoming.grantInitialCredit();
      handler.accept(connection);
    } finally {
      slots.release();
    }
  }

  private void listenLoop() {
    long pause = 0;
    while (!closed) {
      try {
        if (pause > 0) {
          LockSupport.parkNanos(this, pause);
          stream = request();
        }
        pause = 50_000_000;
        waitForEnd();
      } catch (Gone e) {
        return;
      } catch (SandboxException e) {
        CloseReason loss = stream.closeReason();
        if (client.isClosed() || (loss != null && !loss.isRecoverable())) {
          return;
        }
        pause = Math.min(Math.max(pause, 50_000_000) * 2, PAUSE_MAX);
      }
    }
    stream.cancel();
  }

  private void waitForEnd() {
    try {
      stream.next(LinkStream.FOREVER);
    } catch (InterruptedException e) {
      closed = true;
    }
  }
}
