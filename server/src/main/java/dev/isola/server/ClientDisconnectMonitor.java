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
 * Notices that a client goes away while its answer is worked on, which HTTP/1.1 does not tell
 * anybody who neither reads nor writes. Its thread is interrupted then.
 *
 * <p>A client that has shut down its sending half looks the same as one that is gone, and counts as
 * gone. One that sends its next request already is still there; what was read of that cannot be
 * given back, so the connection ends with this answer and the client sends it again. Once an answer
 * has begun nobody may do that.
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
    if (!(endPoint instanceof AbstractEndPoint plain)) {
      return () -> {};
    }
    ClientDisconnectMonitor gone = new ClientDisconnectMonitor(plain, response);
    return plain.tryFillInterested(gone) ? gone : () -> {};
  }

  /** There is something to read, or the end of it. */
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
      interruptWorker(); // it is too late to say so, and the rest would be taken for another
      // request
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
        endPoint.tryFillInterested(this); // silence is no reason to stop looking
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
        endPoint.getFillInterest().onFail(new TimeoutException("nobody watches any more"));
      }
    } finally {
      lock.unlock();
    }
  }
}
