package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Archives that clients uploaded for COPY, each in a file named by its SHA-256. If a client uses
 * its own name for an archive, a pointer file maps that name to the SHA-256.
 */
record Uploads(Path folder, long largest, InstantSource clock) {
  static final long LARGEST = 4L << 30;

  private static final String ARCHIVE = ".tar";
  private static final String NAME = ".name";
  private static final String PART = ".part";
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern CLIENT_NAME = Pattern.compile("[A-Za-z0-9_-]{1,128}");

  static boolean isSha256(String text) {
    return SHA256.matcher(text).matches();
  }

  boolean contains(String sha256) {
    return isSha256(sha256) && Files.isRegularFile(archive(sha256));
  }

  /**
   * Returns the SHA-256 of the archive that a client uploaded under a name; empty if there is none.
   */
  Optional<String> named(String name) {
    try {
      return Optional.of(Files.readString(named(checked(name), NAME), UTF_8).strip())
          .filter(this::contains);
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  /**
   * Opens an archive and marks it as used.
   *
   * @throws dev.isola.spi.error.NotFound if it does not exist
   */
  InputStream open(String sha256) {
    try {
      Path archive = archive(sha256);
      InputStream content = Files.newInputStream(archive);
      touch(archive);
      return content;
    } catch (IOException e) {
      throw missing(sha256).exception(e);
    }
  }

  static Fault missing(String sha256) {
    return Fault.of(
            ErrorCode.FILE_NOT_FOUND,
            "no archive with the SHA-256 " + sha256 + " was uploaded",
            "upload it, then build again")
        .with("archive", sha256);
  }

  /**
   * Stores an archive atomically.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the SHA-256 of the content differs
   */
  void put(String sha256, InputStream content) throws IOException {
    if (!isSha256(sha256)) {
      throw wrongName(sha256);
    }
    String _ = store(content, Optional.of(sha256));
  }

  /** Stores an archive under a name chosen by the client; returns its SHA-256. */
  String putAs(String name, InputStream content) throws IOException {
    Path pointer = named(checked(name), NAME);
    String sha256 = store(content, Optional.empty());
    Path part = Files.createTempFile(folder, "name", PART);
    try {
      Files.writeString(part, sha256, UTF_8);
      touch(part);
      Files.move(part, pointer, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
    return sha256;
  }

  private String store(InputStream content, Optional<String> expected) throws IOException {
    PrivateFolder.create(folder);
    Path part = Files.createTempFile(folder, "upload", PART);
    try {
      String found = copy(content, part);
      if (expected.filter(one -> !one.equals(found)).isPresent()) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "the archive has the SHA-256 " + found + ", not " + expected.get(),
                "upload the archive again")
            .with("field", "sha256")
            .exception();
      }
      touch(part);
      Files.move(part, archive(found), StandardCopyOption.ATOMIC_MOVE);
      return found;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private String copy(InputStream content, Path part) throws IOException {
    MessageDigest digest = Sha256.newDigest();
    try (OutputStream out = Files.newOutputStream(part)) {
      byte[] buffer = new byte[64 * 1024];
      long size = 0;
      for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
        size += read;
        if (size > largest) {
          throw Fault.of(
                  ErrorCode.RESOURCE_LIMIT,
                  "the upload exceeds " + largest + " bytes",
                  "copy less, or exclude files with .dockerignore")
              .with("limit", Long.toString(largest))
              .exception();
        }
        digest.update(buffer, 0, read);
        out.write(buffer, 0, read);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /**
   * Removes archives that no build has used since {@code moment}, and partial uploads that a
   * restart interrupted.
   */
  void removeUnusedSince(Instant moment) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(moment)) {
          Files.deleteIfExists(file);
        }
      }
    } catch (NoSuchFileException none) {
      // nothing was uploaded yet, or a file was removed concurrently
    }
  }

  private void touch(Path file) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(clock.instant()));
  }

  private Path archive(String sha256) {
    return named(sha256, ARCHIVE);
  }

  private Path named(String name, String ending) {
    return folder.resolve(name + ending);
  }

  private static String checked(String name) {
    if (!CLIENT_NAME.matcher(name).matches()) {
      throw wrongName(name);
    }
    return name;
  }

  private static RuntimeException wrongName(String name) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "'" + name + "' is not a valid hash",
            "use letters, digits, _ and -")
        .with("field", "hash")
        .exception();
  }
}
