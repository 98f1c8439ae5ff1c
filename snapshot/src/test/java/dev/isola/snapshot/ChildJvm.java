package dev.isola.snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts a separate JVM that a test kills. */
final class ChildJvm {
  private ChildJvm() {}

  /**
   * Prepares a process.
   *
   * @param folder the folder for files that the killed process cannot remove
   */
  static ProcessBuilder of(Path folder, Class<?> main, String... words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command(folder, main, words));
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  static List<String> command(Path folder, Class<?> main, String... words) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-Djava.io.tmpdir=" + Files.createDirectories(folder.resolve("tmp")),
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(List.of(words));
    return command;
  }
}
