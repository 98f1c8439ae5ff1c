package dev.isola.engine.api.template;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Creates folders that only the server can access. */
final class PrivateFolder {
  private static final FileAttribute<Set<PosixFilePermission>> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private PrivateFolder() {}

  static void create(Path folder) throws IOException {
    Files.createDirectories(folder, OWN);
  }
}
