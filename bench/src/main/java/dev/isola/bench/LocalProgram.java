package dev.isola.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs local programs. */
final class LocalProgram {
  private static final long TIMEOUT_SECONDS = 60;
  private static final int MAX_OUTPUT = 400;

  private LocalProgram() {}

  static boolean isInstalled(String name) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    for (String folder : path.split(":")) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, name))) {
        return true;
      }
    }
    return false;
  }

  /**
   * @throws IOException if the program is not installed
   */
  static void requireInstalled(String name) throws IOException {
    if (!isInstalled(name)) {
      throw new IOException("not installed");
    }
  }

  /** Runs a program that must succeed without output. */
  static void run(String... arguments) throws IOException, InterruptedException {
    String printed = output(List.of(arguments));
    if (!printed.isEmpty()) {
      throw new IOException(String.join(" ", arguments) + " printed: " + printed.strip());
    }
  }

  /**
   * Runs a program that must succeed. A failure reports its output. The method does not wait for
   * output of processes that the program leaves running.
   *
   * @param environment variables to add to the current environment
   */
  static void run(Map<String, String> environment, List<String> arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(arguments).redirectErrorStream(true);
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(
            String.join(" ", arguments) + " took longer than " + TIMEOUT_SECONDS + " s");
      }
      if (process.exitValue() != 0) {
        throw new IOException(
            arguments.getFirst()
                + " exited with "
                + process.exitValue()
                + ": "
                + outputOf(process));
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static String outputOf(Process process) throws IOException {
    InputStream in = process.getInputStream();
    byte[] arguments = in.readNBytes(Math.min(in.available(), MAX_OUTPUT));
    return singleLine(new String(arguments, StandardCharsets.UTF_8));
  }

  private static String singleLine(String printed) {
    return printed.strip().replaceAll("\\s+", " ");
  }

  /** Runs a cleanup program. A failure prints what remains. */
  static void cleanUp(Map<String, String> environment, List<String> arguments) {
    try {
      run(environment, arguments);
    } catch (IOException e) {
      throw new IllegalStateException(
          String.join(" ", arguments) + " failed, so something remains: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs a program that must succeed and returns its output. */
  static String output(List<String> arguments) throws IOException, InterruptedException {
    return output(Map.of(), arguments);
  }

  static String output(Map<String, String> environment, List<String> arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(arguments).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = process.waitFor();
      if (code != 0) {
        throw new IOException(
            arguments.getFirst() + " exited with " + code + ": " + singleLine(printed));
      }
      return printed;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Waits for a program that must succeed. */
  static void await(Process process) throws IOException, InterruptedException {
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException("a program exited with " + code);
    }
  }
}
