package dev.isola.link;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An embedded executable installed in a folder. Verifies the content once and only its presence on
 * each later call: unpacking a megabyte for every sandbox would take longer than booting one.
 */
public final class InstalledProgram {
  private final Path folder;
  private final EmbeddedProgram program;
  private volatile @Nullable Path cached;

  public InstalledProgram(EmbeddedProgram program, Path folder) {
    this.program = program;
    this.folder = folder;
  }

  public static InstalledProgram agent(Path folder) {
    return new InstalledProgram(AgentBinary.PROGRAM, folder);
  }

  /**
   * Returns the executable, installing it if necessary.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when it cannot be installed
   */
  public Path path() {
    Path path = cached;
    if (path == null || !Files.isExecutable(path)) {
      path = program.install(folder);
      cached = path;
    }
    return path;
  }
}
