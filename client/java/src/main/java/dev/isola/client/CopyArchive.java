package dev.isola.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.client.error.Problem;
import dev.isola.codec.digest.Sha256;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tar archive of the files that a COPY step of a recipe needs. Archives are reproducible: entries
 * are sorted and carry neither times nor owners. Symbolic links are archived as links and never
 * followed.
 */
final class CopyArchive implements RecipeArchives.Archive, AutoCloseable {
  private final Path file;
  private final String sha256;
  private final long size;

  private CopyArchive(Path file, String sha256, long size) {
    this.file = file;
    this.sha256 = sha256;
    this.size = size;
  }

  /**
   * Archives files of a folder.
   *
   * @param from path relative to the folder, a glob pattern, or {@code .} for everything
   * @throws dev.isola.client.error.NotFound if nothing matches
   * @throws dev.isola.client.error.InvalidRequest if the path is outside of the folder
   */
  static CopyArchive pack(Path folder, String from) throws IOException {
    Path root = folder.toRealPath();
    if (!Files.isDirectory(root)) {
      throw new NotDirectoryException(folder.toString());
    }
    Map<String, Item> items = items(root, Selection.of(from));
    if (items.isEmpty()) {
      throw Problem.clientSide(
              "FILE_NOT_FOUND",
              "nothing to copy matches " + from + " in " + folder,
              "check the path and .dockerignore")
          .exception();
    }
    List<TarStream.Item> entries = List.copyOf(items.values());
    Path file = Files.createTempFile("isola-copy", ".tar");
    try {
      MessageDigest digest = Sha256.newDigest();
      try (InputStream archive = new TarStream(entries.iterator());
          OutputStream out = new DigestOutputStream(Files.newOutputStream(file), digest)) {
        archive.transferTo(out);
      }
      return new CopyArchive(file, HexFormat.of().formatHex(digest.digest()), Files.size(file));
    } catch (IOException | RuntimeException e) {
      Files.delete(file);
      throw e;
    }
  }

  @Override
  public String sha256() {
    return sha256;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public InputStream open() throws IOException {
    return Files.newInputStream(file);
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
  }

  /**
   * The paths to copy.
   *
   * @param path copied recursively; empty for everything
   */
  private record Selection(String path, boolean pattern, PathPattern compiled) {
    static Selection of(String from) {
      String path = from.replaceAll("^(\\./)+|/+$", "").replaceAll("^\\.$", "");
      if (path.startsWith("/") || Path.of(path).normalize().startsWith("..")) {
        throw Problem.clientSide(
                "INVALID_REQUEST",
                from + " is outside of the folder to copy from",
                "use a path inside of the folder")
            .exception();
      }
      return new Selection(path, PathPattern.isPattern(path), PathPattern.of(path));
    }

    boolean contains(String candidate) {
      return path.isEmpty()
          || (pattern ? compiled.matches(candidate) : (candidate + "/").startsWith(path + "/"));
    }

    /** Returns whether the folder may contain files to copy. */
    boolean reaches(String folder) {
      return pattern || contains(folder) || (path + "/").startsWith(folder + "/");
    }
  }

  private static Map<String, Item> items(Path root, Selection selection) throws IOException {
    IgnoreRules ignored = IgnoreRules.in(root);
    Map<String, Item> items = new TreeMap<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
              throws IOException {
            String path = root.relativize(folder).toString();
            if (path.isEmpty()) {
              return FileVisitResult.CONTINUE;
            }
            if (!selection.reaches(path) || (ignored.ignores(path) && ignored.prunes())) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            return add(folder, path, attributes);
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            return add(file, root.relativize(file).toString(), attributes);
          }

          private FileVisitResult add(Path file, String path, BasicFileAttributes attributes)
              throws IOException {
            if (selection.contains(path) && !ignored.ignores(path)) {
              Item item = Item.of(file, path, attributes);
              items.put(item.entry().path(), item);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return items;
  }

  private record Item(Path path, TarEntry entry) implements TarStream.Item {
    static Item of(Path file, String path, BasicFileAttributes attributes) throws IOException {
      if (attributes.isOther()) {
        throw new IOException(file + " is not a file, folder or link");
      }
      boolean link = attributes.isSymbolicLink();
      TarEntry.Kind kind =
          link
              ? TarEntry.Kind.LINK
              : attributes.isDirectory() ? TarEntry.Kind.FOLDER : TarEntry.Kind.FILE;
      int mode =
          link
              ? 0777
              : FileModes.of(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
      return new Item(
          file,
          new TarEntry(
              bytes(path),
              kind,
              link ? bytes(Files.readSymbolicLink(file).toString()) : "",
              mode,
              0,
              0,
              kind == TarEntry.Kind.FILE ? attributes.size() : 0,
              0,
              0,
              Map.of()));
    }

    /** Encodes a name as the archive expects it: one char per byte. */
    private static String bytes(String text) {
      return new String(text.getBytes(UTF_8), ISO_8859_1);
    }

    @Override
    public InputStream content() throws IOException {
      return Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS);
    }
  }
}
