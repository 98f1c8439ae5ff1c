package dev.isola.provider.bubblewrap;

import dev.isola.link.local.UserNamespaces;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Finds out whether bubblewrap is there and may do what it has to, by trying. */
final class BubblewrapProbe {
  private static final String INSTALL = "install bubblewrap (apt-get install bubblewrap)";
  private static final List<String> TRIAL =
      List.of(
          "bwrap",
          "--unshare-user",
          "--unshare-pid",
          "--unshare-net",
          "--ro-bind",
          "/",
          "/",
          "--proc",
          "/proc",
          "--dev",
          "/dev",
          "true");

  private record Answer(boolean found, boolean ok, String text) {}

  private BubblewrapProbe() {}

  static Prerequisite program() {
    Answer answer = ask(List.of("bwrap", "--version"));
    return new Prerequisite(
        "bwrap",
        true,
        answer.ok(),
        answer.ok() || answer.found() ? answer.text() : "not found",
        answer.ok() ? "" : INSTALL);
  }

  static Prerequisite namespaces() {
    Answer answer = ask(TRIAL);
    return new Prerequisite(
        "user, pid and network namespaces",
        true,
        answer.ok(),
        answer.ok() ? "to be had" : answer.text(),
        answer.ok() ? "" : answer.found() ? UserNamespaces.obstacle().remedy() : INSTALL);
  }

  static Health health() {
    Answer answer = ask(TRIAL);
    if (answer.ok()) {
      return new Health.Healthy("bwrap made namespaces");
    }
    return answer.found()
        ? new Health.Unhealthy(
            "bwrap cannot make namespaces: " + answer.text(), UserNamespaces.obstacle().remedy())
        : new Health.Unhealthy("bwrap is not installed", INSTALL);
  }

  private static Answer ask(List<String> words) {
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.directory(Path.of("/").toFile());
    try {
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          return new Answer(true, false, "it did not answer within 5 s");
        }
        byte[] text = process.getInputStream().readNBytes(400);
        return new Answer(
            true, process.exitValue() == 0, new String(text, StandardCharsets.UTF_8).strip());
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return new Answer(false, false, "not tried: bwrap is not installed");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer(true, false, "interrupted");
    }
  }
}
