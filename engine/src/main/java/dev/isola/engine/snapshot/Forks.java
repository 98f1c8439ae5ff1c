package dev.isola.engine.snapshot;

import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Delivery;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.selection.Request;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecDocument;
import dev.isola.store.SandboxEntry;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Makes several sandboxes with the files that one has now, by a snapshot that each is filled from.
 * Their processes, clocks and random numbers are their own: they begin anew.
 *
 * @param create makes what is ordered
 */
public record Forks(Book book, Snapshots snapshots, Function<Order, Delivery> create) {
  public static final int MOST = 100;

  private static final SecureRandom RANDOM = new SecureRandom();

  /** What a fork has already because its files are there, or may not share. */
  private static final List<String> NOT_AGAIN =
      List.of("id", "seedFiles", "init", "workspacePath", "image");

  /**
   * @return as many results as were asked for
   */
  public List<Forked> fork(SandboxId id, int count) {
    if (count < 1 || count > MOST) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              count + " forks cannot be made at once",
              "ask for 1 to " + MOST)
          .sandbox(id)
          .exception();
    }
    SandboxEntry source = book.need(id);
    Snapshot files =
        snapshots
            .create(id, SnapshotOrder.WORKSPACE.withTags(Map.of("isola.fork", id.value())))
            .snapshot();
    try {
      return made(source, files, count);
    } finally {
      snapshots.remove(files.id());
    }
  }

  private List<Forked> made(SandboxEntry source, Snapshot files, int count) {
    List<Forked> results = new ArrayList<>();
    Forked[] each = new Forked[count];
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int at = i;
      threads.add(
          Thread.ofVirtual().name("isola-fork-" + i).start(() -> each[at] = one(source, files)));
    }
    for (int i = 0; i < count; i++) {
      await(threads.get(i));
      results.add(each[i]);
    }
    return results;
  }

  /** What was begun is waited for, so that nobody is left with sandboxes that they do not know. */
  private static void await(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private Forked one(SandboxEntry source, Snapshot files) {
    try {
      Order order =
          Order.of(Request.of(spec(source, files), source.provider()).strict())
              .withTenant(source.tenant())
              .withLabels(source.labels());
      Delivery made = create.apply(source.idleTimeout().map(order::withIdleTimeout).orElse(order));
      return new Forked.Made(made.entry());
    } catch (SandboxException e) {
      return new Forked.Failed(e);
    } catch (RuntimeException e) {
      return new Forked.Failed(
          Fault.of(ErrorCode.INTERNAL, "a fork failed: " + e, "look into the server's log")
              .exception(e));
    }
  }

  private static SandboxSpec spec(SandboxEntry source, Snapshot files) {
    SandboxSpec spec = SpecText.read(source.spec(), source.id());
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(spec));
    NOT_AGAIN.forEach(document::remove);
    document.put("image", SnapshotImages.name(files.id()));
    return SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
  }
}
