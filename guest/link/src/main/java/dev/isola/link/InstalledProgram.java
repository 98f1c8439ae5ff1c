package dev.isola.link;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One of the guest's executables in its folder. What is in it is looked at once, whether it is
 * there each time: unpacking a megabyte for every sandbox takes longer than booting one.
 */
public final class InstalledProgram {
  private final Path folder;
  private final UnaryOperator<Path> install;
  private volatile @Nullable Path known;

  private InstalledProgram(Path folder, UnaryOperator<Path> install) {
    this.folder = folder;
    this.install = install;
  }

  public static InstalledProgram agent(Path folder) {
    return new InstalledProgram(folder, AgentBinary::install);
  }

  public static InstalledProgram launcher(Path folder) {
    return new InstalledProgram(folder, AgentBinary::installLauncher);
  }

  /**
   * Returns the executable, put in place when it is not.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when that cannot be
   */
  public Path path() {
    Path path = known;
    if (path == null || !Files.isExecutable(path)) {
      path = install.apply(folder);
      known = path;
    }
    return path;
  }
}
