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
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongConsumer;

/** The files of a sandbox. Content is never held whole, in neither direction. */
public final class Files {
  private static final String BYTES = "application/octet-stream";
  private static final String TAR = "application/x-tar";

  /** Removing or moving a large tree may take a while. */
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Transport transport;
  private final ApiPath address;

  Files(Transport transport, ApiPath sandbox) {
    this.transport = transport;
    this.address = sandbox.resolve("files");
  }

  /** Opens a file; the caller closes the stream. */
  public InputStream read(String path) {
    return transport.open(address.resolve("content").query("path", path));
  }

  public String readText(String path) throws IOException {
    try (InputStream in = read(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Writes a file; it appears whole or not at all, and parents are made. */
  public FileInfo write(String path, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return write(
        path, new ByteArrayInputStream(bytes), bytes.length, OptionalInt.empty(), Files::ignore);
  }

  /** Writes a file from a stream of unknown length. The stream is not closed. */
  public FileInfo write(String path, InputStream content) {
    return write(path, content, -1, OptionalInt.empty(), Files::ignore);
  }

  /**
   * Writes a file.
   *
   * @param length of the content; negative when not known
   * @param mode permission bits
   * @param progress called with the bytes sent so far
   */
  public FileInfo write(
      String path, InputStream content, long length, OptionalInt mode, LongConsumer progress) {
    ApiPath to = address.resolve("content").query("path", path);
    if (mode.isPresent()) {
      to = to.query("mode", octal(mode.getAsInt()));
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

  private static String octal(int mode) {
    return String.format(Locale.ROOT, "%04o", mode & 07777);
  }

  /** Describes a file; of a link the link itself. */
  public FileInfo stat(String path) {
    return FileInfo.read(transport.get(address.resolve("stat").query("path", path)));
  }

  /** Describes a file, if there is one. */
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
   * @param depth how many levels; 0 for all
   */
  public List<FileInfo> list(String path, int depth) {
    return entries(transport.get(address.query("path", path).query("depth", depth)));
  }

  /** Finds files beneath a folder by a pattern with *, ?, [a-z] and **; at most 10,000. */
  public List<FileInfo> glob(String path, String pattern) {
    return entries(
        transport.get(address.resolve("glob").query("path", path).query("pattern", pattern)));
  }

  private static List<FileInfo> entries(JsonFields answer) {
    return answer.list("entries").stream().map(FileInfo::read).toList();
  }

  public void move(String from, String to, boolean replace) {
    transport.post(
        address.resolve("move"), Map.of("from", from, "to", to, "replace", replace), LONG);
  }

  /** Removes a file, a link or a folder; a folder that is not empty only when recursive. */
  public void remove(String path, boolean recursive) {
    transport.delete(address.query("path", path).query("recursive", recursive), LONG);
  }

  public void changeMode(String path, int mode) {
    transport.post(address.resolve("mode"), Map.of("path", path, "mode", octal(mode)));
  }

  /** Makes a folder and its parents; one that is there stays. */
  public void makeFolder(String path) {
    transport.post(address.resolve("folder"), Map.of("path", path));
  }

  /** Opens a tar archive of a folder; the caller closes the stream. */
  public InputStream exportTree(String path, List<String> excludes) {
    return transport.open(address.resolve("tree").query("path", path).query("exclude", excludes));
  }

  /** Unpacks a tar archive into a folder, which is made when missing. */
  public void importTree(String path, InputStream archive) {
    importTree(path, archive, Files::ignore);
  }

  private void importTree(String path, InputStream archive, LongConsumer progress) {
    send(address.resolve("tree").query("path", path), TAR, archive, -1, progress);
  }

  /**
   * Copies what is in the local folder {@code from} into the folder {@code to} of the sandbox.
   *
   * @param progress called with the bytes of the archive sent so far
   */
  public void upload(Path from, String to, LongConsumer progress) throws IOException {
    try (TreePacker archive = TreePacker.pack(from)) {
      try {
        importTree(to, archive, progress);
      } catch (IsolaException e) {
        Optional<IOException> local = archive.failure();
        if (local.isPresent()) {
          throw local.get(); // an archive that was cut off here is refused there
        }
        throw e;
      }
    }
  }

  /**
   * Copies what is in the folder {@code from} of the sandbox into the local folder {@code to},
   * which is made when missing. The archive is not trusted: nothing is written outside of {@code
   * to}, and links that lead out of it are left out.
   *
   * @param progress called with the bytes of the archive received so far
   * @return the links that were left out
   */
  public List<String> download(String from, Path to, LongConsumer progress) throws IOException {
    try (InputStream archive = exportTree(from, List.of())) {
      return TreeUnpacker.unpack(new CountingInputStream(archive, progress), to);
    }
  }

  private static void ignore(long bytes) {}
}
