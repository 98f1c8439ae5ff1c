package dev.isola.egress.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the lookups of all sandboxes: how many run at once, and how long a caller waits. The
 * lookup of the operating system cannot be interrupted, so it runs on a thread of its own.
 *
 * <p>A sandbox gets a second lookup at once only while a multiple of what it has is free. So a few
 * sandboxes that ask a silent name server leave most of the threads to others, and many of them
 * leave one for each. What waits is served in turns, one sandbox after the other.
 */
public final class BoundedResolver {
  /** How many must be free for each that a sandbox has. */
  private static final int FREE_FOR_EACH = 3;

  private final NameResolver inner;
  private final Duration timeout;
  private final ReentrantLock lock = new ReentrantLock();

  /** The sandboxes with lookups that wait; the one whose turn is next is first. */
  private final Set<Share> waiting = new LinkedHashSet<>();

  private int free;

  public BoundedResolver(NameResolver inner, int concurrent, Duration timeout) {
    this.inner = inner;
    this.timeout = timeout;
    this.free = concurrent;
  }

  /**
   * Returns a resolver that asks the operating system. It may answer with an IPv4 address that is
   * written as IPv6, which then is an IPv4 address.
   */
  public static NameResolver system() {
    return name -> {
      List<InetAddress> found = new ArrayList<>();
      for (InetAddress address : InetAddress.getAllByName(name)) {
        found.add(InetAddress.getByAddress(address.getAddress()));
      }
      return found;
    };
  }

  /** Returns a resolver for one sandbox. */
  public NameResolver share() {
    return new Share();
  }

  /** The lookups of one sandbox. */
  private final class Share implements NameResolver {
    private final Deque<CompletableFuture<Boolean>> queue = new ArrayDeque<>();
    private int running;

    @Override
    public List<InetAddress> resolve(String name) throws UnknownHostException {
      CompletableFuture<Boolean> turn = enqueue();
      try {
        boolean _ = turn.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException | ExecutionException e) {
        giveUp(turn);
        throw failed(name, "too many lookups are in progress", e);
      } catch (InterruptedException e) {
        giveUp(turn);
        throw interrupted(name, e);
      }
      CompletableFuture<List<InetAddress>> result = new CompletableFuture<>();
      start(name, result);
      try {
        return result.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        throw failed(name, "no name server answered within " + timeout.toMillis() + " ms", e);
      } catch (InterruptedException e) {
        throw interrupted(name, e);
      } catch (ExecutionException e) {
        throw failed(name, "the name has no address", e.getCause());
      }
    }

    private void start(String name, CompletableFuture<List<InetAddress>> result) {
      boolean started = false;
      try {
        Thread.ofPlatform().daemon().name("isola-resolve").start(() -> run(name, result));
        started = true;
      } finally {
        if (!started) {
          end(); // the system has no more threads
        }
      }
    }

    private void run(String name, CompletableFuture<List<InetAddress>> result) {
      try {
        result.complete(inner.resolve(name));
      } catch (UnknownHostException | RuntimeException e) {
        result.completeExceptionally(e);
      } finally {
        end();
      }
    }

    private CompletableFuture<Boolean> enqueue() {
      CompletableFuture<Boolean> turn = new CompletableFuture<>();
      lock.lock();
      try {
        queue.add(turn);
        waiting.add(this);
        startWaiting();
        return turn;
      } finally {
        lock.unlock();
      }
    }

    @SuppressWarnings("CollectionUndefinedEquality") // this turn and no other
    private void giveUp(CompletableFuture<Boolean> turn) {
      lock.lock();
      try {
        if (!queue.remove(turn)) {
          end(); // its turn has just come
        } else if (queue.isEmpty()) {
          waiting.remove(this);
        }
      } finally {
        lock.unlock();
      }
    }

    private void end() {
      lock.lock();
      try {
        running--;
        free++;
        startWaiting();
      } finally {
        lock.unlock();
      }
    }

    private boolean mayStart() {
      return free > FREE_FOR_EACH * running;
    }

    private void startFirst() {
      running++;
      free--;
      boolean _ = queue.remove().complete(true);
    }
  }

  /** Starts what may start, one of each sandbox before a second one of any. */
  private void startWaiting() {
    boolean started = true;
    while (started) {
      started = false;
      for (Share share : List.copyOf(waiting)) {
        if (share.mayStart()) {
          share.startFirst();
          started = true;
          waiting.remove(share); // and then it is the last
          if (!share.queue.isEmpty()) {
            waiting.add(share);
          }
        }
      }
    }
  }

  private static UnknownHostException interrupted(String name, InterruptedException e) {
    Thread.currentThread().interrupt();
    return failed(name, "interrupted", e);
  }

  private static UnknownHostException failed(String name, String why, @Nullable Throwable cause) {
    UnknownHostException failed = new UnknownHostException(name + ": " + why);
    if (cause != null) {
      failed.initCause(cause);
    }
    return failed;
  }
}
