package dev.isola.snapshot.manifest;

import dev.isola.snapshot.chunk.ChunkId;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * One file of a snapshot.
 *
 * @param path from the snapshot's root, without {@code .} and {@code ..}; each char is one byte,
 *     because a name need not be text in any encoding
 * @param target of a link: where a symbolic one points, or the path a hard one shares
 * @param mode permissions with the set-id and sticky bits
 * @param size of a file's content
 * @param seconds since 1970 when the content changed last
 * @param attributes extended attributes; each char of a value is one byte
 * @param chunks of a file, in order
 */
public record SnapshotEntry(
    String path,
    Kind kind,
    String target,
    int mode,
    long uid,
    long gid,
    long size,
    long seconds,
    int nanos,
    Map<String, String> attributes,
    List<ChunkId> chunks) {

  /** What a file is. */
  public enum Kind {
    FILE(0),
    FOLDER(1),
    LINK(2),
    HARD_LINK(3),
    /** Nothing: the image has something of that name, and it was removed. */
    REMOVED(4);

    /** As it is written; never changed. */
    final int code;

    Kind(int code) {
      this.code = code;
    }

    static Kind of(int code) throws IOException {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IOException("a file is of a kind that is not known (" + code + ")");
    }
  }

  /** Returns the same file by another name. */
  public SnapshotEntry withPath(String other) {
    return new SnapshotEntry(
        other, kind, target, mode, uid, gid, size, seconds, nanos, attributes, chunks);
  }

  /** Returns the same file with names that begin in {@code folder}, in which it is. */
  public SnapshotEntry relativeTo(String folder) {
    return new SnapshotEntry(
        relativeTo(path, folder),
        kind,
        kind == Kind.HARD_LINK ? relativeTo(target, folder) : target,
        mode,
        uid,
        gid,
        size,
        seconds,
        nanos,
        attributes,
        chunks);
  }

  private static String relativeTo(String path, String folder) {
    return path.startsWith(folder + "/") ? path.substring(folder.length() + 1) : "";
  }

  public SnapshotEntry {
    attributes = Map.copyOf(attributes);
    chunks = List.copyOf(chunks);
  }
}
