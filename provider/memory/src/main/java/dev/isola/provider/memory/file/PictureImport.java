package dev.isola.provider.memory.file;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.archive.Names;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TreeEntry;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;

/** Makes the files of a picture beneath a folder. */
final class PictureImport {
  private static final int CHUNK = 64 * 1024;
  private static final String USER_SPACE = "user.";

  private final Tree tree;
  private final TreeLimits limits;

  /** Making what is in a folder changes its time, so folders are finished last. */
  private final Deque<Map.Entry<String, TreeEntry>> folders = new ArrayDeque<>();

  private long entries;
  private long bytes;

  PictureImport(Tree tree, TreeLimits limits) {
    this.tree = tree;
    this.limits = limits;
  }

  TreeSummary from(String path, InputStream archive) {
    tree.makeFolder(path, 0755);
    String root = tree.stat(path, true).path();
    TarReader reader = new TarReader(archive, Names::bad);
    try {
      for (Optional<TreeEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        make(root, next.get(), reader.content());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!reader.ended()) {
      throw FileFaults.badArchive("the archive was cut off");
    }
    while (!folders.isEmpty()) {
      Map.Entry<String, TreeEntry> folder = folders.pop();
      finish(folder.getKey(), folder.getValue());
    }
    return new TreeSummary(entries, bytes);
  }

  private void make(String root, TreeEntry entry, InputStream content) throws IOException {
    String name = text(Names.clean(entry.path()));
    String target = name.isEmpty() ? root : root + "/" + name;
    if (entry.path().startsWith("/")) {
      throw FileFaults.badArchive("the name '" + name + "' is absolute");
    }
    for (int end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
      String way = root + "/" + name.substring(0, end);
      if (tree.find(way, false).filter(it -> it.type() == FileType.LINK).isPresent()) {
        throw FileFaults.badArchive("the name '" + name + "' leads through a link");
      }
    }
    if (++entries > limits.maxEntries()) {
      throw FileFaults.tooMuch("entries", limits.maxEntries());
    }
    switch (entry.kind()) {
      case FILE -> file(target, content);
      case HARD_LINK -> copy(root + "/" + text(Names.clean(entry.target())), target);
      case LINK -> {
        if (tree.find(target, false).filter(it -> it.type() != FileType.FOLDER).isPresent()) {
          tree.remove(target, false);
        }
        tree.makeLink(target, text(entry.target()));
      }
      case FOLDER -> {
        tree.makeFolder(target, 0755);
        folders.push(Map.entry(target, entry));
        return;
      }
      case SPECIAL, REMOVED -> throw FileFaults.badArchive(name + " is no file");
    }
    finish(target, entry);
  }

  private void finish(String target, TreeEntry entry) {
    if (entry.kind() == TreeEntry.Kind.HARD_LINK) {
      return;
    }
    tree.change(
        target,
        false,
        node -> {
          node.mode = entry.mode();
          node.uid = entry.uid();
          node.gid = entry.gid();
          entry
              .attributes()
              .forEach(
                  (name, value) -> {
                    if (name.startsWith(USER_SPACE)) {
                      node.attributes.put(name.substring(USER_SPACE.length()), Bytes.of(value));
                    }
                  });
          node.modifiedAt = Instant.ofEpochSecond(entry.seconds(), entry.nanos());
          return node;
        });
  }

  private void file(String target, InputStream in) throws IOException {
    Content content = tree.looseContent();
    try {
      byte[] buffer = new byte[CHUNK];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        bytes += n;
        if (bytes > limits.maxBytes()) {
          throw FileFaults.tooMuch("bytes", limits.maxBytes());
        }
        if (tree.faults().has(PlantedFault.RESTORES_ZEROS)) {
          buffer = new byte[CHUNK];
        }
        content.append(buffer, 0, n);
      }
      tree.replace(target, content, Optional.empty(), 0, false);
    } catch (RuntimeException | IOException e) {
      content.release();
      throw e;
    }
  }

  /** A second name becomes a copy: nodes here have one name each. */
  private void copy(String from, String target) {
    FileInfo original = tree.stat(from, false);
    OpenContent open = tree.open(original.path());
    Content copy = tree.looseContent();
    byte[] buffer = new byte[CHUNK];
    for (int n = open.read(0, buffer, 0, CHUNK);
        n > 0;
        n = open.read(copy.size(), buffer, 0, CHUNK)) {
      copy.append(buffer, 0, n);
    }
    tree.replace(target, copy, Optional.of(original.mode()), original.uid(), false);
  }

  private static String text(String bytes) {
    return new String(bytes.getBytes(ISO_8859_1), UTF_8);
  }
}
