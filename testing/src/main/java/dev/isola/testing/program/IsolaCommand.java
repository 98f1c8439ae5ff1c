package dev.isola.testing.program;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of {@code isola} as a JVM of its own, on the class path of the test. */
public final class IsolaCommand {
  /** Providers that a server probes when it starts, which takes seconds of processor time. */
  private static final List<String> PROBED =
      List.of("bubblewrap", "crun", "docker", "docker-gvisor", "gvisor", "podman", "qemu", "runc");

  private IsolaCommand() {}

  /** Returns the command with {@code arguments}; the flags are those of the launcher. */
  public static List<String> of(String... arguments) {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main"));
    words.addAll(List.of(arguments));
    return words;
  }

  /** Returns settings that disable the providers of this machine, except for those named. */
  public static List<String> onlyProviders(String... names) {
    List<String> settings = new ArrayList<>();
    for (String provider : PROBED) {
      if (!List.of(names).contains(provider)) {
        settings.addAll(List.of("--set", "providers." + provider + ".enabled=false"));
      }
    }
    return settings;
  }
}
