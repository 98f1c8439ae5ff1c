package dev.isola.provider.e2b.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.codec.json.JsonValue;
import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.rpc.MessageStream;
import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.FileChange.Kind;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.Watch;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A file watch of envd. */
public final class E2bWatch implements Watch {
  private static final int MOST = 10_000;

  private final SandboxContext context;
  private final String folder;
  private final MessageStream frames;
  private final LinkedBlockingQueue<Optional<FileChange>> queue = new LinkedBlockingQueue<>();
  private volatile boolean closed;
  private volatile boolean over;

  private E2bWatch(SandboxContext context, String folder, MessageStream frames) {
    this.context = context;
    this.folder = folder;
    this.frames = frames;
  }

  /** Starts a watch and returns once it is active. */
  public static Watch of(SandboxContext context, String path, boolean recursive) {
    FileErrors errors = new FileErrors(context);
    String folder = new PathResolver(context).absolute(path).replaceFirst("(?<=.)/+$", "");
    if (new E2bFiles(context).stat(folder, NOFOLLOW_LINKS).type() == FileType.FILE) {
      throw errors.of(ErrorCode.NOT_A_FOLDER, "watching", path, "not a folder");
    }
    Map<String, Object> message =
        Map.of("path", folder, "recursive", recursive, "includeEntry", true);
    Optional<MessageStream> endpoint = Optional.empty();
    try {
      endpoint =
          Optional.of(
              context.envd().stream(
                  "filesystem.Filesystem/WatchDir", message, context.user(), Optional.empty()));
      JsonValue first =
          endpoint.get().next().orElseThrow(() -> new IOException("the stream ended immediately"));
      if (!first.has("start")) {
        throw new IOException("the stream does not begin with a start event");
      }
    } catch (RpcError e) {
      endpoint.ifPresent(MessageStream::close);
      ErrorCode code =
          switch (e.code()) {
            case "not_found" -> ErrorCode.FILE_NOT_FOUND;
            case "unimplemented" -> ErrorCode.NOT_IMPLEMENTED;
            default -> ErrorCode.INVALID_REQUEST;
          };
      throw errors.of(code, "watching", path, e.detail());
    } catch (IOException e) {
      endpoint.ifPresent(MessageStream::close);
      throw context
          .fault(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "watching " + path + " failed: " + e.getMessage(),
              "start the watch again")
          .exception(e);
    }
    E2bWatch watch = new E2bWatch(context, folder, endpoint.get());
    Thread.ofVirtual().name("e2b-watch").start(watch::follow);
    return watch;
  }

  private void follow() {
    boolean moved = false;
    try {
      for (var message = frames.next(); message.isPresent(); message = frames.next()) {
        JsonValue event = message.get().at("filesystem");
        if (event.isObject()) {
          FileChange change = change(event, moved);
          moved = change.kind() == Kind.MOVED_FROM;
          if (change.path().equals(folder) && change.kind() == Kind.REMOVED) {
            break;
          }
          enqueue(change);
        }
      }
    } catch (RpcError | IOException e) {
      if (!closed && !gone()) {
        queue.add(Optional.of(new FileChange(Kind.OVERFLOW, folder, true)));
      }
    } finally {
      if (!closed && gone()) {
        queue.add(Optional.of(new FileChange(Kind.ROOT_GONE, folder, true)));
      }
      queue.add(Optional.empty());
      frames.close();
    }
  }

  private boolean gone() {
    try {
      return !new E2bFiles(context).exists(folder);
    } catch (SandboxException e) {
      return true;
    }
  }

  private void enqueue(FileChange change) {
    if (queue.size() < MOST) {
      queue.add(Optional.of(change));
    } else if (queue.size() == MOST) {
      queue.add(Optional.of(new FileChange(Kind.OVERFLOW, folder, true)));
    }
  }

  /** envd distinguishes the two ends of a move only by their order. */
  private FileChange change(JsonValue event, boolean moved) {
    String name = event.text("name");
    String path =
        name.isEmpty() || name.equals(".") || name.equals(folder)
            ? folder
            : PathResolver.folder(folder) + name;
    Kind kind =
        switch (event.text("type")) {
          case "EVENT_TYPE_CREATE" -> moved ? Kind.MOVED_TO : Kind.CREATED;
          case "EVENT_TYPE_REMOVE" -> Kind.REMOVED;
          case "EVENT_TYPE_RENAME" -> Kind.MOVED_FROM;
          case "EVENT_TYPE_CHMOD" -> Kind.ATTRIBUTES;
          default -> Kind.MODIFIED;
        };
    boolean isFolder = event.text("entry", "type").equals("FILE_TYPE_DIRECTORY");
    return new FileChange(kind, path, isFolder);
  }

  @Override
  public Optional<FileChange> next(Duration timeout) {
    if (over || closed) {
      return Optional.empty();
    }
    try {
      Optional<FileChange> change = queue.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
      if (change == null) {
        return Optional.empty();
      }
      over = change.isEmpty() || change.get().kind() == Kind.ROOT_GONE;
      return change;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw context
          .fault(ErrorCode.CANCELLED, "waiting for a change was interrupted", "wait again")
          .exception();
    }
  }

  @Override
  public boolean ended() {
    return over || closed;
  }

  @Override
  public void close() {
    closed = true;
    frames.close();
  }
}
