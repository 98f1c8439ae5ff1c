package dev.isola.testing.program;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The command {@code isola} for a test: a class path instead of a build. */
public final class IsolaScript {
  private IsolaScript() {}

  /** Writes the script to a folder, with the class path of the test. */
  public static void addTo(Path folder) throws IOException {
    addTo(folder, System.getProperty("java.class.path"));
  }

  /** Writes the script {@code isola} to a folder. The flags are those of the launcher. */
  public static void addTo(Path folder, String classPath) throws IOException {
    Path script = folder.resolve("isola");
    Files.writeString(
        script,
        """
        #!/bin/sh
        exec '%s' --enable-native-access=ALL-UNNAMED -Xlog:disable -Dslf4j.internal.verbosity=ERROR \
          -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '%s' dev.isola.app.Main "$@"
        """
            .formatted(Path.of(System.getProperty("java.home"), "bin", "java"), classPath));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
