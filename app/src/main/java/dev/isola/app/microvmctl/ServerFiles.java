package dev.isola.app.microvmctl;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The files by which the private server is found. The server holds the lock as long as it runs; the
 * kernel releases it when the process ends, however it ends.
 */
record ServerFiles(Path folder) {
  /** How to call the server. Contains its key. */
  record Address(String url, String key) {
    @Override
    public String toString() {
      return url;
    }
  }

  Path addressFile() {
    return folder.resolve("server.json");
  }

  Path log() {
    return folder.resolve("server.log");
  }

  /** Drops the log of the previous server. */
  void truncateLog() throws IOException {
    try (FileChannel log =
        FileChannel.open(log(), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      log.truncate(0);
    }
  }

  private Path lockFile() {
    return folder.resolve("server.lock");
  }

  /** Returns the address that a server wrote, which may have ended. */
  Optional<Address> address() throws IOException {
    try {
      Map<String, Object> json = Json.parseObject(Files.readString(addressFile()));
      return Optional.of(new Address(text(json, "url"), text(json, "key")));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (MalformedJson e) {
      throw new IOException(addressFile() + " is malformed; remove it", e);
    }
  }

  private static String text(Map<String, Object> json, String name) {
    return String.valueOf(json.get(name));
  }

  /** Writes the address for this user only; readers see it whole or not at all. */
  void write(Address address) throws IOException {
    Path draft =
        Files.createTempFile(
            folder,
            ".server",
            "",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(draft, Json.text(Json.object("url", address.url(), "key", address.key())));
    Files.move(draft, addressFile(), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Returns when a verb last used the server. */
  Instant lastUse() throws IOException {
    return Files.getLastModifiedTime(addressFile()).toInstant();
  }

  /** Takes the lock for the life of this process; empty if another server has it. */
  Optional<FileLock> lock() throws IOException {
    return Optional.ofNullable(channel().tryLock());
  }

  /**
   * Returns whether a server has the lock. Asks with a shared lock, so that verbs that ask at the
   * same time do not take each other for a server.
   */
  boolean isLocked() throws IOException {
    try (FileChannel channel = channel();
        FileLock free = channel.tryLock(0, Long.MAX_VALUE, true)) {
      return free == null;
    }
  }

  private FileChannel channel() throws IOException {
    return FileChannel.open(
        lockFile(), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }
}
