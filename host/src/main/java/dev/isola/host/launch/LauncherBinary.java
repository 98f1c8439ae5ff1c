package dev.isola.host.launch;

import dev.isola.link.EmbeddedProgram;
import dev.isola.link.InstalledProgram;
import java.nio.file.Path;

/** The executable of the launcher, packaged in the jar of the host module. */
public final class LauncherBinary {
  private static final EmbeddedProgram PROGRAM =
      new EmbeddedProgram("launcher", "host/launcher", "META-INF/isola/host", "isola-launch");

  private LauncherBinary() {}

  /**
   * Installs the launcher in {@code folder}.
   *
   * @see PackedProgram#install
   */
  public static Path install(Path folder) {
    return PROGRAM.install(folder);
  }

  /** Returns the launcher in {@code folder}, which is installed on first use. */
  public static InstalledProgram in(Path folder) {
    return new InstalledProgram(PROGRAM, folder);
  }
}
