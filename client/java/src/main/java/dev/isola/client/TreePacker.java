package dev.isola.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Packs a folder as a tar archive, lazily while the stream is read. Links are packed as links. */
final class TreePacker extends FilterInputStream {
  private final Stream<Path> paths;
  private volatile @Nullable IOException failure;

  private TreePacker(Stream<Path> paths, TarStream archive) {
    super(archive);
    this.paths = paths;
  }

  /** Opens the archive of a folder. */
  @SuppressWarnings("StreamResourceLeak") // closed by close()
  static TreePacker pack(Path folder) throws IOException {
    Path root = folder.toRealPath();
    if (!Files.isDirectory(root)) {
      throw new NotDirectoryException(folder.toString());
    }
    Stream<Path> paths = Files.walk(root);
    return new TreePacker(
        paths,
        new TarStream(
            paths
                .filter(path -> !path.equals(root))
                .<TarStream.Item>map(path -> item(root, path))
                .iterator()));
  }

  /**
   * Returns why packing failed, if it did. The HTTP client may treat the failure as the end of the
   * body.
   */
  Optional<IOException> failure() {
    return Optional.ofNullable(failure);
  }

  private record Item(Path path, TarEntry entry) implements TarStream.Item {
    @Override
    public InputStream content() throws IOException {
      return Files.newInputStream(path);
    }
  }

  private static Item item(Path folder, Path path) {
    try {
      BasicFileAttributes attributes =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      boolean isLink = attributes.isSymbolicLink();
      if (!isLink && !attributes.isRegularFile() && !attributes.isDirectory()) {
        throw new IOException(path + " is not a file, folder or link");
      }
      TarEntry.Kind kind =
          isLink
              ? TarEntry.Kind.LINK
              : attributes.isDirectory() ? TarEntry.Kind.FOLDER : TarEntry.Kind.FILE;
      int mode =
          isLink
              ? 0777
              : FileModes.of(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
      return new Item(
          path,
          new TarEntry(
              bytes(folder.relativize(path)),
              kind,
              isLink ? bytes(Files.readSymbolicLink(path)) : "",
              mode,
              0,
              0,
              kind == TarEntry.Kind.FILE ? attributes.size() : 0,
              attributes.lastModifiedTime().toMillis() / 1000,
              0,
              Map.of()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Encodes a name as the archive expects it: one char per byte. */
  private static String bytes(Path path) {
    return new String(path.toString().getBytes(UTF_8), ISO_8859_1);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    try {
      return super.read(to, offset, length);
    } catch (UncheckedIOException e) {
      failure = e.getCause();
      throw e.getCause();
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    paths.close();
    super.close();
  }
}
