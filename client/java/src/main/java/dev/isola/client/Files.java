package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.NotFound;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongConsumer;

/**
 * Files of a sandbox or volume. Content is streamed in both directions and never held in memory as
 * a whole.
 */
public final class Files {
  private static final String BYTES = "application/octet-stream";
  private static final String TAR = "application/x-tar";

  /** Timeout for removing or moving a large tree. */
  private static final Duration SLOW_TIMEOUT = Duration.ofMinutes(5);

  private final Transport transport;
  private final ApiPath endpoint;

  Files(Transport transport, ApiPath sandbox) {
    this.transport = transport;
    this.endpoint = sandbox.resolve("files");
  }

  /** Opens a file for reading. The caller closes the stream. */
  public InputStream read(String path) {
    return transport.open(endpoint.resolve("content").query("path", path));
  }

  public String readText(String path) throws IOException {
    try (InputStream in = read(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Writes a file atomically and creates its parent folders. */
  public FileInfo write(String path, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return write(
        path, new ByteArrayInputStream(bytes), bytes.length, OptionalInt.empty(), Files::ignore);
  }

  /** Writes a file from a stream of unknown length. Does not close the stream. */
  public FileInfo write(String path, InputStream content) {
    return write(path, content, -1, OptionalInt.empty(), Files::ignore);
  }

  /**
   * Writes a file atomically and creates its parent folders.
   *
   * @param length of the content; negative if unknown
   * @param mode permission bits
   * @param progress receives the number of bytes sent so far
   */
  public FileInfo write(
      String path, InputStream content, long length, OptionalInt mode, LongConsumer progress) {
    ApiPath to = endpoint.resolve("content").query("path", path);
    if (mode.isPresent()) {
      to = to.query("mode", FileModes.octal(mode.getAsInt()));
    }
    return FileInfo.read(send(to, BYTES, content, length, progress));
  }

  private JsonFields send(
      ApiPath to, String type, InputStream content, long length, LongConsumer progress) {
    CountingInputStream counted = new CountingInputStream(content, progress);
    BodyPublisher stream = BodyPublishers.ofInputStream(() -> counted);
    BodyPublisher body =
        length > 0
            ? BodyPublishers.fromPublisher(stream, length)
            : length == 0 ? BodyPublishers.noBody() : stream;
    return transport.upload("PUT", to, type, body, counted::count);
  }

  /** Describes a file. Does not follow links. */
  public FileInfo stat(String path) {
    return FileInfo.read(transport.get(endpoint.resolve("stat").query("path", path)));
  }

  /** Describes a file, or returns empty if it does not exist. */
  public Optional<FileInfo> find(String path) {
    try {
      return Optional.of(stat(path));
    } catch (NotFound e) {
      if (e.code().equals("FILE_NOT_FOUND")) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Lists a folder; at most 10,000 entries. */
  public List<FileInfo> list(String path) {
    return list(path, 1);
  }

  /**
   * Lists a folder recursively; at most 10,000 entries.
   *
   * @param depth number of levels; 0 for all
   */
  public List<FileInfo> list(String path, int depth) {
    return entries(transport.get(endpoint.query("path", path).query("depth", depth)));
  }

  /** Finds files below a folder by a glob pattern with *, ?, [a-z] and **; at most 10,000. */
  public List<FileInfo> glob(String path, String pattern) {
    return entries(
        transport.get(endpoint.resolve("glob").query("path", path).query("pattern", pattern)));
  }

  private static List<FileInfo> entries(JsonFields response) {
    return response.list("entries").stream().map(FileInfo::read).toList();
  }

  public void move(String from, String to, boolean replace) {
    transport.post(
        endpoint.resolve("move"), Map.of("from", from, "to", to, "replace", replace), SLOW_TIMEOUT);
  }

  /**
   * Removes a file, a link or a folder. A folder with content is removed only if {@code recursive}
   * is true.
   */
  public void remove(String path, boolean recursive) {
    transport.delete(endpoint.query("path", path).query("recursive", recursive), SLOW_TIMEOUT);
  }

  public void changeMode(String path, int mode) {
    transport.post(endpoint.resolve("mode"), Map.of("path", path, "mode", FileModes.octal(mode)));
  }

  /** Creates a folder and its parents. Does nothing if it exists. */
  public void makeFolder(String path) {
    transport.post(endpoint.resolve("folder"), Map.of("path", path));
  }

  /**
   * Executes many small operations in order, in one request. Stops at the first failure unless the
   * batch keeps going; the result says what was done. Files of volumes have no batches.
   */
  public FileBatchResult batch(FileBatch batch) {
    return FileBatchResult.read(
        transport.post(endpoint.resolve("batch"), batch.document(), SLOW_TIMEOUT));
  }

  /** Opens a folder as a tar archive. The caller closes the stream. */
  public InputStream exportTree(String path, List<String> excludes) {
    return transport.open(endpoint.resolve("tree").query("path", path).query("exclude", excludes));
  }

  /** Unpacks a tar archive into a folder, creating it if it does not exist. */
  public void importTree(String path, InputStream archive) {
    importTree(path, archive, Files::ignore);
  }

  private void importTree(String path, InputStream archive, LongConsumer progress) {
    send(endpoint.resolve("tree").query("path", path), TAR, archive, -1, progress);
  }

  /**
   * Uploads the content of the local folder {@code from} into the remote folder {@code to}.
   *
   * @param progress receives the number of archive bytes sent so far
   */
  public void upload(Path from, String to, LongConsumer progress) throws IOException {
    try (TreePacker archive = TreePacker.pack(from)) {
      try {
        importTree(to, archive, progress);
      } catch (IsolaException e) {
        Optional<IOException> local = archive.failure();
        if (local.isPresent()) {
          throw local
              .get(); // the server rejects the truncated archive; report the local cause instead
        }
        throw e;
      }
    }
  }

  /**
   * Downloads the content of the remote folder {@code from} into the local folder {@code to},
   * creating it if it does not exist. The archive is not trusted: nothing is written outside of
   * {@code to}, and links that point outside are skipped.
   *
   * @param progress receives the number of archive bytes received so far
   * @return the skipped links
   */
  public List<String> download(String from, Path to, LongConsumer progress) throws IOException {
    try (InputStream archive = exportTree(from, List.of())) {
      return TreeUnpacker.unpack(new CountingInputStream(archive, progress), to);
    }
  }

  private static void ignore(long bytes) {}
}
