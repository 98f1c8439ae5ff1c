package dev.isola.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** Packs a folder as a tar archive: files, folders, and links as links. */
final class TreePacker {
  private static final int BUFFER = 64 * 1024;

  private final Path root;
  private final OutputStream out;

  private TreePacker(Path root, OutputStream out) {
    this.root = root;
    this.out = out;
  }

  static void pack(Path folder, OutputStream out) throws IOException {
    TreePacker packer = new TreePacker(folder, out);
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes)
              throws IOException {
            if (!path.equals(folder)) {
              packer.header(path, attributes, TarBlock.FOLDER, 0, "");
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path path, BasicFileAttributes attributes)
              throws IOException {
            packer.entry(path, attributes);
            return FileVisitResult.CONTINUE;
          }
        });
    out.write(new byte[2 * TarBlock.SIZE]);
    out.flush();
  }

  private void entry(Path path, BasicFileAttributes attributes) throws IOException {
    if (attributes.isSymbolicLink()) {
      String target = Files.readSymbolicLink(path).toString();
      header(path, attributes, TarBlock.LINK, 0, target);
    } else if (attributes.isRegularFile()) {
      try (InputStream in = Files.newInputStream(path)) {
        header(path, attributes, TarBlock.FILE, attributes.size(), "");
        content(path, in, attributes.size());
      }
    } else {
      throw new IOException(path + " is neither a file nor a folder nor a link");
    }
  }

  /** Copies exactly as many bytes as the header says, whatever happens to the file meanwhile. */
  private void content(Path path, InputStream in, long size) throws IOException {
    byte[] buffer = new byte[BUFFER];
    long left = size;
    while (left > 0) {
      int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (read < 0) {
        throw new EOFException(path + " became shorter while it was read");
      }
      out.write(buffer, 0, read);
      left -= read;
    }
    pad(size);
  }

  private void header(
      Path path, BasicFileAttributes attributes, char type, long size, String target)
      throws IOException {
    String relative = root.relativize(path).toString();
    byte[] name = utf8(type == TarBlock.FOLDER ? relative + "/" : relative);
    byte[] to = utf8(target);
    ByteArrayOutputStream pax = new ByteArrayOutputStream();
    if (name.length > TarBlock.NAME) {
      record(pax, "path", name);
    }
    if (to.length > TarBlock.NAME) {
      record(pax, "linkpath", to);
    }
    if (size > TarBlock.LARGEST) {
      record(pax, "size", utf8(Long.toString(size)));
    }
    if (pax.size() > 0) {
      out.write(
          TarBlock.write(utf8("././@PaxHeader"), TarBlock.PAX, 0644, pax.size(), 0, new byte[0]));
      pax.writeTo(out);
      pad(pax.size());
    }
    long time = attributes.lastModifiedTime().toMillis() / 1000;
    out.write(TarBlock.write(name, type, mode(path, type), size, time, to));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** One pax record begins with its own length in decimal, which counts itself too. */
  private static void record(ByteArrayOutputStream pax, String key, byte[] value) {
    int rest = key.length() + value.length + 3; // a space, an equals sign, a line break
    int length = rest;
    while (length != rest + Integer.toString(length).length()) {
      length = rest + Integer.toString(length).length();
    }
    pax.writeBytes(utf8(length + " " + key + "="));
    pax.writeBytes(value);
    pax.write('\n');
  }

  private static int mode(Path path, char type) throws IOException {
    if (type == TarBlock.LINK) {
      return 0777;
    }
    return FileModes.of(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
  }

  private void pad(long size) throws IOException {
    out.write(new byte[(int) (-size & (TarBlock.SIZE - 1))]);
  }
}
