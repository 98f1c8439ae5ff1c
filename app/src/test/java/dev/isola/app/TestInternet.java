package dev.isola.app;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Runs {@code testing/egress-here.sh} with the Isola of this build. */
final class TestInternet {
  private static final Path SCRIPT =
      Path.of("../testing/egress-here.sh").toAbsolutePath().normalize();

  private TestInternet() {}

  /** Not run without root, bubblewrap or the programs of the internet. */
  static ProgramResult run(Path folder, Duration timeout, String... arguments)
      throws IOException, InterruptedException {
    if (!System.getProperty("user.name").equals("root")) {
      abort("NOT RUN: a network namespace with its own internet needs root here");
    }
    for (String program : List.of("unshare", "ip", "python3", "openssl", "curl", "setpriv")) {
      if (!isInstalled(program)) {
        abort("NOT RUN: " + program + " is not installed");
      }
    }
    E2bSdkFixture.unhealthy(folder)
        .ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
    IsolaScript.addTo(folder);
    String[] command = new String[arguments.length + 1];
    command[0] = SCRIPT.toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return ProgramResult.run(
        folder, Map.of("ISOLA", folder.resolve("isola").toString()), timeout, command);
  }

  private static boolean isInstalled(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin";
    return List.of(path.split(":")).stream()
        .anyMatch(one -> !one.isEmpty() && Files.isExecutable(Path.of(one, program)));
  }
}
