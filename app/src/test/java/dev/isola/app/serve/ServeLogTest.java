package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.Console;
import dev.isola.engine.config.LogFormat;
import dev.isola.server.AccessLog;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** O12: the log is text on a terminal and JSON elsewhere, unless configured. */
class ServeLogTest {
  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-01-02T03:04:05Z"));
  private static final AccessLog.Line REQUEST =
      new AccessLog.Line("abc", "POST", "/api/v1/sandboxes", 201, 12, "first");

  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private CliEnvironment host(boolean terminal, Map<String, String> env) {
    return new CliEnvironment(
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        err,
        new CliEnvironment.TtyStatus(false, false, terminal),
        env,
        List.of());
  }

  private String written(boolean terminal, LogFormat format, Map<String, String> env) {
    CliEnvironment host = host(terminal, env);
    ServeLog log = ServeLog.open(host, CLOCK, format, Console.forStderr(host, "auto"));
    log.warning("mind the gap");
    log.write(REQUEST);
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void terminalGetsColoredText() {
    assertThat(written(true, LogFormat.AUTO, Map.of()))
        .contains("\u001b[33mwarning: \u001b[0mmind the gap\n")
        .contains("\u001b[32m201\u001b[0m POST /api/v1/sandboxes")
        .contains("12 ms, key first, request abc")
        .doesNotContain("{");
  }

  @Test
  void noColorDisablesColor() {
    assertThat(written(true, LogFormat.AUTO, Map.of("NO_COLOR", "1")))
        .contains("  warning: mind the gap\n", "  201 POST /api/v1/sandboxes  12 ms")
        .doesNotContain("\u001b");
  }

  @Test
  void otherOutputsGetJson() {
    assertThat(written(false, LogFormat.AUTO, Map.of()).lines())
        .containsExactly(
            "{\"at\":\"2026-01-02T03:04:05Z\",\"level\":\"warning\",\"message\":\"mind the gap\"}",
            "{\"at\":\"2026-01-02T03:04:05Z\",\"level\":\"request\",\"method\":\"POST\","
                + "\"route\":\"/api/v1/sandboxes\",\"status\":201,\"ms\":12,"
                + "\"requestId\":\"abc\",\"key\":\"first\"}");
  }

  @Test
  void configurationOverridesTheFormat() {
    assertThat(written(true, LogFormat.JSON, Map.of())).startsWith("{");
    err.reset();
    assertThat(written(false, LogFormat.TEXT, Map.of()))
        .contains("warning: mind the gap")
        .doesNotContain("{", "\u001b");
  }

  @Test
  void sandboxTextCannotControlTheTerminal() {
    CliEnvironment host = host(true, Map.of());
    LogLayout layout = new TextLogLayout(Console.forStderr(host, "never"), ZoneOffset.UTC);
    assertThat(
            layout.message(
                CLOCK.instant(), "info", "failed: \u001b]0;owned\u0007\r\n03:04:06  201 GET /\n"))
        .isEqualTo("03:04:05  failed: ?]0;owned??\n          03:04:06  201 GET /");
  }
}
