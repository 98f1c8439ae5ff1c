package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Runs programs of this machine. */
final class Commands {
  private Commands() {}

  /** Runs a program and returns its output; fails with it if the exit status is not 0. */
  static String run(Path folder, List<String> command) throws IOException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (await(process) != 0) {
      throw new IOException(String.join(" ", command) + ": " + output.strip());
    }
    return output;
  }

  static int await(Process process) throws IOException {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
