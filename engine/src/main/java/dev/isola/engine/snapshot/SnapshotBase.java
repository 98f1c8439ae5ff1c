package dev.isola.engine.snapshot;

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
 * The base of the next incremental snapshot of a sandbox: the previous snapshot and the change
 * markers of its files. Only an optimization: an unreadable base is ignored.
 *
 * @param moment the time after which the previous snapshot may have missed changes
 * @param marks the change marker of each file, in the order of the snapshot
 */
record SnapshotBase(
    String snapshot,
    long moment,
    String root,
    List<String> includes,
    List<String> excludes,
    List<String> marks) {
  /** Accessible by the server only. */
  private static final FileAttribute<Set<PosixFilePermission>> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int VERSION = 1;
  private static final int MOST = 10_000_000;

  SnapshotBase {
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
    marks = List.copyOf(marks);
  }

  private static Path file(Path folder, SandboxId id) {
    return folder.resolve(id.value());
  }

  /** Writes the base, replacing the previous one. */
  void write(Path folder, SandboxId id) throws IOException {
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
        texts(out, marks);
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
    try (DataInputStream in =
        new DataInputStream(
            new BufferedInputStream(Files.newInputStream(file(folder, id)), 1 << 16))) {
      if (in.readInt() != VERSION) {
        return Optional.empty();
      }
      return Optional.of(
          new SnapshotBase(
              in.readUTF(), in.readLong(), in.readUTF(), texts(in), texts(in), texts(in)));
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private static List<String> texts(DataInputStream in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > MOST) {
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
