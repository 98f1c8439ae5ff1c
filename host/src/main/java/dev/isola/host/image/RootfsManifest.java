package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.host.image.NativeFiles.Stat;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The manifest of a file tree, one line per path in byte order: type, mode, owner, size, and the
 * hash of the content or the target of a symbolic link. Its hash is the image's digest, so that two
 * images with the same digest are indistinguishable to commands, except for modification times.
 *
 * <pre>
 * f 0755 0:0 125640 sha256:4d5… usr/bin/true
 * d 0755 0:0 - - usr/lib
 * l 0777 0:0 - usr/bin bin
 * </pre>
 */
final class RootfsManifest implements AutoCloseable {
  static final String FILE = "contents";

  /** Totals of a manifest. */
  record Summary(String digest, long files, long size) {}

  /** Returns the hash of a file that another manifest has, so that the file is not read. */
  private interface KnownHashes {
    Optional<String> find(String path, Stat stat) throws IOException;
  }

  /** Identifies a file with several hard links. */
  private record Inode(long device, long number) {}

  private static final int BUFFER = 1 << 18;
  private static final int FIELDS = 6;
  private static final String REGULAR = "f";

  private final RootfsTree tree;
  private final OutputStream to;
  private final KnownHashes known;
  private final ContentDigest digest = new ContentDigest();
  private final Map<Inode, String> hashes = new HashMap<>();
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory = arena.allocate(BUFFER);
  private final byte[] buffer = new byte[BUFFER];
  private long files;
  private long size;

  private RootfsManifest(RootfsTree tree, OutputStream to, KnownHashes known) {
    this.tree = tree;
    this.to = to;
    this.known = known;
  }

  /** Writes the manifest of {@code root} to {@code to}. */
  static Summary write(Path root, OutputStream to) throws IOException {
    return write(root, to, (path, stat) -> Optional.empty());
  }

  /**
   * Writes the manifest of {@code root} to {@code to}, without reading the files that it shares
   * with another image.
   */
  static Summary write(Path root, OutputStream to, Image base) throws IOException {
    try (RootfsTree tree = new RootfsTree(base.rootfs())) {
      Map<String, String> hashes = hashes(base.rootfs().resolveSibling(FILE));
      return write(
          root,
          to,
          (path, stat) -> {
            Optional<Stat> other = tree.stat(path).filter(stat::isSameFile);
            return other.flatMap(same -> Optional.ofNullable(hashes.get(escaped(path))));
          });
    }
  }

  private static Summary write(Path root, OutputStream to, KnownHashes known) throws IOException {
    try (RootfsTree tree = new RootfsTree(root);
        RootfsManifest contents = new RootfsManifest(tree, to, known)) {
      contents.path("", tree.stat("").orElseThrow());
      return new Summary(contents.digest.text(), contents.files, contents.size);
    }
  }

  /** Returns the hashes of a manifest by path; none if there is no manifest. */
  private static Map<String, String> hashes(Path manifest) throws IOException {
    Map<String, String> hashes = new HashMap<>();
    try (BufferedReader reader = Files.newBufferedReader(manifest, StandardCharsets.ISO_8859_1)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String[] fields = line.split(" ", -1);
        if (fields.length == FIELDS && fields[0].equals(REGULAR)) {
          hashes.put(fields[FIELDS - 1], fields[FIELDS - 2]);
        }
      }
      return hashes;
    } catch (NoSuchFileException none) {
      return Map.of();
    }
  }

  private void path(String path, Stat stat) throws IOException {
    files++;
    if (stat.isFolder()) {
      line("d", stat, "- -", path);
      for (String name : tree.list(path)) {
        String child = ArchivePaths.resolve(path, name);
        path(
            child, tree.stat(child).orElseThrow(() -> new IOException(child + " has disappeared")));
      }
    } else if (stat.isFile()) {
      size += stat.size();
      line(REGULAR, stat, stat.size() + " " + content(path, stat), path);
    } else if (stat.isLink()) {
      line("l", stat, "- " + escaped(tree.readLink(path)), path);
    } else {
      line("?", stat, "- -", path);
    }
  }

  private void line(String kind, Stat stat, String what, String path) throws IOException {
    String line =
        String.join(
            " ",
            kind,
            octal(stat.permissions()),
            Integer.toUnsignedString(stat.uid()) + ":" + Integer.toUnsignedString(stat.gid()),
            what,
            path.isEmpty() ? "/" : escaped(path));
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.ISO_8859_1);
    digest.update(bytes, 0, bytes.length);
    to.write(bytes);
  }

  private static String octal(int mode) {
    String digits = Integer.toOctalString(mode);
    return "0".repeat(Math.max(0, 4 - digits.length())) + digits;
  }

  private String content(String path, Stat stat) throws IOException {
    if (stat.links() == 1) {
      return hash(path);
    }
    Optional<String> shared = known.find(path, stat);
    if (shared.isPresent()) {
      return shared.get();
    }
    Inode inode = new Inode(stat.device(), stat.inode());
    String hash = hashes.get(inode);
    if (hash == null) {
      hash = hash(path);
      hashes.put(inode, hash);
    }
    return Objects.requireNonNull(hash);
  }

  /** Hashes the content, followed by the preserved extended attributes. */
  private String hash(String path) throws IOException {
    int file = tree.open(path, NativeFiles.RDONLY | NativeFiles.NONBLOCK);
    try {
      ContentDigest hash = new ContentDigest();
      int n;
      while ((n = NativeFiles.read(file, memory)) > 0) {
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, buffer, 0, n);
        hash.update(buffer, 0, n);
      }
      StringBuilder text = new StringBuilder(hash.text());
      for (String name : NativeAttributes.names(file).stream().sorted().toList()) {
        if (Unpacker.isPreserved(name)) {
          byte[] value = NativeAttributes.get(file, name).orElse(new byte[0]);
          text.append('+').append(escaped(name)).append('=');
          text.append(HexFormat.of().formatHex(value));
        }
      }
      return text.toString();
    } finally {
      NativeFiles.close(file);
    }
  }

  /** Escapes bytes that would break a line or its fields as {@code %XX}. */
  private static String escaped(String bytes) {
    StringBuilder text = new StringBuilder(bytes.length());
    for (int i = 0; i < bytes.length(); i++) {
      char c = bytes.charAt(i);
      if (c <= ' ' || c == '%' || c == 0x7f) {
        text.append('%').append(HexFormat.of().withUpperCase().toHexDigits((byte) c));
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }

  static String unescaped(String text) {
    StringBuilder bytes = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '%' && i + 2 < text.length()) {
        bytes.append((char) HexFormat.fromHexDigits(text, i + 1, i + 3));
        i += 2;
      } else {
        bytes.append(text.charAt(i));
      }
    }
    return bytes.toString();
  }

  @Override
  public void close() {
    arena.close();
  }
}
