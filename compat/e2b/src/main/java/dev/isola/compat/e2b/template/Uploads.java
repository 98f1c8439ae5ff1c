package dev.isola.compat.e2b.template;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Archives that clients sent for COPY, by the hash they gave them. */
record Uploads(Path folder) {
  /** Only the server looks into it. */
  private static final FileAttribute<Set<PosixFilePermission>> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final long LARGEST = 4L << 30;

  boolean contains(String hash) {
    return Files.isRegularFile(place(hash));
  }

  InputStream open(String hash) {
    try {
      return Files.newInputStream(place(hash));
    } catch (IOException e) {
      throw Fault.of(ErrorCode.FILE_NOT_FOUND, "nobody uploaded " + hash, "build once more")
          .exception(e);
    }
  }

  /** Keeps an archive; it is there when it is whole. */
  void put(String hash, InputStream content) throws IOException {
    Path place = place(hash);
    Files.createDirectories(folder, OWN);
    Path part = Files.createTempFile(folder, "upload", ".part");
    try {
      try (OutputStream out = Files.newOutputStream(part)) {
        byte[] buffer = new byte[64 * 1024];
        long size = 0;
        for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
          size += read;
          if (size > LARGEST) {
            throw Fault.of(
                    ErrorCode.RESOURCE_LIMIT,
                    "an upload of more than " + LARGEST + " bytes is not taken",
                    "copy less, or leave files out with .dockerignore")
                .exception();
          }
          out.write(buffer, 0, read);
        }
      }
      Files.move(part, place, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private Path place(String hash) {
    if (!hash.matches("[A-Za-z0-9_-]{1,128}")) {
      throw refused(hash);
    }
    return folder.resolve(hash + ".tar");
  }

  private static SandboxException refused(String hash) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST, "'" + hash + "' is no hash", "use letters and digits")
        .exception();
  }
}
