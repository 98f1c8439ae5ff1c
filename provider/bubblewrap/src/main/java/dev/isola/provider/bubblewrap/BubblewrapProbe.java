package dev.isola.provider.bubblewrap;

import dev.isola.link.local.UserNamespaceRestriction;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Probes whether bubblewrap is installed and can create namespaces. */
final class BubblewrapProbe {
  private static final String INSTALL = "install bubblewrap (apt-get install bubblewrap)";
  private static final List<String> PROBE =
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

  private record Result(boolean found, boolean ok, String text) {}

  private BubblewrapProbe() {}

  static Prerequisite program() {
    Result result = run(List.of("bwrap", "--version"));
    return new Prerequisite(
        "bwrap",
        true,
        result.ok(),
        result.ok() || result.found() ? result.text() : "not found",
        result.ok() ? "" : INSTALL);
  }

  static Prerequisite namespaces() {
    Result result = run(PROBE);
    return new Prerequisite(
        "user, pid and network namespaces",
        true,
        result.ok(),
        result.ok() ? "available" : result.text(),
        result.ok() ? "" : result.found() ? UserNamespaceRestriction.detect().remedy() : INSTALL);
  }

  static Health health() {
    Result result = run(PROBE);
    if (result.ok()) {
      return new Health.Healthy("bwrap can create namespaces");
    }
    return result.found()
        ? new Health.Unhealthy(
            "bwrap cannot create namespaces: " + result.text(),
            UserNamespaceRestriction.detect().remedy())
        : new Health.Unhealthy("bwrap is not installed", INSTALL);
  }

  private static Result run(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.directory(Path.of("/").toFile());
    try {
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          return new Result(true, false, "no answer within 5 s");
        }
        byte[] text = process.getInputStream().readNBytes(400);
        return new Result(
            true, process.exitValue() == 0, new String(text, StandardCharsets.UTF_8).strip());
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return new Result(false, false, "not probed: bwrap is not installed");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Result(true, false, "interrupted");
    }
  }
}
