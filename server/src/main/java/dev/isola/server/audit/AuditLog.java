package dev.isola.server.audit;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.server.RequestListener;
import dev.isola.server.auth.Actor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Writes one JSON line for each request that changes something, whose response contains a token, or
 * whose credential is invalid: actor (a key or a kind of token), action, sandbox and outcome.
 * Nothing that the client sent is logged. Of a flood of invalid credentials, most are only counted,
 * in the next line. A file that exceeds the size limit is rotated, and the oldest file is deleted.
 */
public final class AuditLog implements RequestListener, AutoCloseable {
  private static final int MAX_ROTATED = 4;

  /** Prefix of the actions that forward a request to a port of a sandbox. */
  private static final String PREVIEW = "preview";

  private final Path file;
  private final long maxBytes;
  private final boolean previews;
  private final InstantSource clock;
  private final Log log;
  private final BooleanSupplier makeRoom;
  private final ReentrantLock lock = new ReentrantLock();
  private FileChannel channel;
  private boolean failing;

  /** Requests without a line since the last one. */
  private final AtomicLong unlisted = new AtomicLong();

  private AuditLog(
      Path file,
      long maxBytes,
      boolean previews,
      InstantSource clock,
      Log log,
      BooleanSupplier makeRoom)
      throws IOException {
    this.file = file;
    this.maxBytes = maxBytes;
    this.previews = previews;
    this.clock = clock;
    this.log = log;
    this.makeRoom = makeRoom;
    channel = open(file);
  }

  /**
   * Opens the log for appending.
   *
   * @param maxBytes the size in bytes at which the file is rotated
   * @param previews whether requests to ports of sandboxes are logged as well
   * @throws IOException when the file cannot be written
   */
  public static AuditLog open(
      Path file, long maxBytes, boolean previews, InstantSource clock, Log log) throws IOException {
    return open(file, maxBytes, previews, clock, log, () -> false);
  }

  /**
   * Opens the log for appending.
   *
   * @param makeRoom called when the disk is full; returns whether some space is free now
   */
  public static AuditLog open(
      Path file,
      long maxBytes,
      boolean previews,
      InstantSource clock,
      Log log,
      BooleanSupplier makeRoom)
      throws IOException {
    return new AuditLog(file, maxBytes, previews, clock, log, makeRoom);
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file,
        Set.of(CREATE, WRITE, APPEND),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  @Override
  public void requestCompleted(CompletedRequest completed) {
    if (completed.unlisted() && completed.key().equals(Actor.INVALID)) {
      unlisted.incrementAndGet();
      return;
    }
    boolean preview =
        completed.action().startsWith(PREVIEW) && !completed.key().equals(Actor.INVALID);
    if (!completed.isAuditable() || (preview && !previews)) {
      return;
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", clock.instant().toString());
    line.put("key", completed.key());
    line.put("action", completed.action());
    completed.sandbox().ifPresent(id -> line.put("sandbox", id));
    if (completed.disclosesToken()) {
      line.put("token", true);
    }
    line.put("outcome", completed.code().orElse(completed.status() < 400 ? "ok" : "failed"));
    line.put("status", completed.status());
    line.put("requestId", completed.requestId());
    line.put("remote", completed.remote());
    long counted = unlisted.getAndSet(0);
    if (counted > 0) {
      line.put("invalidCredentials", counted);
    }
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    text.writeBytes(Json.bytes(line));
    text.write('\n');
    write(ByteBuffer.wrap(text.toByteArray()));
  }

  private void write(ByteBuffer line) {
    lock.lock();
    try {
      boolean failed = channel.size() >= maxBytes && !rotate();
      append(line);
      failing = failed;
    } catch (IOException e) {
      warn(e);
    } finally {
      lock.unlock();
    }
  }

  private void append(ByteBuffer line) throws IOException {
    while (line.hasRemaining()) {
      try {
        channel.write(line);
      } catch (IOException full) {
        if (!makeRoom.getAsBoolean()) {
          throw full;
        }
      }
    }
  }

  /** Logs a failure once. A full disk must not block requests that free space. */
  private void warn(IOException failure) {
    if (!failing) {
      log.warning("the audit log cannot be written: " + failure.getMessage());
    }
    failing = true;
  }

  /**
   * Begins a new file. If that cannot be created, the current one grows further.
   *
   * @return whether there is a new file
   */
  private boolean rotate() throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    FileChannel next;
    try {
      next = open(draft);
    } catch (IOException full) {
      warn(full);
      return false;
    }
    for (int i = MAX_ROTATED - 1; i >= 0; i--) {
      try {
        Files.move(rotatedFile(i), rotatedFile(i + 1), StandardCopyOption.REPLACE_EXISTING);
      } catch (NoSuchFileException e) {
        // Fewer files have been rotated so far.
      }
    }
    Files.move(draft, file);
    channel.close();
    channel = next;
    return true;
  }

  private Path rotatedFile(int number) {
    return rotatedFile(file, number);
  }

  private static Path rotatedFile(Path file, int number) {
    return number == 0 ? file : file.resolveSibling(file.getFileName() + "." + number);
  }

  /** Returns the files of a log, newest first. Some may not exist. */
  static List<Path> files(Path file) {
    return IntStream.rangeClosed(0, MAX_ROTATED)
        .mapToObj(number -> rotatedFile(file, number))
        .toList();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      channel.close();
    } catch (IOException e) {
      log.warning("the audit log cannot be closed: " + e.getMessage());
    } finally {
      lock.unlock();
    }
  }
}
