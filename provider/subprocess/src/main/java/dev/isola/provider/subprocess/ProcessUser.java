package dev.isola.provider.subprocess;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Optional;

/** The user of this process and of a sandbox's commands. */
final class ProcessUser {
  private ProcessUser() {}

  static boolean isRoot() {
    try {
      // Follows the link, since /proc/self itself always belongs to root.
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Makes {@code user} the owner of a new workspace; does nothing when commands run as the user of
   * this process.
   */
  static void chown(Path workspace, Optional<String> user) throws IOException {
    if (user.isEmpty() || !isRoot()) {
      return;
    }
    String name = user.get().split(":", 2)[0];
    try {
      Files.getFileAttributeView(workspace, PosixFileAttributeView.class)
          .setOwner(
              workspace
                  .getFileSystem()
                  .getUserPrincipalLookupService()
                  .lookupPrincipalByName(name));
    } catch (UserPrincipalNotFoundException e) {
      throw Fault.of(
              ErrorCode.USER_NOT_FOUND,
              "user " + name + " does not exist on this machine",
              "omit user, or name a user in /etc/passwd")
          .exception(e);
    }
  }
}
