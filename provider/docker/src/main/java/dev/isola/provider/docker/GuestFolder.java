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
 * The folder that all containers are shown as {@code /.isola}, read only: the agent's program, and
 * a place to mount on. One for each version of the agent, because a container keeps the one it was
 * made with.
 */
record GuestFolder(Path dataFolder, InstalledProgram agent) {
  /**
   * Returns the folder, made when it is not there.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when that cannot be
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
              "the guest agent cannot be put into " + folder + ": " + e.getMessage(),
              "check space and rights of " + dataFolder)
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
      if (!Files.isExecutable(folder.resolve("agent"))) { // else another process was first
        throw e;
      }
    } finally {
      TreeRemoval.remove(draft);
    }
  }
}
