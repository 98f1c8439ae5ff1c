package dev.isola.compat.e2b.envd;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.compat.e2b.model.E2bError;
import dev.isola.server.content.FileListing;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The service {@code filesystem.Filesystem}: operations on files other than reading and writing
 * content.
 */
record FilesystemRoutes(SandboxAccess access, Watchers watchers) {
  private static final ConnectService CALLS = new ConnectService("filesystem.Filesystem");
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);
  private static final int MAX_ENTRIES = 100_000;
  private static final int FOLDER_MODE = 0755;

  List<Route> routes() {
    return List.of(
        CALLS.unary("Stat", "Describes a file.", this::stat),
        CALLS.unary("MakeDir", "Creates a directory and its parents.", this::makeFolder),
        CALLS.unary("Move", "Moves or renames a file.", this::move),
        CALLS.unary("ListDir", "Lists a directory.", this::list),
        CALLS.unary("Remove", "Removes a file or a directory tree.", this::remove),
        CALLS.streaming("WatchDir", "Streams the changes of a directory.", this::watch),
        CALLS.unary(
            "CreateWatcher",
            "Creates a watcher that collects the changes of a directory.",
            this::createWatcher),
        CALLS.unary("GetWatcherEvents", "Returns the collected changes.", this::events),
        CALLS.unary("RemoveWatcher", "Removes a watcher.", this::removeWatcher));
  }

  private Map<String, ?> stat(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    return entry(exchange, user.files(), user.home().absolute(message.text("path").orElse("")));
  }

  private static Map<String, ?> entry(Exchange exchange, FileSystem files, String path) {
    return Map.of("entry", FileEntries.knownTo(exchange, files).at(path));
  }

  private Map<String, ?> makeFolder(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    FileSystem files = user.files();
    String path = user.home().absolute(message.requiredText("path"));
    Optional<FileInfo> before = statIfExists(files, path);
    if (before.isPresent()) {
      boolean folder = before.get().type() == FileType.FOLDER;
      throw Fault.of(
              folder ? ErrorCode.FILE_EXISTS : ErrorCode.NOT_A_FOLDER,
              folder
                  ? "directory already exists: " + path
                  : "path already exists but it is not a directory: " + path,
              "")
          .exception();
    }
    files.makeFolder(path, FOLDER_MODE);
    return entry(exchange, files, path);
  }

  private static Optional<FileInfo> statIfExists(FileSystem files, String path) {
    try {
      return Optional.of(files.stat(path));
    } catch (NotFound e) {
      if (e.code() == ErrorCode.FILE_NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private Map<String, ?> move(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    FileSystem files = user.files();
    String from = user.home().absolute(message.requiredText("source"));
    String to = user.home().absolute(message.requiredText("destination"));
    files.stat(from, NOFOLLOW_LINKS); // fails before the parent directory is created
    files.makeFolder(parent(to), FOLDER_MODE);
    files.move(from, to, true);
    return entry(exchange, files, to);
  }

  private static String parent(String path) {
    return path.substring(0, Math.max(1, path.lastIndexOf('/')));
  }

  private Map<String, ?> list(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    FileSystem files = user.files();
    String path = user.home().absolute(message.text("path").orElse(""));
    long depth = Math.max(1, message.wholeNumber("depth").orElse(1L));
    requireDirectory(files, path);
    try (Stream<FileInfo> statIfExists = files.list(path, (int) Math.min(depth, 1000))) {
      List<FileInfo> all = FileListing.of(statIfExists, MAX_ENTRIES, path);
      FileEntries entries = FileEntries.knownTo(exchange, files);
      return Map.of(
          "entries",
          all.stream()
              // A directory sorts directly before its content.
              .sorted(Comparator.comparing((FileInfo one) -> one.path().replace('/', '\0')))
              .map(entries::entry)
              .toList());
    }
  }

  private static void requireDirectory(FileSystem files, String path) {
    if (files.stat(path).type() != FileType.FOLDER) {
      throw Fault.of(ErrorCode.NOT_A_FOLDER, "path is not a directory: " + path, "").exception();
    }
  }

  private Map<String, ?> remove(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    try {
      user.files().remove(user.home().absolute(message.requiredText("path")), true);
    } catch (NotFound e) {
      if (e.code() != ErrorCode.FILE_NOT_FOUND) {
        throw e;
      }
    }
    return Map.of();
  }

  private WatchEvents changes(Exchange exchange, ConnectMessage message) {
    SandboxAccess.SandboxUser user = access.sandboxUser(exchange);
    FileSystem files = user.files();
    String path = user.home().absolute(message.text("path").orElse(""));
    requireDirectory(files, path);
    return new WatchEvents(
        access
            .requireCapability(user.sandbox(), Watching.class)
            .watch(path, message.flag("recursive", false)),
        path.equals("/") ? "" : path,
        message.flag("includeEntry", false)
            ? Optional.of(new FileEntries(files))
            : Optional.empty());
  }

  private ConnectService.Streaming.ResponseStream watch(Exchange exchange) throws IOException {
    WatchEvents changes = changes(exchange, ConnectStream.readSingle(exchange));
    return () -> {
      try (changes;
          ConnectStream frames = ConnectStream.begin(exchange)) {
        follow(exchange, changes, frames);
      }
    };
  }

  private static void follow(Exchange exchange, WatchEvents changes, ConnectStream frames)
      throws IOException {
    long keepaliveNanos = ProcessRoutes.keepaliveInterval(exchange).toNanos();
    long startNanos = System.nanoTime();
    long end = ProcessRoutes.timeout(exchange).map(Duration::toNanos).orElse(Long.MAX_VALUE);
    frames.add(Map.of("start", Map.of()));
    frames.flush();
    long lastSent = System.nanoTime();
    while (!exchange.isShuttingDown() && !changes.ended()) {
      Optional<Map<String, Object>> change;
      try {
        change = changes.next(frames.hasBuffered() ? Duration.ZERO : POLL_INTERVAL);
      } catch (SandboxException e) {
        if (e.code() != ErrorCode.CONFLICT) {
          throw e; // the sandbox is lost, or the client disconnected
        }
        frames.fail(E2bError.connect(e.fault(), ""));
        return;
      }
      if (change.isPresent()) {
        frames.add(Map.of("filesystem", change.get()));
      } else if (System.nanoTime() - startNanos > end) {
        frames.fail(
            E2bError.connect(Fault.of(ErrorCode.DEADLINE_EXCEEDED, "the watch timed out", ""), ""));
        return;
      } else if (System.nanoTime() - lastSent > keepaliveNanos) {
        frames.add(Map.of("keepalive", Map.of()));
      }
      if (change.isEmpty() && frames.hasBuffered()) {
        frames.flush();
        lastSent = System.nanoTime();
      }
    }
    if (exchange.isShuttingDown()) {
      throw new EOFException("the server is shutting down");
    }
    frames.finish();
  }

  private Map<String, ?> createWatcher(Exchange exchange, ConnectMessage message) {
    return Map.of("watcherId", watchers.add(exchange.sandbox(), changes(exchange, message)));
  }

  private Map<String, ?> events(Exchange exchange, ConnectMessage message) {
    access.sandbox(exchange); // fails if the sandbox has ended
    return Map.of("events", watchers.events(exchange.sandbox(), message.requiredText("watcherId")));
  }

  private Map<String, ?> removeWatcher(Exchange exchange, ConnectMessage message) {
    watchers.remove(exchange.sandbox(), message.requiredText("watcherId"));
    return Map.of();
  }
}
