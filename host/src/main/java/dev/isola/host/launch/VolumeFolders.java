package dev.isola.host.launch;

import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * The named volumes of an instance, shared by its isolated providers. If disks are available, a
 * volume is a disk that is mounted only in sandboxes; otherwise, or if it already has files from a
 * time without disks, it is a folder. Only the server has access to either.
 */
final class VolumeFolders implements Volumes {
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path plain;
  private final Path withDisk;
  private final Disks disks;

  /**
   * @param shared the folder shared by the providers of an instance
   */
  VolumeFolders(Path shared, Disks disks) {
    this.plain = shared.resolve("volumes");
    this.withDisk = shared.resolve("volume-disks");
    this.disks = disks;
  }

  /**
   * Adds the steps that provide the files of a volume and returns their path. Creates the volume if
   * it is missing.
   *
   * @param megabytes the size of a new disk
   */
  Path plan(LaunchPlan plan, String name, long megabytes) throws IOException {
    if (!hasDisk(name)) {
      return createPlain(name);
    }
    Path own = withDisk.resolve(name);
    Path mount = createMountPoint(name);
    disks.planVolume(plan, own.resolve("disk"), mount, megabytes);
    Path files = mount.resolve("files"); // the root of the file system also has lost+found
    plan.step("make", files.toString(), "755", "0", "0");
    return files;
  }

  private boolean hasDisk(String name) throws IOException {
    return disks.available() && isEmpty(plain.resolve(name));
  }

  private Path createPlain(String name) throws IOException {
    Path folder = plain.resolve(name);
    Files.createDirectories(plain, OWNER_ONLY);
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(folder);
    }
    return folder;
  }

  private Path createMountPoint(String name) throws IOException {
    Path mount = withDisk.resolve(name).resolve("mount");
    Files.createDirectories(mount, OWNER_ONLY);
    return mount;
  }

  @Override
  public void create(String name) {
    requireValidName(name);
    try {
      if (hasDisk(name)) {
        createMountPoint(name);
      } else {
        createPlain(name);
      }
    } catch (IOException e) {
      throw failed("created", name, e);
    }
  }

  @Override
  public List<String> list() {
    TreeSet<String> names = new TreeSet<>();
    for (Path folder : List.of(plain, withDisk)) {
      if (Files.isDirectory(folder)) {
        try (DirectoryStream<Path> found =
            Files.newDirectoryStream(
                folder, entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))) {
          found.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        } catch (IOException e) {
          throw failed("listed", "of " + folder, e);
        }
      }
    }
    return new ArrayList<>(names);
  }

  @Override
  public void destroy(String name) {
    requireValidName(name);
    try {
      TreeRemoval.remove(withDisk.resolve(name));
      TreeRemoval.remove(plain.resolve(name));
    } catch (IOException e) {
      throw failed("destroyed", name, e);
    }
  }

  private static void requireValidName(String name) {
    if (!VolumeMount.isValidName(name)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + name + "' is not a valid volume name",
              "use at most 128 letters, digits, . _ and -")
          .exception();
    }
  }

  private static SandboxException failed(String what, String name, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "volume " + name + " cannot be " + what + ": " + e.getMessage(),
            "make the data folder writable, then try again")
        .exception(e);
  }

  private static boolean isEmpty(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return true;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return !entries.iterator().hasNext();
    }
  }
}
