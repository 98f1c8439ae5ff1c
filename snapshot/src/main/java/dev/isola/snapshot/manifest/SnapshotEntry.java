package dev.isola.snapshot.manifest;

import dev.isola.snapshot.chunk.ChunkId;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * One file of a snapshot.
 *
 * @param path the path from the snapshot's root, without {@code .} and {@code ..}; each char is one
 *     byte, because file names need not be text in any encoding
 * @param target the target of a symbolic link, or the path that a hard link shares
 * @param mode the permissions with the set-id and sticky bits
 * @param size the size of the content
 * @param seconds the modification time in seconds since the Unix epoch
 * @param attributes the extended attributes; each char of a value is one byte
 * @param chunks the chunks of the content, in order
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

  /** The type of an entry. */
  public enum Kind {
    FILE(0),
    FOLDER(1),
    LINK(2),
    HARD_LINK(3),
    /** A whiteout: the image has a file of that name, and the sandbox removed it. */
    REMOVED(4);

    /** The stored code, which must never change. */
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
      throw new IOException("unknown kind of entry (" + code + ")");
    }
  }

  /** Returns about how many bytes the entry takes in memory. */
  public long sizeInMemory() {
    long size = 256 + path.length() + target.length() + 48L * chunks.size();
    for (Map.Entry<String, String> one : attributes.entrySet()) {
      size += 128 + one.getKey().length() + one.getValue().length();
    }
    return size;
  }

  /** Returns the same file under another path. */
  public SnapshotEntry withPath(String other) {
    return new SnapshotEntry(
        other, kind, target, mode, uid, gid, size, seconds, nanos, attributes, chunks);
  }

  /** Returns the same file with paths relative to {@code folder}, which contains it. */
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
