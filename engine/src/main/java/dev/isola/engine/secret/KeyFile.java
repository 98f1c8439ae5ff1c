package dev.isola.engine.secret;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A file with a key, and beside it the file with the next key while values are encrypted again.
 *
 * @param path the file with the key
 */
record KeyFile(Path path) {
  private static final int MAX_BYTES = 4096;
  private static final Set<PosixFilePermission> OTHERS =
      PosixFilePermissions.fromString("---rwxrwx");

  /** Returns the file that has the next key while values are encrypted again. */
  Path next() {
    return path.resolveSibling(path.getFileName() + ".new");
  }

  /** Returns the key; empty if the file does not exist. */
  Optional<EncryptionKey> read() {
    return read(path);
  }

  /** Returns the next key; empty unless values are being encrypted again. */
  Optional<EncryptionKey> readNext() {
    return read(next());
  }

  private static Optional<EncryptionKey> read(Path file) {
    try {
      if (Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains)) {
        throw KeyFault.of(
            file + " is accessible to other users of this machine",
            "run: chmod 600 " + file + "; if others may have read it, replace the key");
      }
      if (Files.size(file) > MAX_BYTES) {
        throw KeyFault.of(file + " is too large for a key", KeyText.REMEDY);
      }
      return Optional.of(KeyText.parse(Files.readAllBytes(file), file.toString()));
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    } catch (IOException e) {
      throw KeyFault.of(file + " cannot be read: " + e.getMessage(), "check its permissions");
    }
  }

  /** Creates a random key, unless another server has just done so; returns the key of the file. */
  EncryptionKey create() {
    return create(path);
  }

  /** Creates the next key; returns the existing one if there is one. */
  EncryptionKey createNext() {
    return readNext().orElseGet(() -> create(next()));
  }

  private static EncryptionKey create(Path file) {
    Path folder = folder(file);
    EncryptionKey key = EncryptionKey.random();
    try {
      Files.createDirectories(folder);
      Path part =
          Files.createTempFile(
              folder,
              "secrets",
              ".part",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        try (FileChannel out = FileChannel.open(part, StandardOpenOption.WRITE)) {
          ByteBuffer bytes = ByteBuffer.wrap(key.bytes());
          while (bytes.hasRemaining()) {
            out.write(bytes);
          }
          out.force(true);
        }
        Files.createLink(file, part); // atomic, and never replaces an existing key
        sync(folder);
        return key;
      } catch (FileAlreadyExistsException first) {
        return read(file).orElseThrow(() -> new NoSuchFileException(file.toString()));
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      throw KeyFault.of(
          "the key " + file + " cannot be created: " + e.getMessage(),
          "check that the server may write to " + folder);
    }
  }

  /** Replaces the key by the next one. */
  void replaceByNext() {
    try {
      Files.move(next(), path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      sync(folder(path));
    } catch (IOException e) {
      throw KeyFault.of(
          next() + " cannot replace " + path + ": " + e.getMessage(),
          "keep both files, check the folder, and rotate the key again");
    }
  }

  private static Path folder(Path file) {
    return Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file has a folder");
  }

  /** Makes a change of names durable. */
  private static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
