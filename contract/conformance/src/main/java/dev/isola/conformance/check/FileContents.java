package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Creates and inspects file content for checks. */
final class FileContents {
  private static final int MAX_BYTES = 64 << 20;

  private FileContents() {}

  static InputStream of(String text) {
    return of(text.getBytes(UTF_8));
  }

  static InputStream of(byte[] bytes) {
    return new ByteArrayInputStream(bytes);
  }

  /** Returns pseudo-random bytes, the same for the same seed. */
  static byte[] random(int size, long seed) {
    byte[] bytes = new byte[size];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  static byte[] bytes(FileSystem files, String path) {
    return files.readBytes(path, MAX_BYTES);
  }

  static String text(FileSystem files, String path) {
    return files.readText(path, UTF_8, MAX_BYTES);
  }

  static String range(FileSystem files, String path, long offset, long length) {
    return new String(all(files.read(path, new ReadRange(offset, length))), UTF_8);
  }

  /** Reads the stream to its end and closes it. */
  static byte[] all(InputStream in) {
    try (in) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<FileInfo> all(Stream<FileInfo> entries) {
    try (entries) {
      return entries.toList();
    }
  }

  /** Returns the names of the direct entries of a folder, sorted. */
  static List<String> names(FileSystem files, String folder) {
    return all(files.list(folder, 1)).stream().map(FileInfo::name).sorted().toList();
  }

  /** Returns the paths of {@code entries} relative to {@code folder}, sorted. */
  static List<String> below(String folder, Stream<FileInfo> entries) {
    return all(entries).stream().map(entry -> below(folder, entry.path())).sorted().toList();
  }

  /**
   * Returns {@code path} relative to {@code folder}, whether the provider returned it absolute or
   * not.
   */
  static String below(String folder, String path) {
    int at = ("/" + path).indexOf("/" + folder + "/");
    return at < 0 ? path : path.substring(at + folder.length() + 1);
  }

  /** Describes every file beneath a folder on one line, including times and attributes. */
  static Map<String, String> described(FileSystem files, String folder) {
    Map<String, String> lines = new TreeMap<>();
    for (FileInfo entry : all(files.list(folder, 0))) {
      boolean link = entry.type() == FileType.LINK;
      int content = entry.type() == FileType.FILE ? Arrays.hashCode(bytes(files, entry.path())) : 0;
      Map<String, String> attributes = new TreeMap<>();
      if (!link) {
        files
            .attributes(entry.path())
            .forEach((name, value) -> attributes.put(name, Arrays.toString(value.toArray())));
      }
      lines.put(
          below(folder, entry.path()),
          String.join(
              " ",
              entry.type().toString(),
              link ? "" : Integer.toOctalString(entry.mode()),
              Long.toString(entry.uid()),
              Long.toString(entry.gid()),
              entry.linkTarget().orElse(""),
              link ? "" : entry.modifiedAt().toString(),
              attributes.toString(),
              Integer.toString(content)));
    }
    return lines;
  }

  /** A stream that fails after some bytes. */
  static final class BreakingInputStream extends InputStream {
    private final byte[] first;
    private int at;

    BreakingInputStream(byte[] first) {
      this.first = first;
    }

    @Override
    public int read() throws IOException {
      if (at == first.length) {
        throw new IOException("the source failed, as intended");
      }
      return first[at++] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = Math.min(length, first.length - at);
      if (count == 0 && length > 0) {
        return read();
      }
      System.arraycopy(first, at, bytes, offset, count);
      at += count;
      return count;
    }
  }
}
