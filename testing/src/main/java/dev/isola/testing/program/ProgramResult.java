package dev.isola.testing.program;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Exit code and output of a program. */
public record ProgramResult(int code, String output) {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** Runs a program, for two minutes at most. */
  public static ProgramResult run(Path folder, Map<String, String> env, String... command)
      throws IOException, InterruptedException {
    return run(folder, env, TIMEOUT, command);
  }

  /**
   * Runs a program. After the timeout it is killed, and its exit code is -1.
   *
   * @param env environment variables in addition to those of the test
   */
  public static ProgramResult run(
      Path folder, Map<String, String> env, Duration timeout, String... command)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("isola-program", ".txt");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().putAll(env);
      Process process = builder.start();
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
        return new ProgramResult(-1, "took too long\n" + text(output));
      }
      return new ProgramResult(process.exitValue(), text(output));
    } finally {
      Files.delete(output);
    }
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }
}
