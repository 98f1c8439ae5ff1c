package dev.isola.server;

import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/**
 * Detects that a client disconnects while its request is being processed, which HTTP/1.1 does not
 * report to a thread that neither reads nor writes. The thread of the request is interrupted.
 *
 * <p>A client that has shut down its sending side cannot be distinguished from one that has
 * disconnected, and is treated as disconnected. A client may also send its next request: as soon as
 * it has read the response, which is earlier than the end of the handler, or before that. The byte
 * that was read is then returned to the connection, and the watch ends.
 */
final class ClientDisconnectMonitor implements Exchange.DisconnectWatch, Callback {
  private final AbstractEndPoint endPoint;
  private final Connection.UpgradeTo connection;
  private final Thread worker = Thread.currentThread();
  private final ReentrantLock lock = new ReentrantLock();
  private boolean watching = true;

  private ClientDisconnectMonitor(AbstractEndPoint endPoint, Connection.UpgradeTo connection) {
    this.endPoint = endPoint;
    this.connection = connection;
  }

  static Exchange.DisconnectWatch watch(EndPoint endPoint) {
    if (!(endPoint instanceof AbstractEndPoint abstractEndPoint)
        || !(endPoint.getConnection() instanceof Connection.UpgradeTo connection)) {
      return () -> {};
    }
    ClientDisconnectMonitor monitor = new ClientDisconnectMonitor(abstractEndPoint, connection);
    return abstractEndPoint.tryFillInterested(monitor) ? monitor : () -> {};
  }

  /** Called when input, or the end of input, is available. */
  @Override
  public void succeeded() {
    lock.lock();
    try {
      if (watching) {
        checkInput();
      }
    } catch (IOException e) {
      interruptWorker();
    } finally {
      lock.unlock();
    }
  }

  private void checkInput() throws IOException {
    ByteBuffer input = BufferUtil.allocate(1);
    int read = endPoint.fill(input);
    if (read < 0) {
      interruptWorker();
    } else if (read == 0) {
      endPoint.tryFillInterested(this);
    } else {
      watching = false;
      // The connection parses it after this request; an upgrade passes input on in the same way.
      connection.onUpgradeTo(input);
    }
  }

  private void interruptWorker() {
    watching = false;
    worker.interrupt();
  }

  @Override
  public void failed(Throwable cause) {
    lock.lock();
    try {
      if (watching && cause instanceof TimeoutException) {
        endPoint.tryFillInterested(this); // an idle connection is still watched
      } else if (watching) {
        interruptWorker();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (watching) {
        watching = false;
        endPoint.getFillInterest().onFail(new TimeoutException("the watch was closed"));
      }
    } finally {
      lock.unlock();
    }
  }
}
