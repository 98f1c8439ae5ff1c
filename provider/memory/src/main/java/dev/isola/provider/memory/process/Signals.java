package dev.isola.provider.memory.process;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a process does about signals: handlers that a shell sets, and those that wait to be handled.
 */
public final class Signals {
  enum Effect {
    DIE,
    HANDLE,
    NOTHING
  }

  private final Map<Integer, String> handlers = new ConcurrentHashMap<>();
  private final Deque<Integer> pending = new ArrayDeque<>();
  private volatile boolean waiting;

  /** An empty text ignores the signal. */
  public void handle(int signal, String text) {
    handlers.put(signal, text);
  }

  public void reset(int signal) {
    handlers.remove(signal);
  }

  public Optional<String> handler(int signal) {
    return Optional.ofNullable(handlers.get(signal));
  }

  /** Ignored signals stay ignored in a child; handlers do not. */
  void inherit(Signals parent) {
    parent.handlers.forEach(
        (signal, text) -> {
          if (text.isEmpty()) {
            handlers.put(signal, text);
          }
        });
  }

  Effect receive(int signal) {
    String handler = handlers.get(signal);
    if (handler != null && handler.isEmpty()) {
      return Effect.NOTHING;
    }
    if (handler != null) {
      synchronized (pending) {
        pending.add(signal);
      }
      return Effect.HANDLE;
    }
    // CHLD, URG and WINCH are ignored unless somebody asks for them.
    return signal == 17 || signal == 23 || signal == 28 ? Effect.NOTHING : Effect.DIE;
  }

  public Optional<Integer> next() {
    synchronized (pending) {
      return Optional.ofNullable(pending.poll());
    }
  }

  /** Says whether the process is in a wait that a handled signal ends. */
  public void waiting(boolean now) {
    waiting = now;
  }

  boolean waiting() {
    return waiting;
  }
}
