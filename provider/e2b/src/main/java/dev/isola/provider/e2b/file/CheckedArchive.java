package dev.isola.provider.e2b.file;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

/** Validates an archive while re-encoding it, so that only permitted entries reach the sandbox. */
final class CheckedArchive {
  private final TarReader reader;
  private final TreeLimits limits;
  private final Set<String> links = new HashSet<>();
  private long entries;
  private long bytes;

  CheckedArchive(InputStream archive, TreeLimits limits) {
    this.reader = new TarReader(archive, ArchivePaths::badArchive);
    this.limits = limits;
  }

  InputStream stream() {
    return new TarStream(new Items());
  }

  TreeSummary summary() {
    return new TreeSummary(entries, bytes);
  }

  private record Entry(TarEntry entry, InputStream content) implements TarStream.Item {}

  private final class Items implements Iterator<TarStream.Item> {
    private Optional<TarEntry> next = Optional.empty();
    private boolean ended;

    @Override
    public boolean hasNext() {
      while (next.isEmpty() && !ended) {
        try {
          Optional<TarEntry> read = reader.next();
          ended = read.isEmpty();
          next = read.flatMap(CheckedArchive.this::checked);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        if (ended && !reader.ended()) {
          throw ArchivePaths.badArchive("the archive is truncated", "the end marker is missing");
        }
      }
      return next.isPresent();
    }

    @Override
    public TarStream.Item next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      TarEntry entry = next.orElseThrow();
      next = Optional.empty();
      return new Entry(entry, reader.content());
    }
  }

  /** Returns the entry to send; empty for the root itself. */
  private Optional<TarEntry> checked(TarEntry entry) {
    String path = context(entry.path());
    count(entry);
    if (path.isEmpty()) {
      return Optional.empty();
    }
    refuseThroughLinks(path);
    String target =
        switch (entry.kind()) {
          case FILE, FOLDER -> "";
          case HARD_LINK -> {
            String first = context(entry.target());
            refuseThroughLinks(first);
            if (first.isEmpty() || links.contains(first)) {
              throw ArchivePaths.badArchive(
                  "the target of a hard link does not exist", entry.path());
            }
            yield first;
          }
          case LINK -> {
            if (leadsOut(path, entry.target())) {
              throw ArchivePaths.badArchive(
                  "a link points outside the target folder", entry.path());
            }
            yield entry.target();
          }
          case SPECIAL, REMOVED ->
              throw ArchivePaths.badArchive("devices and pipes are not supported", entry.path());
        };
    if (entry.kind() == TarEntry.Kind.LINK) {
      links.add(path);
    } else {
      links.remove(path);
    }
    return Optional.of(
        new TarEntry(
            path,
            entry.kind(),
            target,
            entry.mode(),
            0,
            0,
            entry.size(),
            entry.seconds(),
            entry.nanos(),
            java.util.Map.of()));
  }

  private static String context(String name) {
    if (name.startsWith("/")) {
      throw ArchivePaths.badArchive("a path is absolute", name);
    }
    return ArchivePaths.normalize(name);
  }

  private void count(TarEntry entry) {
    entries++;
    if (entries > limits.maxEntries()) {
      throw tooMuch("entries", limits.maxEntries());
    }
    if (entry.size() > limits.maxBytes() - bytes) {
      throw tooMuch("bytes", limits.maxBytes());
    }
    bytes += entry.size();
  }

  private static SandboxException tooMuch(String what, long limit) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the archive has more than " + limit + " " + what,
            "raise the limit, or use a smaller archive")
        .with("resource", what)
        .with("limit", Long.toString(limit))
        .exception();
  }

  private void refuseThroughLinks(String path) {
    for (String way = ArchivePaths.parent(path); !way.isEmpty(); way = ArchivePaths.parent(way)) {
      if (links.contains(way)) {
        throw ArchivePaths.badArchive("the path of an entry leads through a link", path);
      }
    }
  }

  private static boolean leadsOut(String path, String target) {
    if (target.isEmpty() || target.startsWith("/")) {
      return true;
    }
    int level = path.split("/").length - 1;
    for (String part : target.split("/")) {
      if (part.equals("..")) {
        level--;
      } else if (!part.isEmpty() && !part.equals(".")) {
        level++;
      }
      if (level < 0) {
        return true;
      }
    }
    return false;
  }
}
