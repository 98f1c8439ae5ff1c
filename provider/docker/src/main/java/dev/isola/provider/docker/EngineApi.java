package dev.isola.provider.docker;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.provider.docker.http.EngineHttp.Upgrade;
import dev.isola.provider.docker.http.EngineResponse;
import dev.isola.provider.docker.http.HijackedConnection;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The calls of the Engine API that the provider needs. Each ends by its deadline. */
final class EngineApi implements AutoCloseable {
  /** The deadline of calls that are cheap for the engine. */
  static final Duration SHORT_TIMEOUT = Duration.ofSeconds(10);

  /** The engine's change kind for a deleted path. */
  private static final int REMOVED = 2;

  /** Podman queries the package manager of the host for its version. */
  private static final Duration INFO_TIMEOUT = Duration.ofSeconds(30);

  private static final int MAX_MESSAGE = 1000;
  private static final int ATTEMPTS = 5;
  private static final Duration RETRY_PAUSE = Duration.ofMillis(10);

  private final EngineHttp http;

  EngineApi(EngineHttp http) {
    this.http = http;
  }

  EngineHttp http() {
    return http;
  }

  static Deadline shortDeadline() {
    return Deadline.in(SHORT_TIMEOUT);
  }

  void ping() {
    requireSuccess(http.send(HttpRequest.get("/_ping"), shortDeadline()), "a ping");
  }

  JsonValue version() {
    return json(HttpRequest.get("/version"), Deadline.in(INFO_TIMEOUT));
  }

  JsonValue info() {
    return json(HttpRequest.get("/info"), Deadline.in(INFO_TIMEOUT));
  }

  /** Returns the containers in any state that have all the given labels. */
  List<Container> list(Map<String, String> labels) {
    List<String> wanted =
        labels.entrySet().stream().map(l -> l.getKey() + "=" + l.getValue()).toList();
    JsonValue found =
        json(
            HttpRequest.get(
                "/containers/json?all=1&filters=" + encoded(Json.text(Map.of("label", wanted)))),
            shortDeadline());
    List<Container> containers = new ArrayList<>();
    for (JsonValue one : found.items()) {
      Container container = Container.listed(one);
      // An engine that ignores the filter would list all containers.
      if (container.labels().entrySet().containsAll(labels.entrySet())) {
        containers.add(container);
      }
    }
    return containers;
  }

  /** Returns the details of a container; empty if it does not exist. */
  Optional<JsonValue> inspect(String id) {
    return inspect(id, shortDeadline());
  }

  /** Retries while Podman fails because the container is just ending. */
  Optional<JsonValue> inspect(String id, Deadline deadline) {
    HttpRequest request = HttpRequest.get("/containers/" + id + "/json");
    EngineResponse response = http.send(request, deadline);
    for (int i = 0; i < ATTEMPTS && isEnding(response) && deadline.pause(RETRY_PAUSE); i++) {
      response = http.send(request, deadline);
    }
    return response.status() == 404 ? Optional.empty() : Optional.of(parsed(response, "inspect"));
  }

  private static boolean isEnding(EngineResponse response) {
    return response.status() == 500 && message(response).contains("no such process");
  }

