package dev.isola.app.cli;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The folder that keeps state between runs: the instance id and one folder for each provider. */
public final class DataFolder {
  /** Others may pass through to a workspace that is theirs, and see nothing on the way. */
  private static final Set<PosixFilePermission> PASSAGE =
      PosixFilePermissions.fromString("rwx--x--x");

  /** A provider whose commands may be another user's opens the way to them itself. */
  private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rwx------");

  private final Path path;
  private @Nullable InstanceId instance;

  public DataFolder(Path path) {
    this.path = path;
  }

  /** Takes {@code --data}, then the environment, then the place the system has for it. */
  static DataFolder resolve(@Nullable String option, Map<String, String> env) {
    return new DataFolder(
        path(option, env, System.getProperty("user.name")).toAbsolutePath().normalize());
  }

  public static Path path(@Nullable String option, Map<String, String> env, String user) {
    if (option != null && !option.isEmpty()) {
      return Path.of(option);
    }
    String chosen = env.getOrDefault("ISOLA_DATA", "");
    if (!chosen.isEmpty()) {
      return Path.of(chosen);
    }
    if (user.equals("root")) {
      return Path.of("/var/lib/isola");
    }
    String state = env.getOrDefault("XDG_STATE_HOME", "");
    if (state.startsWith("/")) {
      return Path.of(state, "isola");
    }
    String home = env.getOrDefault("HOME", System.getProperty("user.home"));
    return Path.of(home, ".local", "state", "isola");
  }

  public Path path() {
    return path;
  }

  /** Returns the folder itself, made when missing. */
  public Path createIfMissing() {
    try {
      return ensure(path, PASSAGE);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Returns the provider's own folder, made when missing. */
  public Path providerFolder(String provider) {
    try {
      Path folder = ensure(path, PASSAGE);
      for (Path name : Path.of(provider)) {
        folder = ensure(folder.resolve(name), OWN);
      }
      return folder;
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Returns the id of this installation; the first to ask makes it, and all others see that one.
   */
  public InstanceId instance() {
    InstanceId known = instance;
    if (known == null) {
      try {
        known = readOrMake(ensure(path, PASSAGE).resolve("instance"));
      } catch (IOException e) {
        throw unusable(e);
      }
      instance = known;
    }
    return known;
  }

  private static InstanceId readOrMake(Path file) throws IOException {
    try {
      return read(file);
    } catch (NoSuchFileException e) {
      // A link is made whole or not at all, and never replaces: of two at once, one wins.
      Path mine = Files.createTempFile(file.getParent(), ".instance", "");
      try {
        Files.writeString(mine, SandboxId.random(KernelRandom.open()) + "\n");
        Files.createLink(file, mine);
      } catch (FileAlreadyExistsException other) {
        // read below
      } finally {
        Files.delete(mine);
      }
      return read(file);
    }
  }

  private static InstanceId read(Path file) throws IOException {
    String text = Files.readString(file).strip();
    if (!SandboxId.isValid(text)) {
      throw new IOException(
          file + " does not hold an instance id; remove it if no sandbox is left");
    }
    return new InstanceId(text);
  }

  private static Path ensure(Path folder, Set<PosixFilePermission> rights) throws IOException {
    if (!Files.isDirectory(folder)) {
      Path parent = folder.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      FileAttribute<?> mode = PosixFilePermissions.asFileAttribute(rights);
      try {
        Files.createDirectory(folder, mode);
      } catch (FileAlreadyExistsException e) {
        if (!Files.isDirectory(folder)) {
          throw e;
        }
      }
    }
    return folder;
  }

  private SandboxException unusable(IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the data folder " + path + " cannot be used: " + IoErrors.describe(cause),
            "choose another with --data or ISOLA_DATA")
        .with("folder", path.toString())
        .exception(cause);
  }
}
