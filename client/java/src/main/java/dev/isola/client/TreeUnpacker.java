package dev.isola.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Unpacks a tar archive that may be hostile. Nothing is written outside of the folder: names do not
 * climb, nothing is written through a link, and a link may only lead to somewhere beneath.
 */
final class TreeUnpacker {
  private static final int BUFFER = 64 * 1024;
  private static final int MOST_ENTRIES = 1_000_000;
  private static final int LARGEST_PAX = 1 << 20;
  private static final int DEEPEST = 512;

  private final InputStream in;
  private final Path root;
  private final Map<Path, Integer> folderModes = new LinkedHashMap<>();
  private final List<String> leftOut = new ArrayList<>();

  private TreeUnpacker(InputStream in, Path root) {
    this.in = in;
    this.root = root;
  }

  /** Returns the links that lead out, which were not made. */
  static List<String> unpack(InputStream archive, Path folder) throws IOException {
    Files.createDirectories(folder);
    TreeUnpacker unpacker = new TreeUnpacker(archive, folder.toRealPath());
    unpacker.entries();
    unpacker.setFolderModes();
    return unpacker.leftOut;
  }

  private void entries() throws IOException {
    Map<String, String> pax = new HashMap<>();
    for (int count = 0; ; count++) {
      if (count > MOST_ENTRIES) {
        throw new IOException("the archive has more than " + MOST_ENTRIES + " entries");
      }
      TarBlock block = TarBlock.read(exactly(TarBlock.SIZE));
      if (block.isEnd()) {
        in.skip(Long.MAX_VALUE);
        return;
      }
      long size = pax.containsKey("size") ? number(pax.get("size")) : block.size();
      if (block.type() == TarBlock.PAX || block.type() == TarBlock.PAX_GLOBAL) {
        pax = records(block.size());
        continue;
      }
      entry(block, pax, size);
      pax = new HashMap<>();
    }
  }

  private void entry(TarBlock block, Map<String, String> pax, long size) throws IOException {
    String name = pax.getOrDefault("path", block.name());
    String target = pax.getOrDefault("linkpath", block.target());
    List<String> parts = parts(name);
    if (parts.isEmpty()) {
      return; // the folder itself
    }
    switch (block.type()) {
      case TarBlock.FOLDER -> {
        Path path = parent(parts, parts.size());
        folderModes.put(path, block.mode());
      }
      case TarBlock.FILE -> {
        Path path = fresh(parts);
        write(path, size);
        Files.setPosixFilePermissions(path, FileModes.permissions(block.mode()));
        Files.setLastModifiedTime(path, FileTime.fromMillis(block.time() * 1000));
      }
      case TarBlock.LINK -> {
        if (staysInside(parts.size() - 1, target)) {
          Files.createSymbolicLink(fresh(parts), Path.of(target));
        } else {
          leftOut.add(name + " -> " + target);
        }
      }
      case TarBlock.HARD_LINK -> {
        List<String> there = parts(target);
        if (there.isEmpty()) {
          throw new IOException("the archive links " + name + " to nothing");
        }
        Path first = parent(there, there.size() - 1).resolve(there.getLast());
        if (!Files.isRegularFile(first, LinkOption.NOFOLLOW_LINKS)) {
          throw new IOException("the archive links " + name + " to what is not there: " + target);
        }
        Path path = fresh(parts);
        try {
          Files.createLink(path, first);
        } catch (FileSystemException | UnsupportedOperationException e) {
          Files.copy(first, path);
        }
      }
      default ->
          throw new IOException(name + " is neither a file nor a folder nor a link in the archive");
    }
  }

  /** Returns the parts of a name; throws for one that could leave the folder. */
  private static List<String> parts(String name) throws IOException {
    List<String> parts = new ArrayList<>();
    if (name.startsWith("/") || name.indexOf('\0') >= 0) {
      throw new IOException("the archive has a name that leads out: " + name);
    }
    for (String part : name.split("/")) {
      if (part.equals("..")) {
        throw new IOException("the archive has a name that leads out: " + name);
      }
      if (!part.isEmpty() && !part.equals(".")) {
        parts.add(part);
      }
    }
    if (parts.size() > DEEPEST) {
      throw new IOException("the archive is deeper than " + DEEPEST + " folders");
    }
    return parts;
  }

