package dev.isola.engine.api.snapshot;

import dev.isola.spi.SandboxId;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The base of the next incremental snapshot of a sandbox: the previous snapshot. The file also has
 * the change markers of its files, which {@link Marks} reads one at a time. Only an optimization:
 * an unreadable base is ignored.
 *
 * @param moment the time after which the previous snapshot may have missed changes
 */
record SnapshotBase(
    String snapshot, long moment, String root, List<String> includes, List<String> excludes) {
  /** Accessible by the server only. */
  private static final FileAttribute<Set<PosixFilePermission>> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int VERSION = 1;

  /** The most patterns of a request. */
  private static final int MAX_PATTERNS = 1 << 16;

  SnapshotBase {
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }

  private static Path file(Path folder, SandboxId id) {
    return folder.resolve(id.value());
  }

  /**
   * Writes the base, replacing the previous one.
   *
   * @param count the number of files
   * @param marks the change marker of each file, in the order of the snapshot; empty for none
   */
  void write(Path folder, SandboxId id, long count, Iterable<String> marks) throws IOException {
    Files.createDirectories(folder, OWN);
    Path temporary = Files.createTempFile(folder, "new", ".tmp");
    try {
      try (DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(temporary)))) {
        out.writeInt(VERSION);
        out.writeUTF(snapshot);
        out.writeLong(moment);
        out.writeUTF(root);
        texts(out, includes);
        texts(out, excludes);
        out.writeInt(Math.toIntExact(count));
        for (String mark : marks) {
          out.writeUTF(mark);
        }
      }
      Files.move(temporary, file(folder, id), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private static void texts(DataOutputStream out, List<String> all) throws IOException {
    out.writeInt(all.size());
    for (String text : all) {
      out.writeUTF(text);
    }
  }

  static Optional<SnapshotBase> read(Path folder, SandboxId id) {
    try (DataInputStream in = open(folder, id)) {
      return Optional.of(head(in));
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private static DataInputStream open(Path folder, SandboxId id) throws IOException {
    return new DataInputStream(
        new BufferedInputStream(Files.newInputStream(file(folder, id)), 1 << 16));
  }

  private static SnapshotBase head(DataInputStream in) throws IOException {
    int version = in.readInt();
    if (version != VERSION) {
      throw new IOException("unknown version " + version);
    }
    return new SnapshotBase(in.readUTF(), in.readLong(), in.readUTF(), texts(in), texts(in));
  }

  /** Reads the change markers of a base. */
  static final class Marks implements AutoCloseable {
    private final DataInputStream in;
    private int left;

    /** Opens those of a sandbox, if its base is still that of {@code snapshot}. */
    Marks(Path folder, SandboxId id, String snapshot) throws IOException {
      in = open(folder, id);
      try {
        if (!head(in).snapshot().equals(snapshot)) {
          throw new IOException("another snapshot was taken");
        }
        left = in.readInt();
      } catch (IOException e) {
        in.close();
        throw e;
      }
    }

    /**
     * Returns the marker of the next file.
     *
     * @throws IOException if there is none
     */
    String next() throws IOException {
      if (--left < 0) {
        throw new IOException("there are no more markers");
      }
      return in.readUTF();
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  private static List<String> texts(DataInputStream in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > MAX_PATTERNS) {
      throw new IOException("invalid list size: " + count);
    }
    List<String> all = new ArrayList<>(Math.min(count, 1 << 16));
    for (int i = 0; i < count; i++) {
      all.add(in.readUTF());
    }
    return all;
  }

  static void remove(Path folder, SandboxId id) throws IOException {
    Files.deleteIfExists(file(folder, id));
  }
}
