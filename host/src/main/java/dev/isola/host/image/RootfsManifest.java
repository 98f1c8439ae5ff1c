package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.host.image.NativeFiles.Stat;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;

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

  /** Identifies a file with several hard links. */
  private record Inode(long device, long number) {}

  private static final int BUFFER = 1 << 18;

  private final RootfsTree tree;
  private final OutputStream to;
  private final Sha256 digest = new Sha256();
  private final Map<Inode, String> hashes = new HashMap<>();
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory = arena.allocate(BUFFER);
  private final byte[] buffer = new byte[BUFFER];
  private long files;
  private long size;

  private RootfsManifest(RootfsTree tree, OutputStream to) {
    this.tree = tree;
    this.to = to;
  }

  /** Writes the manifest of {@code root} to {@code to}. */
  static Summary write(Path root, OutputStream to) throws IOException {
    try (RootfsTree tree = new RootfsTree(root);
        RootfsManifest contents = new RootfsManifest(tree, to)) {
      contents.path("", tree.stat("").orElseThrow());
      return new Summary(contents.digest.text(), contents.files, contents.size);
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
      line("f", stat, stat.size() + " " + content(path, stat), path);
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
    Inode inode = new Inode(stat.device(), stat.inode());
    String known = hashes.get(inode);
    if (known == null) {
      known = hash(path);
      hashes.put(inode, known);
    }
    return Objects.requireNonNull(known);
  }

  /** Hashes the content, followed by the preserved extended attributes. */
  private String hash(String path) throws IOException {
    int file = tree.open(path, NativeFiles.RDONLY | NativeFiles.NONBLOCK);
    try {
      Sha256 hash = new Sha256();
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