  /** Creates a container and returns its id. */
  String create(String name, Map<String, Object> wanted, Deadline deadline) {
    EngineResponse response =
        http.send(
            HttpRequest.post("/containers/create?name=" + name, Json.bytes(wanted)), deadline);
    if (response.status() == 409) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the engine already has a container " + name + ": " + message(response),
              "attach to the sandbox, destroy it, or use another id")
          .exception();
    }
    return checkedId(parsed(response, "creating the container").text("Id"));
  }

  /** Validates an id of the engine, because it becomes part of request paths. */
  private String checkedId(String id) {
    if (!id.matches("[0-9a-f]{12,64}")) {
      throw malformed("an id: '" + id + "'");
    }
    return id;
  }

  void start(String id, Deadline deadline) {
    requireSuccess(
        http.send(HttpRequest.post("/containers/" + id + "/start"), deadline),
        "starting the container");
  }

  void pause(String id) {
    requireSuccess(
        http.send(HttpRequest.post("/containers/" + id + "/pause"), shortDeadline()),
        "pausing the container");
  }

  void unpause(String id) {
    requireSuccess(
        http.send(HttpRequest.post("/containers/" + id + "/unpause"), shortDeadline()),
        "unpausing the container");
  }

  /** Resumes a paused container. Has no effect if it is not paused or does not exist. */
  void unpauseIfPaused(String id) {
    http.send(HttpRequest.post("/containers/" + id + "/unpause"), shortDeadline());
  }

  void rename(String id, String name) {
    requireSuccess(
        http.send(HttpRequest.post("/containers/" + id + "/rename?name=" + name), shortDeadline()),
        "renaming the container");
  }

  /**
   * Kills a container. A container that is not running is no error, but each engine reports it
   * differently; the caller checks whether it still runs.
   */
  void kill(String id) {
    http.send(HttpRequest.post("/containers/" + id + "/kill"), shortDeadline());
  }

  /** Waits until the container has stopped; returns false if it still runs at the deadline. */
  boolean awaitStop(String id, Deadline deadline) {
    return deadline.awaitUninterruptibly(
        RETRY_PAUSE, () -> inspect(id).filter(node -> node.flag("State", "Running")).isEmpty());
  }

  /**
   * Removes a container in any state, with its anonymous volumes.
   *
   * @return false if another removal is in progress
   */
  boolean remove(String id, Deadline deadline) {
    EngineResponse response =
        http.send(HttpRequest.delete("/containers/" + id + "?force=1&v=1"), deadline);
    if (response.status() == 404) {
      return true;
    }
    if (response.status() == 409) {
      return false;
    }
    requireSuccess(response, "removing the container");
    return true;
  }

  /** Returns one sample of the resource usage; empty if the container is not running. */
  Optional<JsonValue> stats(String id) {
    EngineResponse response =
        http.send(
            HttpRequest.get("/containers/" + id + "/stats?stream=false&one-shot=true"),
            shortDeadline());
    return response.ok() ? Optional.of(parsed(response, "stats")) : Optional.empty();
  }

  /** Attaches to the standard input and output. */
  HijackedConnection attach(String id, Deadline deadline) {
    HttpRequest request =
        HttpRequest.post("/containers/" + id + "/attach?stream=1&stdin=1&stdout=1&stderr=1");
    return switch (http.upgrade(request, deadline)) {
      case Upgrade.Accepted(HijackedConnection connection) -> connection;
      case Upgrade.Rejected(EngineResponse response) ->
          throw refused(response, "attaching to the container");
    };
  }

  /**
   * Starts a process that relays to the agent's socket. Rejected if the container is not running.
   */
  HijackedConnection openAgentRelay(String id, Deadline deadline) {
    EngineResponse made =
        http.send(
            HttpRequest.post(
                "/containers/" + id + "/exec",
                Json.bytes(
                    Json.object(
                        "AttachStdin",
                        true,
                        "AttachStdout",
                        true,
                        "AttachStderr",
                        false,
                        "Tty",
                        false,
                        "User",
                        "0:0",
                        "WorkingDir",
                        "/",
                        "Cmd",
                        List.of(ContainerPlan.AGENT, "--bridge", ContainerPlan.SOCKET)))),
            deadline);
    String exec = checkedId(parsed(made, "reaching the agent").text("Id"));
    HttpRequest start =
        HttpRequest.post(
            "/exec/" + exec + "/start", Json.bytes(Json.object("Detach", false, "Tty", false)));
    return switch (http.upgrade(start, deadline)) {
      case Upgrade.Accepted(HijackedConnection connection) -> connection;
      case Upgrade.Rejected(EngineResponse response) ->
          throw refused(response, "reaching the agent");
    };
  }

  /** Copies files into a container that has not been started. */
  void putArchive(String id, byte[] archive, Deadline deadline) {
    requireSuccess(
        http.send(
            new HttpRequest(
                "PUT",
                "/containers/" + id + "/archive?path=%2F",
                Optional.of(HttpRequest.bytes("application/x-tar", archive))),
            deadline),
        "copying the agent into the container");
  }

  /** Returns the image paths that the container has deleted; each char is one byte. */
  List<String> deletedImagePaths(String id) {
    List<String> paths = new ArrayList<>();
    for (JsonValue change :
        json(HttpRequest.get("/containers/" + id + "/changes"), shortDeadline()).items()) {
      if (change.number("Kind") == REMOVED) {
        byte[] path = change.text("Path").getBytes(StandardCharsets.UTF_8);
        paths.add(new String(path, 1, path.length - 1, StandardCharsets.ISO_8859_1));
      }
    }
    return paths;
  }

  /** Returns the details of an image; empty if the engine does not have it. */
  Optional<JsonValue> image(String name) {
    EngineResponse response =
        http.send(HttpRequest.get("/images/" + encoded(name) + "/json"), shortDeadline());
    return response.status() == 404 ? Optional.empty() : Optional.of(parsed(response, "the image"));
  }

  /** Creates a volume unless it exists. */
  void createVolume(String name) {
    requireSuccess(
        http.send(
            HttpRequest.post(
                "/volumes/create", Json.bytes(Json.object("Name", name, "Driver", "local"))),
            shortDeadline()),
        "creating the volume");
  }

  /** Returns the names of the volumes that begin with {@code prefix}. */
  List<String> volumes(String prefix) {
    String filters = encoded(Json.text(Map.of("name", List.of(prefix))));
    List<String> names = new ArrayList<>();
    for (JsonValue one :
        json(HttpRequest.get("/volumes?filters=" + filters), shortDeadline())
            .at("Volumes")
            .items()) {
      String name = one.text("Name");
      if (name.startsWith(prefix)) { // The filter matches anywhere in the name.
        names.add(name);
      }
    }
    return names;
  }

  /**
   * Removes a volume. Has no effect if it does not exist.
   *
   * @throws dev.isola.spi.error.Conflict if a container uses it
   */
  void removeVolume(String name) {
    // Podman takes a unique prefix for the name and would remove another volume.
    if (!volumes(name).contains(name)) {
      return;
    }
    EngineResponse response =
        http.send(HttpRequest.delete("/volumes/" + name), Deadline.in(INFO_TIMEOUT));
    if (response.status() == 409) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the engine refused to remove the volume " + name + ": " + message(response),
              "destroy the sandboxes that mount it first")
          .exception();
    }
    if (response.status() != 404) {
      requireSuccess(response, "removing the volume");
    }
  }

  JsonValue json(HttpRequest request, Deadline deadline) {
    return parsed(http.send(request, deadline), request.path());
  }

  private JsonValue parsed(EngineResponse response, String what) {
    requireSuccess(response, what);
    try {
      return JsonValue.parse(response.body().toArray());
    } catch (IOException e) {
      throw malformed("a response to " + what + " that is not JSON");
    }
  }

  private SandboxException malformed(String what) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the service at " + http.address() + " returned " + what,
            "check that it is a container engine")
        .exception();
  }

  void requireSuccess(EngineResponse response, String what) {
    if (!response.ok() && response.status() != 304) {
      throw refused(response, what);
    }
  }

  /**
   * Returns the exception for an error response. A lack of space is retryable, later or on another
   * provider.
   */
  static SandboxException refused(EngineResponse response, String what) {
    String message = message(response);
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("no space left") || lower.contains("disk quota exceeded")) {
      return Fault.of(
              ErrorCode.DISK_FULL,
              "the engine has no space left for " + what + ": " + message,
              "free disk space in the engine's data folder (docker system df)")
          .exception();
    }
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the engine refused " + what + " (" + response.status() + "): " + message,
            response.status() >= 500
                ? "check the engine's log"
                : "correct the cause that the engine reports")
        .with("status", Integer.toString(response.status()))
        .exception();
  }

  static String message(EngineResponse response) {
    String text;
    try {
      text = JsonValue.parse(response.body().toArray()).text("message");
    } catch (IOException notJson) {
      text = response.text();
    }
    text = text.strip();
    return text.length() > MAX_MESSAGE ? text.substring(0, MAX_MESSAGE) + "…" : text;
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    http.close();
  }
}
