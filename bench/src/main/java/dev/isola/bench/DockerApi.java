package dev.isola.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.provider.docker.http.EngineResponse;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Docker's engine through its API on the unix socket, the way a program uses it that does not start
 * the {@code docker} CLI each time. Connections are kept alive.
 */
final class DockerApi implements Peer {
  private static final int PACE = 40;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String SCHEME = "unix://";
  private static final List<String> SLEEP = List.of("sleep", "7200");

  private final EngineHttp http;
  private final String image;
  private String version = "";
  private String container = "";

  private DockerApi(EngineAddress address, String image) {
    this.http = new EngineHttp(address);
    this.image = image;
  }

  /**
   * @throws IOException if no engine responds there, or it lacks the image
   */
  static DockerApi open(BenchPlan.Engines engines) throws IOException {
    if (!engines.docker().startsWith(SCHEME)) {
      throw new IOException(
          "only an engine on a unix socket can be measured, not " + engines.docker());
    }
    Path socket = Path.of(engines.docker().substring(SCHEME.length()));
    DockerApi api = new DockerApi(new EngineAddress.Unix(socket), engines.image());
    try {
      api.version = field(api.send("GET", "/version", "", 200), "Version");
      api.send("GET", "/images/" + api.image + "/json", "", 200);
      return api;
    } catch (IOException e) {
      api.close();
      throw e;
    }
  }

  @Override
  public String version() {
    return "engine " + version;
  }

  @Override
  public List<BenchSubject> createSubjects() {
    return List.of(new BenchSubject("docker-api run", this::creations));
  }

  private Samples creations(int n, int concurrency) throws IOException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      long start = System.nanoTime();
      String id = create(List.of("true"), "default");
      long after = start;
      try {
        send("POST", "/containers/" + id + "/start", "", 204);
        String answer = send("POST", "/containers/" + id + "/wait", "", 200);
        after = System.nanoTime();
        requireExitCode(field(answer, "StatusCode"), "0");
      } finally {
        remove(id);
      }
      samples =
          samples.plus(
              Samples.of(after - start, after - start).withAfter(System.nanoTime() - after));
    }
    return samples;
  }

  /**
   * Returns subjects that create and start a container that stays up. They compare with container
   * providers, whose sandboxes have no network by default.
   */
  List<BenchSubject> startSubjects() {
    return List.of(
        new BenchSubject("docker-api start", (n, concurrency) -> starts(n, "default")),
        new BenchSubject("docker-api start, no net", (n, concurrency) -> starts(n, "none")));
  }

  private Samples starts(int n, String network) throws IOException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      long start = System.nanoTime();
      String id = create(SLEEP, network);
      try {
        send("POST", "/containers/" + id + "/start", "", 204);
        long taken = System.nanoTime() - start;
        samples = samples.plus(Samples.of(taken, taken));
      } finally {
        remove(id);
      }
    }
    return samples;
  }

  private String create(List<String> command, String network) throws IOException {
    String body =
        Json.text(
            Json.object(
                "Image", image, "Cmd", command, "HostConfig", Map.of("NetworkMode", network)));
    return field(send("POST", "/containers/create", body, 201), "Id");
  }

  private void remove(String id) throws IOException {
    send("DELETE", "/containers/" + id + "?force=1&v=1", "", 204);
  }

  @Override
  public List<BenchSubject> execSubjects() throws IOException {
    if (container.isEmpty()) {
      container = create(SLEEP, "default");
      send("POST", "/containers/" + container + "/start", "", 204);
    }
    return List.of(BenchSubject.timed("docker-api exec", this::exec).withPace(PACE));
  }

  private void exec() throws IOException {
    String body =
        Json.text(Json.object("AttachStdout", true, "AttachStderr", true, "Cmd", List.of("true")));
    String id = field(send("POST", "/containers/" + container + "/exec", body, 201), "Id");
    // The response carries the output and ends when the command does.
    send(
        "POST",
        "/exec/" + id + "/start",
        Json.text(Json.object("Detach", false, "Tty", false)),
        200);
    requireExitCode(field(send("GET", "/exec/" + id + "/json", "", 200), "ExitCode"), "0");
  }

  private static void requireExitCode(String code, String wanted) throws IOException {
    if (!code.equals(wanted)) {
      throw new IOException("true exited with " + code);
    }
  }

  private String send(String method, String path, String body, int wanted) throws IOException {
    Optional<HttpRequest.Body> content =
        body.isEmpty()
            ? Optional.empty()
            : Optional.of(HttpRequest.bytes("application/json", body.getBytes(UTF_8)));
    EngineResponse answer;
    try {
      answer = http.send(new HttpRequest(method, path, content), Deadline.in(TIMEOUT));
    } catch (SandboxException e) {
      throw new IOException(e.fault().problem(), e);
    }
    if (answer.status() != wanted) {
      throw new IOException(
          method
              + " "
              + path
              + " failed with status "
              + answer.status()
              + " "
              + answer.text().strip());
    }
    return answer.text();
  }

  /** Returns a string or number field of a response. */
  static String field(String json, String name) throws IOException {
    return JsonValue.parse(json.getBytes(UTF_8))
        .optionalText(name)
        .orElseThrow(
            () -> new IOException("the response has no field " + name + ": " + json.strip()));
  }

  @Override
  public void close() {
    try {
      if (!container.isEmpty()) {
        remove(container);
        container = "";
      }
    } catch (IOException e) {
      throw new IllegalStateException("a container remains: " + container, e);
    } finally {
      http.close();
    }
  }
}
