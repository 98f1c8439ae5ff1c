package dev.isola.provider.memory.file;

import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Packs a tree while it is read. */
final class TreeExport extends InputStream {
  private final Tree tree;
  private final String root;
  private final Iterator<FileInfo> entries;
  private byte[] pending = new byte[0];
  private int pendingAt;
  private @Nullable OpenContent file;
  private long fileAt;
  private long fileSize;
  private boolean finished;

  private TreeExport(Tree tree, String root, Iterator<FileInfo> entries) {
    this.tree = tree;
    this.root = root;
    this.entries = entries;
  }

  static TreeExport open(Tree tree, String path, List<String> excludes) {
    FileInfo top = tree.stat(path, true);
    if (top.type() != FileType.FOLDER) {
      String parent = top.path().substring(0, Math.max(1, top.path().lastIndexOf('/')));
      return new TreeExport(tree, parent, List.of(top).iterator());
    }
    List<Glob> globs = excludes.stream().map(Glob::ofFiles).toList();
    int skip = top.path().equals("/") ? 1 : top.path().length() + 1;
    List<FileInfo> kept =
        tree.list(top.path(), 0).stream()
            .filter(info -> !excluded(info.path().substring(skip), globs))
            .toList();
    return new TreeExport(tree, top.path(), kept.iterator());
  }

  /** Whatever is beneath something excluded is excluded too. */
  private static boolean excluded(String path, List<Glob> globs) {
    for (int end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
      String part = end < 0 ? path : path.substring(0, end);
      if (globs.stream().anyMatch(glob -> glob.matches(part))) {
        return true;
      }
      if (end < 0) {
        return false;
      }
    }
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    while (pendingAt == pending.length && (file == null || fileAt == fileSize)) {
      if (!advance()) {
        return -1;
      }
    }
    if (pendingAt < pending.length) {
      int count = Math.min(length, pending.length - pendingAt);
      System.arraycopy(pending, pendingAt, buffer, offset, count);
      pendingAt += count;
      return count;
    }
    return content(buffer, offset, length);
  }

  private int content(byte[] buffer, int offset, int length) {
    int wanted = (int) Math.min(length, fileSize - fileAt);
    int count = file == null ? -1 : file.read(fileAt, buffer, offset, wanted);
    if (count < 0) {
      // It shrank while it was packed; the header has promised more.
      Arrays.fill(buffer, offset, offset + wanted, (byte) 0);
      count = wanted;
    }
    fileAt += count;
    if (fileAt == fileSize) {
      put(
          new byte
              [(int) (TarHeader.padded(fileSize % TarHeader.BLOCK) - fileSize % TarHeader.BLOCK)]);
    }
    return count;
  }

  private boolean advance() {
    file = null;
    while (entries.hasNext()) {
      FileInfo entry = entries.next();
      switch (entry.type()) {
        case FILE -> {
          if (startFile(entry)) {
            return true;
          }
        }
        case FOLDER -> {
          put(header(entry, '5', 0).encode());
          return true;
        }
        case LINK -> {
          put(header(entry, '2', 0).encode());
          return true;
        }
        case OTHER -> {}
      }
    }
    if (finished) {
      return false;
    }
    finished = true;
    put(new byte[2 * TarHeader.BLOCK]);
    return true;
  }

  private boolean startFile(FileInfo entry) {
    try {
      OpenContent open = tree.open(entry.path());
      file = open;
      fileAt = 0;
      fileSize = open.size();
      put(header(entry, '0', fileSize).encode());
      return true;
    } catch (NotFound removedMeanwhile) {
      return false;
    }
  }

  private TarHeader header(FileInfo entry, char type, long size) {
    String name = entry.path().substring(root.equals("/") ? 1 : root.length() + 1);
    return new TarHeader(
        type == '5' ? name + "/" : name,
        entry.mode(),
        size,
        entry.modifiedAt(),
        type,
        entry.linkTarget().orElse(""));
  }

  private void put(byte[] bytes) {
    pending = bytes;
    pendingAt = 0;
  }
}
