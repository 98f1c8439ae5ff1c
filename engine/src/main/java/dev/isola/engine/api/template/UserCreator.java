package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import java.util.Optional;

/**
 * Creates a user in the sandbox of a build, for images without the user that clients expect. Files
 * are changed inside the sandbox, so links of a hostile image lead nowhere else, and the image
 * needs no program for it.
 */
final class UserCreator {
  private static final String PASSWD = "/etc/passwd";
  private static final String GROUP = "/etc/group";
  private static final String SHADOW = "/etc/shadow";
  private static final String BASH = "/bin/bash";
  private static final int MAX_BYTES = 4 << 20;
  private static final int FOLDER_MODE = 0755;

  /** The folder in which the guest agent installs {@code sudo}. */
  private static final String SUDO_FOLDER = "/usr/local/bin";

  private final FileSystem files;

  UserCreator(Sandbox sandbox) {
    // By number, because the image may not even have the user root.
    files = sandbox.files().as(FileUser.rootFor("0:0"));
  }

  /**
   * Creates the user unless there is one of that name.
   *
   * @return whether it was created
   * @throws SandboxException with {@code BUILD_FAILED} if the image does not allow it
   */
  boolean createIfMissing(String user, String home) {
    try {
      UserDatabase before = new UserDatabase(read(PASSWD).orElse(""), read(GROUP).orElse(""));
      if (before.contains(user)) {
        return false;
      }
      create(before, user, home);
      return true;
    } catch (SandboxException e) {
      boolean ofImage = e.category() == Category.CALLER || e.code() == ErrorCode.RESOURCE_LIMIT;
      if (!ofImage) {
        throw e;
      }
      throw Fault.of(
              ErrorCode.BUILD_FAILED,
              "the image has no user '"
                  + user
                  + "', and it cannot be created: "
                  + e.fault().problem(),
              "use an image with an ordinary /etc/passwd and /etc/group")
          .exception(e);
    }
  }

  private void create(UserDatabase before, String user, String home) {
    UserDatabase after = before.with(user, home, hasBash() ? BASH : "/bin/sh");
    files.makeFolder("/etc", FOLDER_MODE);
    files.makeFolder(SUDO_FOLDER, FOLDER_MODE);
    files.makeFolder(home, FOLDER_MODE);
    files.changeOwner(home, after.ids(user).orElseThrow());
    Optional<String> shadow = read(SHADOW);
    if (shadow.isPresent()) {
      String separator = shadow.get().isEmpty() || shadow.get().endsWith("\n") ? "" : "\n";
      write(SHADOW, shadow.get() + separator + user + ":*::0:99999:7:::\n");
    }
    write(GROUP, after.group());
    write(PASSWD, after.passwd()); // last, because it makes the user exist
  }

  private boolean hasBash() {
    return stat(BASH).filter(file -> file.type() == FileType.FILE).isPresent();
  }

  /** Reads a file whose bytes need not be text; empty if there is none. */
  private Optional<String> read(String path) {
    try {
      return Optional.of(files.readText(path, ISO_8859_1, MAX_BYTES));
    } catch (NotFound missing) {
      if (missing.code() == ErrorCode.FILE_NOT_FOUND) {
        return Optional.empty();
      }
      throw missing;
    }
  }

  /** Writes a file; one that exists keeps its owner. */
  private void write(String path, String content) {
    Optional<FileInfo> before = stat(path);
    FileInfo _ = files.writeText(path, content, ISO_8859_1);
    before.ifPresent(file -> files.changeOwner(path, file.uid() + ":" + file.gid()));
  }

  private Optional<FileInfo> stat(String path) {
    try {
      return Optional.of(files.stat(path));
    } catch (NotFound missing) {
      return Optional.empty();
    }
  }
}
