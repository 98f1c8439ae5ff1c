package dev.isola.link;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A packed executable in its folder. What is in it is looked at once, whether it is there each
 * time: unpacking a megabyte for every sandbox takes longer than booting one.
 */
public final class InstalledProgram {
  private final Path folder;
  private final EmbeddedProgram program;
  private volatile @Nullable Path known;

  public InstalledProgram(EmbeddedProgram program, Path folder) {
    this.program = program;
    this.folder = folder;
  }

  public static InstalledProgram agent(Path folder) {
    return new InstalledProgram(AgentBinary.PROGRAM, folder);
  }

  /**
   * Returns the executable, put in place when it is not.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when that cannot be
   */
  public Path path() {
    Path path = known;
    if (path == null || !Files.isExecutable(path)) {
      path = program.install(folder);
      known = path;
    }
    return path;
  }
}
