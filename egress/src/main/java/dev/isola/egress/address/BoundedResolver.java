package dev.isola.egress.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the lookups of all sandboxes: how many run at once, and how long a caller waits. The
 * lookup of the operating system cannot be interrupted, so it runs on a thread of its own.
 */
public final class BoundedResolver implements NameResolver {
  private final NameResolver inner;
  private final Duration timeout;
  private final Semaphore slots;

  public BoundedResolver(NameResolver inner, int concurrent, Duration timeout) {
    this.inner = inner;
    this.timeout = timeout;
    this.slots = new Semaphore(concurrent);
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

  @Override
  public List<InetAddress> resolve(String name) throws UnknownHostException {
    try {
      if (!slots.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
        throw failed(name, "too many lookups are in progress", null);
      }
    } catch (InterruptedException e) {
      throw interrupted(name, e);
    }
    CompletableFuture<List<InetAddress>> result = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("isola-resolve").start(() -> run(name, result));
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

  private void run(String name, CompletableFuture<List<InetAddress>> result) {
    try {
      result.complete(inner.resolve(name));
    } catch (UnknownHostException | RuntimeException e) {
      result.completeExceptionally(e);
    } finally {
      slots.release();
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
