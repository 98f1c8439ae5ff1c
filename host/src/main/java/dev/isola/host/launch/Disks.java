package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The disks of sandboxes: file systems of the requested size, each in an image file on the host
 * that is mounted only where the sandbox's processes can see it. The kernel enforces the limits on
 * bytes and files.
 */
final class Disks {
  /** Mount options of a sandbox's disk; see disk.h. */
  private static final String OPTIONS = "noinit_itable,nobarrier";

  /** Volumes must survive a power failure and return freed space to the host. */
  private static final String VOLUME_OPTIONS = "noinit_itable,discard";

  private static final String NAME = "disk limit";
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long MEGABYTE = 1 << 20;

  private final Path folder;
  private final Launcher launcher;
  private final DiskImageCache images;
  private final ReentrantLock lock = new ReentrantLock();

  /** Why disks are not available; empty if they are, null before the first probe. */
  private volatile @Nullable String obstacle;

  /**
   * @param folder the folder of the image cache
   */
  Disks(Path folder, Launcher launcher) {
    this.folder = folder;
    this.launcher = launcher;
    this.images = new DiskImageCache(folder);
  }

  /** Reports whether the host supports disks for sandboxes; probes once. */
  boolean available() {
    return obstacle().isEmpty();
  }

  /** Returns why disks are not available; empty if they are. */
  Optional<String> obstacle() {
    String known = obstacle;
    if (known == null) {
      lock.lock();
      try {
        known = obstacle;
        if (known == null) {
          known = findObstacle();
          obstacle = known;
        }
      } finally {
        lock.unlock();
      }
    }
    return Optional.of(known).filter(why -> !why.isEmpty());
  }

  /** Returns the line of {@code isola doctor}. */
  Prerequisite prerequisite() {
    return obstacle()
        .map(
            why ->
                new Prerequisite(
                    NAME,
                    false,
                    false,
                    why,
                    "run as root, with loop devices and mkfs.ext4 (apt-get install e2fsprogs)"))
        .orElseGet(() -> new Prerequisite(NAME, false, true, "a file system for each sandbox", ""));
  }

  private String findObstacle() {
    if (!SandboxUserIds.rangesAvailable()) {
      return "only root can mount a disk";
    }
    if (!Files.exists(Path.of("/dev/loop-control"))) {
      return "loop devices are not available (/dev/loop-control)";
    }
    try {
      probe();
      return "";
    } catch (IOException | SandboxException e) {
      return "a disk cannot be mounted: " + e.getMessage();
    }
  }

  /** Mounts a test disk, unless that has succeeded since the host booted. */
  private void probe() throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    Path done = folder.resolve("probed");
    if (Files.exists(done) && Files.readString(done).equals(boot)) {
      return;
    }
    Path model = images.of(new DiskSize(1, false));
    Path probeFolder = Files.createTempDirectory(folder, "probe-");
    try {
      Path image = probeFolder.resolve("disk");
      Path mount = Files.createDirectory(probeFolder.resolve("mount"));
      LaunchPlan plan =
          new LaunchPlan()
              .step("disk", image.toString(), model.toString(), mount.toString(), OPTIONS)
              .step("make", mount.resolve("folder").toString(), "755", "0", "0")
              .step("remove", mount.resolve("folder").toString());
      expectDone(launcher.execute(plan.encode(), TIMEOUT));
    } finally {
      new SandboxFolder(probeFolder).remove();
    }
    Files.writeString(done, boot);
  }

  private static void expectDone(String answer) throws IOException {
    if (!answer.equals("done")) {
      throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
    }
  }

  /** Adds the step that mounts a sandbox's disk, creating it if necessary. */
  void plan(LaunchPlan plan, WritableLayer layer, long megabytes) throws IOException {
    add(plan, layer.image(), new DiskSize(capToHost(megabytes), false), layer.path(), OPTIONS);
  }

  /**
   * Adds the step that mounts a volume's disk. A new one gets the size of the first sandbox that
   * uses it.
   */
  void planVolume(LaunchPlan plan, Path image, Path mount, long megabytes) throws IOException {
    add(plan, image, new DiskSize(capToHost(megabytes), true), mount, VOLUME_OPTIONS);
  }

  private void add(LaunchPlan plan, Path image, DiskSize size, Path mount, String options)
      throws IOException {
    String model = Files.exists(image) ? "" : images.of(size).toString();
    plan.step("disk", image.toString(), model, mount.toString(), options);
  }

  /** Limits a size to that of the host's file system. */
  private long capToHost(long megabytes) throws IOException {
    return Math.min(megabytes, Math.max(1, Files.getFileStore(folder).getTotalSpace() / MEGABYTE));
  }

  /** Adds the step that mounts a disk if it exists. */
  static void mount(LaunchPlan plan, Path image, Path mount) {
    if (Files.exists(image)) {
      plan.step("disk", image.toString(), "", mount.toString(), OPTIONS);
    }
  }

  /** Removes files from a disk with other users; a disk without them is deleted as a whole. */
  void remove(Path image, Path mount, List<String> within) throws IOException {
    if (!isShared(image)) {
      return;
    }
    LaunchPlan plan = new LaunchPlan();
    mount(plan, image, mount);
    List<String> words =
        new ArrayList<>(within.stream().map(path -> mount.resolve(path).toString()).toList());
    words.addFirst("remove");
    expectDone(launcher.execute(plan.add(words).encode(), TIMEOUT));
  }

  private static boolean isShared(Path image) throws IOException {
    try {
      return (Integer) Files.getAttribute(image, "unix:nlink") > 1;
    } catch (NoSuchFileException none) {
      return false;
    }
  }
}
