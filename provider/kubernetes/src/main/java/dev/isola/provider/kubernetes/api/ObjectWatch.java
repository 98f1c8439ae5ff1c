package dev.isola.provider.kubernetes.api;

import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the objects of a list. An interrupted watch continues where it ended; when the API server
 * no longer knows that point, the objects are listed again, and the listener gets them all.
 */
public final class ObjectWatch implements AutoCloseable {
  /** An object has at most 1.5 MiB in a cluster's default configuration. */
  private static final int MAX_LINE = 4 << 20;

  private static final int PAGE = 500;
  private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration BEGIN_TIMEOUT = Duration.ofSeconds(15);

  /** The API server ends a watch after this time, so that a dead connection does not last. */
  private static final int WATCH_SECONDS = 240;

  private static final long PAUSE = Duration.ofMillis(250).toNanos();
  private static final int GONE = 410;

  /** Receives what happens to the objects, from one thread. */
  public interface Listener {
    /** All objects that exist, at the beginning and whenever changes may have been missed. */
    void listed(List<JsonValue> objects);

    void changed(JsonValue object);

    void deleted(JsonValue object);
  }

  private final ClusterClient client;
  private final String path;
  private final Selection selection;
  private final Listener listener;
  private final Consumer<SandboxException> onFailure;
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile @Nullable InputStream current;
  private volatile boolean closed;

  /**
   * The objects to follow.
   *
   * @param existing whether the listener gets the objects that exist at the beginning
   */
  public record Selection(Map.Entry<String, String> query, boolean existing) {
    /** Returns the objects with these labels. */
    public static Selection ofLabels(String selector) {
      return new Selection(Map.entry("labelSelector", selector), true);
    }

    /** Returns the objects with these fields that appear from now on. */
    public static Selection ofNewWithFields(String selector) {
      return new Selection(Map.entry("fieldSelector", selector), false);
    }
  }

  /**
   * @param path of the list
   * @param onFailure called when the API server refuses or cannot be reached, before it is retried
   */
  public ObjectWatch(
      ClusterClient client,
      String path,
      Selection selection,
      Listener listener,
      Consumer<SandboxException> onFailure) {
    this.client = client;
    this.path = path;
    this.selection = selection;
    this.listener = listener;
    this.onFailure = onFailure;
  }

  /** Starts unless already started. */
  public void start() {
    if (!closed && started.compareAndSet(false, true)) {
      Thread.ofVirtual().name("kubernetes-watch").start(this::run);
    }
  }

  private void run() {
    String version = "";
    while (!closed) {
      try {
        if (version.isEmpty()) {
          version = selection.existing() ? listAll() : version();
        }
        version = watch(version);
      } catch (SandboxException e) {
        onFailure.accept(e);
        LockSupport.parkNanos(PAUSE);
      } catch (IOException interrupted) {
        LockSupport.parkNanos(PAUSE); // and continue where it ended
      }
    }
  }

  private String listAll() {
    Page all = list(client, path, selection.query().getValue(), Deadline.in(LIST_TIMEOUT));
    listener.listed(all.objects());
    return all.version();
  }

  /** Returns the version of the list as it is now. */
  private String version() {
    return client
        .get(
            path + ClusterClient.query(List.of(selection.query(), Map.entry("limit", "1"))),
            Deadline.in(LIST_TIMEOUT))
        .map(list -> list.text("metadata", "resourceVersion"))
        .orElse("");
  }

  /** The objects of a list and its version. */
  public record Page(List<JsonValue> objects, String version) {}

  /** Returns all objects, read in pages. */
  public static Page list(ClusterClient client, String path, String selector, Deadline deadline) {
    List<JsonValue> objects = new ArrayList<>();
    String next = "";
    while (true) {
      String page =
          path
              + ClusterClient.query(
                  List.of(
                      Map.entry("labelSelector", selector),
                      Map.entry("limit", Integer.toString(PAGE)),
                      Map.entry("continue", next)));
      JsonValue list =
          client
              .get(page, deadline)
              .orElseThrow(() -> ClusterErrors.status("listing " + path, 404, new byte[0]));
      objects.addAll(list.at("items").items());
      next = list.text("metadata", "continue");
      if (next.isEmpty()) {
        return new Page(objects, list.text("metadata", "resourceVersion"));
      }
    }
  }

  /** Returns the version to continue from; empty if the objects must be listed again. */
  private String watch(String from) throws IOException {
    String request =
        path
            + ClusterClient.query(
                List.of(
                    Map.entry("watch", "true"),
                    Map.entry("allowWatchBookmarks", "true"),
                    selection.query(),
                    Map.entry("resourceVersion", from),
                    Map.entry("timeoutSeconds", Integer.toString(WATCH_SECONDS))));
    Position position = new Position(from);
    try (InputStream in = client.stream(request, Deadline.in(BEGIN_TIMEOUT))) {
      current = in;
      if (!closed) {
        read(in, position);
      }
    } catch (IOException dropped) {
      if (position.version.equals(from)) {
        throw dropped; // with a pause
      }
    }
    return position.version;
  }

  private static final class Position {
    private String version;

    Position(String version) {
      this.version = version;
    }
  }

  private void read(InputStream in, Position position) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    byte[] piece = new byte[16 * 1024];
    for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
      int start = 0;
      for (int at = 0; at < count; at++) {
        if (piece[at] == '\n') {
          line.write(piece, start, at - start);
          start = at + 1;
          dispatch(JsonValue.parse(line.toByteArray()), position);
          line.reset();
        }
      }
      line.write(piece, start, count - start);
      if (line.size() > MAX_LINE) {
        throw new IOException("an object longer than " + MAX_LINE + " bytes");
      }
      if (position.version.isEmpty()) {
        return;
      }
    }
  }

  private void dispatch(JsonValue event, Position position) {
    JsonValue object = event.at("object");
    switch (event.text("type")) {
      case "ADDED", "MODIFIED" -> listener.changed(object);
      case "DELETED" -> listener.deleted(object);
      case "ERROR" -> {
        position.version = "";
        if (object.number("code") != GONE) {
          LockSupport.parkNanos(PAUSE);
        }
        return;
      }
      default -> {} // BOOKMARK, and kinds to come, only have a version
    }
    object
        .optionalText("metadata", "resourceVersion")
        .ifPresent(version -> position.version = version);
  }

  @Override
  public void close() {
    closed = true;
    InputStream open = current;
    if (open != null) {
      try {
        open.close();
      } catch (IOException alreadyBroken) {
        // As intended.
      }
    }
  }
}
