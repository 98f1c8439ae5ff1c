package dev.isola.integrations.tools;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import dev.isola.client.error.Gone;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.NotFound;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sandboxes by session: a sandbox for each, created by its first call, or one that was given for
 * all. Thread-safe.
 */
final class SandboxSessions implements AutoCloseable {
  /** An operation in a sandbox. */
  interface Action<T> {
    T apply(Sandbox sandbox);
  }

  /** The sandbox of a session. The lock is held while it is created, by the first call only. */
  private static final class Session {
    private final ReentrantLock creation = new ReentrantLock();
    private @Nullable Sandbox sandbox;
    private boolean closed;

    /** Returns the sandbox, or empty if the session was closed meanwhile. */
    Optional<Sandbox> sandbox(Isola isola, SandboxSpec spec) {
      creation.lock();
      try {
        if (closed) {
          return Optional.empty();
        }
        Sandbox existing = sandbox;
        if (existing == null) {
          existing = isola.create(spec);
          sandbox = existing;
        }
        return Optional.of(existing);
      } finally {
        creation.unlock();
      }
    }

    void close() {
      creation.lock();
      try {
        closed = true;
        if (sandbox != null) {
          sandbox.close();
        }
      } finally {
        creation.unlock();
      }
    }
  }

  private final Optional<Isola> isola;
  private final Optional<Sandbox> given;
  private final ToolOptions options;
  private final ReentrantLock lock = new ReentrantLock();

  /** In the order of their last use. */
  private final Map<Object, Session> sessions = new LinkedHashMap<>(16, 0.75f, true);

  private boolean closed;

  private SandboxSessions(Optional<Isola> isola, Optional<Sandbox> given, ToolOptions options) {
    this.isola = isola;
    this.given = given;
    this.options = options;
  }

  static SandboxSessions creating(Isola isola, ToolOptions options) {
    return new SandboxSessions(Optional.of(isola), Optional.empty(), options);
  }

  static SandboxSessions of(Sandbox sandbox, ToolOptions options) {
    return new SandboxSessions(Optional.empty(), Optional.of(sandbox), options);
  }

  boolean createsSandboxes() {
    return given.isEmpty();
  }

  /**
   * Calls the action with the sandbox of a session. If the sandbox no longer exists, the next call
   * creates another one.
   */
  <T> T use(Object id, Action<T> action) {
    if (given.isPresent()) {
      return action.apply(given.get());
    }
    Session session = session(id);
    Optional<Sandbox> sandbox = session.sandbox(isola.orElseThrow(), options.spec());
    while (sandbox.isEmpty()) {
      session = session(id);
      sandbox = session.sandbox(isola.orElseThrow(), options.spec());
    }
    try {
      return action.apply(sandbox.get());
    } catch (Gone | NotFound e) {
      if (isSandboxGone(e)) {
        forget(id, session);
      }
      throw e;
    }
  }

  static boolean isSandboxGone(IsolaException e) {
    return e.code().equals("SANDBOX_NOT_FOUND") || e.code().equals("SANDBOX_DESTROYED");
  }

  private Session session(Object id) {
    Optional<Session> displaced = Optional.empty();
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the tools are closed");
      }
      Session session = sessions.get(id);
      if (session != null) {
        return session;
      }
      if (sessions.size() >= options.maxSandboxes()) {
        Iterator<Session> leastRecentlyUsed = sessions.values().iterator();
        displaced = Optional.of(leastRecentlyUsed.next());
        leastRecentlyUsed.remove();
      }
      session = new Session();
      sessions.put(id, session);
      return session;
    } finally {
      lock.unlock();
      displaced.ifPresent(SandboxSessions::closeDisplaced);
    }
  }

  private static void closeDisplaced(Session session) {
    try {
      session.close();
    } catch (IsolaException e) {
      // Another session must not fail because of it; the server destroys it when it expires.
    }
  }

  private void forget(Object id, Session session) {
    lock.lock();
    try {
      sessions.remove(id, session);
    } finally {
      lock.unlock();
    }
  }

  /** Destroys the sandbox of a session, if it has one. A later call creates another one. */
  void close(Object id) {
    Optional<Session> session;
    lock.lock();
    try {
      session = Optional.ofNullable(sessions.remove(id));
    } finally {
      lock.unlock();
    }
    session.ifPresent(Session::close);
  }

  /** Destroys the sandboxes that were created here. Idempotent. */
  @Override
  public void close() {
    List<Session> all;
    lock.lock();
    try {
      closed = true;
      all = new ArrayList<>(sessions.values());
      sessions.clear();
    } finally {
      lock.unlock();
    }
    IsolaException failure = null;
    for (Session session : all) {
      try {
        session.close();
      } catch (IsolaException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
