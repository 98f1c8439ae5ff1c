package dev.isola.host.launch;

import dev.isola.link.EmbeddedProgram;
import dev.isola.link.InstalledProgram;
import java.nio.file.Path;

/** The launcher's executable, which travels inside the jar of host and runs from a folder. */
public final class LauncherBinary {
  private static final EmbeddedProgram PROGRAM =
      new EmbeddedProgram("launcher", "host/launcher", "META-INF/isola/host", "isola-launch");

  private LauncherBinary() {}

  /**
   * Puts the launcher into {@code folder}.
   *
   * @see EmbeddedProgram#install
   */
  public static Path install(Path folder) {
    return PROGRAM.install(folder);
  }

  /** Returns the launcher in {@code folder}, put in place when it is first asked for. */
  static InstalledProgram in(Path folder) {
    return new InstalledProgram(PROGRAM, folder);
  }
}
