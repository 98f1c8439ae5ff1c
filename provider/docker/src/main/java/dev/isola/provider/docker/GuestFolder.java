package dev.isola.provider.docker;

import dev.isola.link.InstalledProgram;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The folder that containers mount read-only as {@code /.isola}, with the agent program and a mount
 * point. There is one per agent version, because a container keeps the version it was created with.
 */
record GuestFolder(Path dataFolder, InstalledProgram agent) {
  /**
   * Returns the folder, creating it if needed.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it cannot be created
   */
  Path path() {
    Path program = agent.path();
    Path folder = dataFolder.resolve("guest").resolve(program.getFileName());
    if (Files.isExecutable(folder.resolve("agent"))) {
      return folder;
    }
    try {
      make(program, folder);
      return folder;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the guest agent cannot be installed in " + folder + ": " + e.getMessage(),
              "check the free space and the permissions of " + dataFolder)
          .exception(e);
    }
  }

  private static void make(Path program, Path folder) throws IOException {
    Files.createDirectories(folder.getParent());
    Path draft = Files.createTempDirectory(folder.getParent(), ".new");
    try {
      Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.copy(program, draft.resolve("agent"), StandardCopyOption.COPY_ATTRIBUTES);
      Files.createDirectory(draft.resolve("run"));
      Files.move(draft, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      if (!Files.isExecutable(folder.resolve("agent"))) { // Otherwise another process created it.
        throw e;
      }
    } finally {
      TreeRemoval.remove(draft);
    }
  }
}
