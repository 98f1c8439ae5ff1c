package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.time.Deadline;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.link.AgentAbsentException;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A sandbox that ends while the server connects to its agent through the engine is reported as
 * ended, not as a slow engine.
 */
@Timeout(60)
class EndedContainerTest {
  private static final String CONTAINER = "0123456789ab";
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static String inspected(boolean running) {
    return StubEngine.response(200, "{\"State\": {\"Running\": " + running + "}}");
  }

  /** Opens a connection to a container whose exec the stub answers as given. */
  private static void open(String exec, String inspect) throws IOException {
    Function<String, String> script = line -> line.contains("/exec ") ? exec : inspect;
    try (StubEngine stub = new StubEngine(script);
        EngineApi engine = new EngineApi(new EngineHttp(stub.address()))) {
      // Short only for silence: a response may take long on a busy machine.
      new ExecConnector(engine, CONTAINER).open(exec.equals(StubEngine.SILENCE) ? SHORT : TIMEOUT);
    }
  }

  @Test
  void endedContainerIsReportedAsAbsent() {
    assertThatThrownBy(() -> open(StubEngine.SILENCE, inspected(false)))
        .isInstanceOf(AgentAbsentException.class)
        .hasMessageContaining("has ended");
    assertThatThrownBy(() -> open(StubEngine.response(409, "{}"), inspected(false)))
        .isInstanceOf(AgentAbsentException.class);
    assertThatThrownBy(
            () ->
                open(
                    StubEngine.response(404, "{}"),
                    StubEngine.response(404, "{\"message\": \"\"}")))
        .isInstanceOf(AgentAbsentException.class);
  }

  @Test
  void unreachableRunningContainerIsNotReportedAsEnded() {
    assertThatThrownBy(() -> open(StubEngine.SILENCE, inspected(true)))
        .isNotInstanceOf(AgentAbsentException.class)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("did not respond to POST");
    String paused = StubEngine.response(409, "{\"message\": \"container is paused\"}");
    assertThatThrownBy(() -> open(paused, inspected(true)))
        .isNotInstanceOf(AgentAbsentException.class)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("paused");
    assertThatThrownBy(() -> open(StubEngine.SILENCE, ""))
        .as("unknown state")
        .isNotInstanceOf(AgentAbsentException.class)
        .isInstanceOf(IOException.class);
  }

  @Test
  void noRequestIsSentAfterTheDeadline() throws IOException {
    try (StubEngine stub = new StubEngine(line -> StubEngine.response(200, "{}"));
        EngineHttp http = new EngineHttp(stub.address())) {
      Deadline over = Deadline.in(Duration.ZERO);
      assertThatThrownBy(() -> http.send(HttpRequest.post("/containers/x/exec"), over))
          .isInstanceOf(DeadlineExceeded.class)
          .hasMessageContaining("ms passed before a request");
      assertThatThrownBy(() -> http.upgrade(HttpRequest.post("/exec/x/start"), over))
          .isInstanceOf(DeadlineExceeded.class);
      assertThat(stub.asked()).isEmpty();
      assertThat(http.send(HttpRequest.get("/_ping"), EngineApi.shortDeadline()).ok()).isTrue();
    }
  }

  private static final String LABELS =
      "\"dev.isola.instance\": \"ending\", \"dev.isola.sandbox\": \"abc\","
          + " \"dev.isola.provider\": \"docker-gvisor\"";
  private static final String UPGRADED =
      "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

  /**
   * Returns the script of an engine that reports a running container, except for what {@code
   * instead} answers.
   */
  private static Function<String, String> running(Function<String, String> instead) {
    String listed =
        "[{\"Id\": \""
            + CONTAINER
            + "\", \"Names\": [\"/isola-ending-abc\"], \"State\": \"running\", \"Created\": 1,"
            + " \"Labels\": {"
            + LABELS
            + "}}]";
    return line -> {
      String special = instead.apply(line);
      if (!special.isEmpty()) {
        return special;
      } else if (line.startsWith("GET /containers/json")) {
        return StubEngine.response(200, listed);
      } else if (line.startsWith("POST /containers/" + CONTAINER + "/exec")) {
        return StubEngine.response(201, "{\"Id\": \"" + CONTAINER + "\"}");
      } else if (line.startsWith("GET /events")) {
        return StubEngine.SILENCE;
      }
      return StubEngine.response(500, "{\"message\": \"not in the script\"}");
    };
  }

  /**
   * Attaches, which must find no sandbox, and returns the number of connection attempts to the
   * agent.
   */
  private static long attach(Function<String, String> script) throws IOException {
    try (StubEngine stub = new StubEngine(script);
        TemporaryFolder data = TemporaryFolder.create("isola-data-");
        Provider provider =
            new DockerGvisorProviderFactory()
                .create(
                    new ProviderConfig(Map.of("host", stub.host())),
                    new ProviderContext(
                        new InstanceId("ending"), data.path(), InstantSource.system()))) {
      assertThat(provider.attach(new SandboxId("abc"))).isEmpty();
      return stub.asked().stream().filter(line -> line.startsWith("POST /exec/")).count();
    }
  }

  /**
   * The engine still reports the container as running and accepts the exec, but the agent no longer
   * responds, as with gVisor. Then the engine reports the end.
   */
  @Test
  void attachToAnEndingContainerFindsNone() throws IOException {
    String died =
        "{\"Action\": \"die\", \"Actor\": {\"Attributes\": {" + LABELS + ", \"name\": \"x\"}}}\n";
    CountDownLatch greeting = new CountDownLatch(1);
    Function<String, String> script =
        running(
            line -> {
              if (line.startsWith("POST /exec/")) {
                greeting.countDown();
                return UPGRADED;
              } else if (line.startsWith("GET /events") && awaited(greeting)) {
                return "HTTP/1.1 200 OK\r\n\r\n" + died;
              }
              return "";
            });
    assertThat(attach(script)).isEqualTo(1);
  }

  /** The engine accepts the exec and sends an error message in place of the agent's data. */
  @Test
  void engineErrorTextIsNotParsedAsAgentData() throws IOException {
    String command = "cannot exec in a stopped container\r\n";
    String frame = "\1\0\0\0\0\0\0" + (char) command.length() + command;
    AtomicBoolean endReported = new AtomicBoolean();
    Function<String, String> script =
        running(
            line -> {
              if (line.startsWith("POST /exec/")) {
                endReported.set(true);
                return UPGRADED + frame + StubEngine.CLOSE;
              } else if (endReported.get() && line.contains("/exec ")) {
                return StubEngine.response(409, "{\"message\": \"not running\"}");
              } else if (line.startsWith("GET /containers/" + CONTAINER + "/json")) {
                return inspected(!endReported.get());
              }
              return "";
            });
    assertThat(attach(script)).isEqualTo(1);
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
