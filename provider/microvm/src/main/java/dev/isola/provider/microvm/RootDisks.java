package dev.isola.provider.microvm;

import dev.isola.codec.process.ProgramRun;
import dev.isola.host.image.Image;
import dev.isola.host.launch.HostProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Images as read-only disks, made once for each content. */
public final class RootDisks {
  /** The program that makes them, and its Debian package. */
  public static final String PROGRAM = "mkfs.erofs";

  public static final String PACKAGE = "erofs-utils";
  private static final int KEPT = 16;
  private static final Duration TIMEOUT = Duration.ofMinutes(10);
  private static final String PREFIX = "root-";

  private final CachedFiles files;

  /**
   * @param folder where the disks are kept
   */
  public RootDisks(Path folder) {
    this.files = new CachedFiles(folder);
  }

  /** Returns the disk of an image. */
  public Path of(Image image) throws IOException {
    String key = ContentKey.of(image.digest(), Boolean.toString(image.ownersKept()));
    Path disk = files.get(PREFIX + key + ".erofs", target -> make(image, target));
    files.retain(KEPT, PREFIX);
    return disk;
  }

  /** Removes disks that killed processes have left unfinished. */
  public void removeAbandoned() throws IOException {
    files.removeAbandoned();
  }

  private static void make(Image image, Path target) throws IOException {
    HostProgram program =
        HostProgram.find(PROGRAM)
            .orElseThrow(
                () -> new IOException(PROGRAM + " is not installed (package " + PACKAGE + ")"));
    List<String> words = new ArrayList<>(List.of(program.path().toString(), "--quiet"));
    if (!image.ownersKept()) {
      words.add("--all-root");
    }
    words.addAll(List.of(target.toString(), image.rootfs().toString()));
    ProgramRun.Result result = ProgramRun.of(words).run(TIMEOUT);
    if (!result.succeeded()) {
      List<String> lines = result.output().strip().lines().toList();
      throw new IOException(
          PROGRAM + " failed: " + (lines.isEmpty() ? result.code() : lines.getLast()));
    }
  }
}
