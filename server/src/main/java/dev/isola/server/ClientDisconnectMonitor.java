package dev.isola.server;

import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/**
 * Detects that a client disconnects while its request is being processed, which HTTP/1.1 does not
 * report to a thread that neither reads nor writes. The thread of the request is interrupted.
 *
 * <p>A client that has shut down its sending side cannot be distinguished from one that has
 * disconnected, and is treated as disconnected. If the client has already sent its next request,
 * the byte read here is lost; the connection is then closed after this response, and the client
 * repeats its request. Once the response has begun, a further request counts as a disconnect.
 */
final class ClientDisconnectMonitor implements Exchange.DisconnectWatch, Callback {
  private final AbstractEndPoint endPoint;
  private final Response response;
  private final Thread worker = Thread.currentThread();
  private final ReentrantLock lock = new ReentrantLock();
  private boolean watching = true;

  private ClientDisconnectMonitor(AbstractEndPoint endPoint, Response response) {
    this.endPoint = endPoint;
    this.response = response;
  }

  static Exchange.DisconnectWatch watch(EndPoint endPoint, Response response) {
    if (!(endPoint instanceof AbstractEndPoint abstractEndPoint)) {
      return () -> {};
    }
    ClientDisconnectMonitor monitor = new ClientDisconnectMonitor(abstractEndPoint, response);
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
    int read = endPoint.fill(BufferUtil.allocate(1));
    if (read < 0) {
      interruptWorker();
    } else if (read == 0) {
      endPoint.tryFillInterested(this);
    } else if (response.isCommitted()) {
      // The close can no longer be announced, and the rest would be taken for another request.
      interruptWorker();
    } else {
      watching = false;
      response.getHeaders().put("Connection", "close");
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
