package dev.isola.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Programs of this machine. */
final class Tool {
  private Tool() {}

  static boolean installed(String name) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    for (String folder : path.split(":")) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, name))) {
        return true;
      }
    }
    return false;
  }

  /** Runs a program that has to succeed. */
  static void run(String... words) throws IOException, InterruptedException {
    String said = output(List.of(words));
    if (!said.isEmpty()) {
      throw new IOException(String.join(" ", words) + " said: " + said.strip());
    }
  }

  /** Runs a program that has to succeed, and returns what it writes. */
  static String output(List<String> words) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = process.waitFor();
      if (code != 0) {
        throw new IOException(words.getFirst() + " ended with " + code + ": " + said.strip());
      }
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Waits for a program that has to succeed. */
  static void await(Process process) throws IOException, InterruptedException {
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException("a program ended with " + code);
    }
  }
}
