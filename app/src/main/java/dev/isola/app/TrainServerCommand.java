package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.link.local.TreeRemoval;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;

/**
 * Performs an AOT training run of the server: starts one, silently and in a temporary folder, and
 * sends it requests while the JVM records which classes it loads. The launcher builds the server's
 * AOT cache from the record. Failures are ignored.
 */
@Command(
    name = "train-serve",
    hidden = true,
    description = "Run a server to build the launcher's AOT cache.")
final class TrainServerCommand implements CliCommand {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);
  private static final int ROUNDS = 20;
  private static final String KEY = "isk_for_this_training_run_only";
  private static final Pattern URL = Pattern.compile("listening on (http://\\S+)");

  private final CommandContext context;

  TrainServerCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    try {
      Path data = Files.createTempDirectory("isola-train");
      try {
        serve(data);
      } finally {
        TreeRemoval.remove(data);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return ExitCodes.OK;
  }

  private void serve(Path data) throws IOException, InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Map<String, String> env = new HashMap<>(context.environment().variables());
    env.put("ISOLA_DATA", data.toString());
    env.put("ISOLA_API_KEY", KEY);
    CliEnvironment environment =
        new CliEnvironment(
            InputStream.nullInputStream(),
            out,
            OutputStream.nullOutputStream(),
            CliEnvironment.TtyStatus.NONE,
            env,
            context.environment().factories());
    String[] arguments = {
      "serve", "--port", "0", "--set", "floor=process", "--set", "provider=subprocess"
    };
    Thread server = Thread.ofPlatform().start(() -> Main.execute(arguments, environment));
    try {
      String url = awaitUrl(out);
      awaitReady(url);
      exerciseApi(url);
    } finally {
      server.interrupt();
      server.join(TIMEOUT);
    }
  }

  private static String awaitUrl(ByteArrayOutputStream out) throws IOException {
    Deadline deadline = Deadline.in(TIMEOUT);
    do {
      Matcher found = URL.matcher(out.toString(StandardCharsets.UTF_8));
      if (found.find()) {
        return found.group(1);
      }
    } while (deadline.pause(POLL_INTERVAL));
    throw new IOException("the server did not start");
  }

  private static void awaitReady(String url) throws IOException {
    boolean _ =
        Deadline.in(TIMEOUT)
            .await(POLL_INTERVAL, () -> !request(url, "GET", "/readyz", "").isEmpty());
  }

  private static void exerciseApi(String url) throws IOException {
    Optional<String> created =
        id(request(url, "POST", "/api/v1/sandboxes", "{\"ttlSeconds\":300}"));
    if (created.isEmpty()) {
      return;
    }
    String sandbox = "/api/v1/sandboxes/" + created.get();
    for (int i = 0; i < ROUNDS; i++) {
      request(url, "POST", sandbox + "/exec", "{\"command\":\"echo hello; cat\",\"stdin\":\"x\"}");
      request(url, "PUT", sandbox + "/files/content?path=a/b.txt", "hello");
      request(url, "GET", sandbox + "/files/content?path=a/b.txt", "");
      request(url, "GET", sandbox + "/files?path=.", "");
      request(url, "GET", sandbox, "");
    }
    Optional<String> started =
        id(request(url, "POST", sandbox + "/executions", "{\"command\":\"echo hello\"}"));
    if (started.isPresent()) {
      request(url, "GET", sandbox + "/executions/" + started.get() + "/output", "");
    }
    for (String path :
        new String[] {
          "/api/v1/sandboxes", "/api/v1/openapi.json", "/metrics", "/api/v1/keys", "/nowhere"
        }) {
      request(url, "GET", path, "");
    }
    request(url, "POST", sandbox + "/exec", "{\"comand\":1}");
    request(url, "DELETE", sandbox, "");
  }

  private static Optional<String> id(String response) throws IOException {
    return JsonValue.parse(response.getBytes(StandardCharsets.UTF_8)).optionalText("id");
  }

  /** Returns the response body, or an empty string on an error status. */
  private static String request(String url, String method, String path, String body)
      throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(url + path).toURL().openConnection();
    connection.setRequestMethod(method);
    connection.setRequestProperty("Authorization", "Bearer " + KEY);
    connection.setReadTimeout((int) TIMEOUT.toMillis());
    if (!body.isEmpty()) {
      connection.setDoOutput(true);
      String type = method.equals("PUT") ? "application/octet-stream" : "application/json";
      connection.setRequestProperty("Content-Type", type);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body.getBytes(StandardCharsets.UTF_8));
      }
    }
    if (connection.getResponseCode() >= 400) {
      return "";
    }
    try (InputStream in = connection.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8) + " ";
    }
  }
}
