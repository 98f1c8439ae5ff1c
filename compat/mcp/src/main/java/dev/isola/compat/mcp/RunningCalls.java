package dev.isola.compat.mcp;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The calls of sessions that wait for a command, which their clients can cancel. */
final class RunningCalls {

  /** A call in progress on the thread that created it. Closing it ends its registration. */
  final class Call implements AutoCloseable {
    private final String key;
    private final Thread thread = Thread.currentThread();
    private final AtomicBoolean cancelled = new AtomicBoolean();

    private Call(String key) {
      this.key = key;
    }

    boolean isCancelled() {
      return cancelled.get();
    }

    @Override
    public void close() {
      calls.remove(key, this);
    }
  }

  private final Map<String, Call> calls = new ConcurrentHashMap<>();

  /**
   * Registers a call.
   *
   * @param session empty for a client without a session, which cancels by closing the connection
   */
  Call begin(String session, Object id) {
    Call call = new Call(key(session, id));
    if (!session.isEmpty()) {
      calls.putIfAbsent(call.key, call); // a client that reuses an id cancels the first call
    }
    return call;
  }

  /** Interrupts the thread of a call; does nothing if there is no such call. */
  void cancel(String session, Object id) {
    Call call = calls.remove(key(session, id));
    if (call != null) {
      call.cancelled.set(true);
      call.thread.interrupt();
    }
  }

  private static String key(String session, Object id) {
    return session + " " + (id instanceof String ? "text " : "number ") + id;
  }
}
