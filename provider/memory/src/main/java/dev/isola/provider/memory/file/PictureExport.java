package dev.isola.provider.memory.file;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.tar.TarStream;
import dev.isola.codec.tar.TreeEntry;
import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A tree with all that is known of its files, as they are when it is asked for. */
final class PictureExport {
  private static final String USER_SPACE = "user.";

  private final Tree tree;
  private final FileInfo top;
  private final List<Glob> includes;
  private final List<Glob> excludes;

  PictureExport(Tree tree, String path, List<String> includes, List<String> excludes) {
    this.tree = tree;
    this.top = tree.stat(path, true);
    this.includes = includes.stream().map(PictureExport::glob).toList();
    this.excludes = excludes.stream().map(PictureExport::glob).toList();
    if (top.type() != FileType.FOLDER) {
      throw FileFaults.notAFolder(path);
    }
  }

  /** As the agent has it: a pattern without a slash is meant for any name. */
  private static Glob glob(String pattern) {
    if (pattern.isEmpty()
        || pattern.startsWith("/")
        || List.of(pattern.split("/")).contains("..")) {
      throw FileFaults.invalid(pattern, "is not a relative pattern");
    }
    return Glob.ofFiles(pattern);
  }

  private record Held(TreeEntry entry, Bytes bytes) implements TarStream.Item {
    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes.toArray());
    }
  }

  /**
   * In one moment: what is listed is what is read, whatever a command that is not held yet does.
   */
  InputStream archive() {
    return new TarStream(tree.locked(this::items).iterator());
  }

  private List<TarStream.Item> items() {
    List<FileInfo> all = tree.list(top.path(), 0);
    Set<String> wanted = new HashSet<>();
    for (FileInfo info : all) {
      String path = below(info);
      if (!matches(excludes, path) && (includes.isEmpty() || matches(includes, path))) {
        wanted.add(path);
        for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
          wanted.add(path.substring(0, end)); // the folders that lead there
        }
      }
    }
    List<TarStream.Item> items = new ArrayList<>();
    items.add(item(top, "."));
    for (FileInfo info : all) {
      if (wanted.contains(below(info)) && info.type() != FileType.OTHER) {
        items.add(item(info, below(info)));
      }
    }
    return items;
  }

  private String below(FileInfo info) {
    return info.path().substring(top.path().equals("/") ? 1 : top.path().length() + 1);
  }

  /** Whatever is beneath something that matches, matches too. */
  private static boolean matches(List<Glob> globs, String path) {
    for (int end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
      String part = end < 0 ? path : path.substring(0, end);
      String name = part.substring(part.lastIndexOf('/') + 1);
      if (globs.stream().anyMatch(glob -> glob.matches(part) || glob.matches(name))) {
        return true;
      }
      if (end < 0) {
        return false;
      }
    }
  }

  private Held item(FileInfo info, String path) {
    Bytes content = info.type() == FileType.FILE ? content(info.path()) : Bytes.of(new byte[0]);
    Map<String, byte[]> attributes = new HashMap<>();
    if (info.type() != FileType.LINK) {
      tree.look(info.path(), node -> Map.copyOf(node.attributes))
          .forEach((name, value) -> attributes.put(USER_SPACE + name, value.toArray()));
    }
    TreeEntry.Kind kind =
        switch (info.type()) {
          case FILE -> TreeEntry.Kind.FILE;
          case FOLDER -> TreeEntry.Kind.FOLDER;
          case LINK -> TreeEntry.Kind.LINK;
          case OTHER -> TreeEntry.Kind.SPECIAL;
        };
    Instant modified = info.modifiedAt();
    return new Held(
        new TreeEntry(
            bytes(path),
            kind,
            bytes(info.linkTarget().orElse("")),
            info.mode(),
            info.uid(),
            info.gid(),
            content.size(),
            modified.getEpochSecond(),
            modified.getNano(),
            attributes),
        content);
  }

  private Bytes content(String path) {
    OpenContent open = tree.open(path);
    byte[] bytes = new byte[Math.toIntExact(open.size())];
    for (int at = 0; at < bytes.length; ) {
      int count = open.read(at, bytes, at, bytes.length - at);
      if (count <= 0) {
        break;
      }
      at += count;
    }
    return Bytes.of(bytes);
  }

  private static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }
}