  /**
   * Tells whether a link stays beneath the root. Climbing is allowed at the beginning only: later
   * on it would depend on where other links lead.
   */
  private static boolean staysInside(int depth, String target) {
    if (target.isEmpty() || target.startsWith("/") || target.indexOf('\0') >= 0) {
      return false;
    }
    boolean descending = false;
    int up = 0;
    for (String part : target.split("/")) {
      if (part.equals("..")) {
        if (descending || ++up > depth) {
          return false;
        }
      } else if (!part.isEmpty() && !part.equals(".")) {
        descending = true;
      }
    }
    return true;
  }

  /** Returns the folder of the first {@code count} parts, made where missing; never a link. */
  private Path parent(List<String> parts, int count) throws IOException {
    Path path = root;
    for (String part : parts.subList(0, count)) {
      path = path.resolve(part);
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        continue;
      }
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(path + " is in the way: it is not a folder");
      }
      Files.createDirectory(path);
    }
    return path;
  }

  /** Returns where an entry goes; what was there before is gone. */
  private Path fresh(List<String> parts) throws IOException {
    Path path = parent(parts, parts.size() - 1).resolve(parts.getLast());
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " is in the way: it is a folder");
    }
    Files.deleteIfExists(path);
    return path;
  }

  private void write(Path path, long size) throws IOException {
    try (OutputStream out = Files.newOutputStream(path, StandardOpenOption.CREATE_NEW)) {
      byte[] buffer = new byte[BUFFER];
      long left = size;
      while (left > 0) {
        int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (read < 0) {
          throw cutOff();
        }
        out.write(buffer, 0, read);
        left -= read;
      }
    }
    exactly((int) (-size & (TarBlock.SIZE - 1)));
  }

  /** Folders get their modes last: one that cannot be written to would take nothing in. */
  private void setFolderModes() throws IOException {
    List<Path> folders = new ArrayList<>(folderModes.keySet());
    for (Path folder : folders.reversed()) {
      Files.setPosixFilePermissions(
          folder, FileModes.permissions(folderModes.getOrDefault(folder, 0755)));
    }
  }

  private Map<String, String> records(long size) throws IOException {
    if (size > LARGEST_PAX) {
      throw new IOException("the archive has a header of more than " + LARGEST_PAX + " bytes");
    }
    byte[] bytes = exactly((int) size);
    exactly((int) (-size & (TarBlock.SIZE - 1)));
    Map<String, String> records = new HashMap<>();
    int at = 0;
    while (at < bytes.length) {
      int space = at;
      while (space < bytes.length && bytes[space] != ' ') {
        space++;
      }
      long length = number(new String(bytes, at, space - at, StandardCharsets.US_ASCII));
      if (length <= space - at + 1 || at + length > bytes.length) {
        throw new IOException("the archive has a damaged header");
      }
      String record =
          new String(bytes, space + 1, (int) (at + length - space - 2), StandardCharsets.UTF_8);
      int equals = record.indexOf('=');
      if (equals < 1) {
        throw new IOException("the archive has a damaged header");
      }
      records.put(record.substring(0, equals), record.substring(equals + 1));
      at += (int) length;
    }
    return records;
  }

  private static long number(@org.jspecify.annotations.Nullable String digits) throws IOException {
    if (digits == null || !digits.matches("[0-9]{1,18}")) {
      throw new IOException("the archive has a number that is none");
    }
    return Long.parseLong(digits);
  }

  private byte[] exactly(int count) throws IOException {
    byte[] bytes = in.readNBytes(count);
    if (bytes.length < count) {
      throw cutOff();
    }
    return bytes;
  }

  private static EOFException cutOff() {
    return new EOFException("the archive was cut off");
  }
}
