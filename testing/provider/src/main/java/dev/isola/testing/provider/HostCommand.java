package dev.isola.testing.provider;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;

/** Runs a program on the host and waits for it. */
final class HostCommand {
  private HostCommand() {}

  static void run(List<String> words) throws IOException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String said = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(words + " failed: " + said.strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(words + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }
}
