package dev.isola.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Unpacks an untrusted tar archive. Nothing is written outside of the folder: names cannot contain
 * "..", nothing is written through a link, and links may only point inside.
 */
final class TreeUnpacker {
  private static final int MAX_ENTRIES = 1_000_000;
  private static final int MAX_DEPTH = 512;

  private final InputStream in;
  private final TarReader reader;
  private final Path root;
  private final Map<Path, Integer> folderModes = new LinkedHashMap<>();
  private final List<String> skippedLinks = new ArrayList<>();

  private TreeUnpacker(InputStream in, Path root) {
    this.in = in;
    this.reader =
        new TarReader(
            in,
            (what, about) -> new UncheckedIOException(new IOException(what + ": " + text(about))));
    this.root = root;
  }

  /** Unpacks an archive and returns the links that were skipped because they point outside. */
  static List<String> unpack(InputStream archive, Path folder) throws IOException {
    Files.createDirectories(folder);
    TreeUnpacker unpacker = new TreeUnpacker(archive, folder.toRealPath());
    try {
      unpacker.unpackAll();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    unpacker.setFolderModes();
    return unpacker.skippedLinks;
  }

  private void unpackAll() throws IOException {
    for (int count = 0; ; count++) {
      Optional<TarEntry> entry = reader.next();
      if (entry.isEmpty() && !reader.ended()) {
        throw new EOFException("the archive is truncated");
      }
      if (entry.isEmpty()) {
        in.skip(Long.MAX_VALUE);
        return;
      }
      if (count == MAX_ENTRIES) {
        throw new IOException("the archive has more than " + MAX_ENTRIES + " entries");
      }
      unpackEntry(entry.get());
    }
  }

  private void unpackEntry(TarEntry entry) throws IOException {
    String name = text(entry.path());
    String target = text(entry.target());
    List<String> segments = segments(name);
    if (segments.isEmpty()) {
      return; // the folder itself
    }
    switch (entry.kind()) {
      case FOLDER -> {
        Path path = parent(segments, segments.size());
        folderModes.put(path, entry.mode());
      }
      case FILE -> {
        Path path = replacePath(segments);
        Files.copy(reader.content(), path);
        Files.setPosixFilePermissions(path, FileModes.permissions(entry.mode()));
        Files.setLastModifiedTime(path, FileTime.from(entry.seconds(), TimeUnit.SECONDS));
      }
      case LINK -> {
        if (staysInside(segments.size() - 1, target)) {
          Files.createSymbolicLink(replacePath(segments), Path.of(target));
        } else {
          skippedLinks.add(name + " -> " + target);
        }
      }
      case HARD_LINK -> {
        List<String> targetSegments = segments(target);
        if (targetSegments.isEmpty()) {
          throw new IOException("the archive links " + name + " to an empty name");
        }
        Path first =
            parent(targetSegments, targetSegments.size() - 1).resolve(targetSegments.getLast());
        if (!Files.isRegularFile(first, LinkOption.NOFOLLOW_LINKS)) {
          throw new IOException("the archive links " + name + " to a missing file: " + target);
        }
        Path path = replacePath(segments);
        try {
          Files.createLink(path, first);
        } catch (FileSystemException | UnsupportedOperationException e) {
          Files.copy(first, path);
        }
      }
      case SPECIAL, REMOVED ->
          throw new IOException(name + " is not a file, folder or link in the archive");
    }
  }

  /** Decodes a name from the archive, which has one char per byte. */
  private static String text(String bytes) {
    return new String(bytes.getBytes(ISO_8859_1), UTF_8);
  }

  /** Splits a name into segments. Throws if it could lead outside of the folder. */
  private static List<String> segments(String name) throws IOException {
    List<String> segments = new ArrayList<>();
    if (name.startsWith("/") || name.indexOf('\0') >= 0) {
      throw new IOException("the archive contains a path outside of the folder: " + name);
    }
    for (String part : name.split("/")) {
      if (part.equals("..")) {
        throw new IOException("the archive contains a path outside of the folder: " + name);
      }
      if (!part.isEmpty() && !part.equals(".")) {
        segments.add(part);
      }
    }
    if (segments.size() > MAX_DEPTH) {
      throw new IOException("the archive is nested deeper than " + MAX_DEPTH + " folders");
    }
    return segments;
  }

  /**
   * Returns whether a link points inside of the root. ".." is allowed only at the beginning:
   * elsewhere its meaning would depend on other links.
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

  /**
   * Returns the folder of the first {@code count} segments, creating missing ones. Never follows a
   * link.
   */
  private Path parent(List<String> segments, int count) throws IOException {
    Path path = root;
    for (String part : segments.subList(0, count)) {
      path = path.resolve(part);
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        continue;
      }
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(path + " exists and is not a folder");
      }
      Files.createDirectory(path);
    }
    return path;
  }

  /** Returns the path of an entry, after removing an existing file or link. */
  private Path replacePath(List<String> segments) throws IOException {
    Path path = parent(segments, segments.size() - 1).resolve(segments.getLast());
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " exists and is a folder");
    }
    Files.deleteIfExists(path);
    return path;
  }

  /** Sets the modes of folders last, because files could not be created in a read-only folder. */
  private void setFolderModes() throws IOException {
    List<Path> folders = new ArrayList<>(folderModes.keySet());
    for (Path folder : folders.reversed()) {
      Files.setPosixFilePermissions(
          folder, FileModes.permissions(folderModes.getOrDefault(folder, 0755)));
    }
  }
}
