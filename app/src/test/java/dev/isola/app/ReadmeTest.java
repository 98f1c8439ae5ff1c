package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the HTTP example of the README, pasted into a shell as one block. */
class ReadmeTest {
  private static final long TIMEOUT_SECONDS = 180;

  @TempDir Path folder;

  private static String block() throws IOException {
    Matcher block =
        Pattern.compile("(?s)### The same over HTTP\n\n```sh\n(.*?)```")
            .matcher(Files.readString(Path.of("..", "README.md")));
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Creates the command in place of the launcher, which would build first. */
  private void command() throws IOException {
    Path script = folder.resolve("isola");
    Files.writeString(
        script,
        """
        #!/bin/sh
        exec '%s' --enable-native-access=ALL-UNNAMED -Dslf4j.internal.verbosity=ERROR \
          -XX:TieredStopAtLevel=1 -cp '%s' dev.isola.app.Main "$@"
        """
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path")));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Test
  void httpExampleRuns() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")), "curl is not installed");
    command();
    int port = freePort();
    String block = block();
    assertThat(block).contains("7777");
    Path pasted =
        Files.writeString(
            folder.resolve("pasted"),
            block.replace("7777", Integer.toString(port)));
    ProcessBuilder builder =
        new ProcessBuilder("bash")
            .directory(folder.toFile())
            .redirectInput(pasted.toFile())
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_DATA", folder.resolve("data").toString());
    builder.environment().put("ISOLA_FLOOR", "process");
    builder.environment().put("ISOLA_PROVIDER", "subprocess");
    Process shell = builder.start();
    try {
      assertThat(shell.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
      String out = Files.readString(folder.resolve("out"));
      assertThat(shell.exitValue()).as(out).isZero();
      assertThat(out.lines().toList())
          .as(out)
          .satisfiesExactly(
              exec -> assertThat(exec).contains("\"stdout\":\"3\\n\"", "\"exitCode\":0"),
              file -> assertThat(file).isEqualTo("3"),
              end -> assertThat(end).isEmpty(),
              end -> assertThat(end).isEmpty());
      assertThat(Files.readString(folder.resolve("err")))
          .as("every request was answered as it should")
          .doesNotContain("\"status\":4", "\"status\":5", "curl:");
    } finally {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
  }
}
