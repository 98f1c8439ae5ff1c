package dev.isola.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code isola serve} as a process of its own, with one sandbox. */
final class ServerProcess implements AutoCloseable {
  private static final String KEY = "isk_of_this_measurement_only";
  private static final String LISTENING = "Isola listening on ";
  private static final int STOP_SECONDS = 60;

  private final Process process;
  private final URI url;
  private String sandbox = "";

  private ServerProcess(Process process, URI url) {
    this.process = process;
    this.url = url;
  }

  /**
   * Starts a server and creates a sandbox.
   *
   * @param settings as for {@code --set}
   */
  static ServerProcess start(Path data, Map<String, String> settings) throws IOException {
    return start(data, settings, "{\"ttlSeconds\": 3600}");
  }

  /**
   * Starts a server and creates a sandbox with this document.
   *
   * @param settings as for {@code --set}
   */
  static ServerProcess start(Path data, Map<String, String> settings, String create)
      throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main",
                "serve",
                "--port",
                "0",
                "--data",
                data.toString(),
                "--set",
                "floor=process"));
    settings.forEach((name, value) -> words.addAll(List.of("--set", name + "=" + value)));
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectError(data.resolveSibling(data.getFileName() + ".log").toFile());
    builder.environment().put("ISOLA_API_KEY", KEY);
    Process process = builder.start();
    ServerProcess server = null;
    try {
      server = new ServerProcess(process, URI.create(listeningUrl(process)));
      server.create(create);
      return server;
    } catch (IOException | RuntimeException e) {
      process.destroy();
      throw e;
    }
  }

  private static String listeningUrl(Process process) throws IOException {
    BufferedReader out = process.inputReader(UTF_8);
    String line = out.readLine();
    if (line == null || !line.startsWith(LISTENING)) {
      throw new IOException("the server did not start: " + line);
    }
    return line.substring(LISTENING.length());
  }

  private void create(String document) throws IOException {
    try (ApiClient client = connect()) {
      String answer = client.send("POST", "/api/v1/sandboxes", document);
      sandbox =
          JsonValue.parse(answer.getBytes(UTF_8))
              .optionalText("id")
              .orElseThrow(() -> new IOException("the response has no sandbox id"));
    }
  }

  ApiClient connect() throws IOException {
    return ApiClient.connect(url.getPort(), KEY);
  }

  /** Returns the settings of a server whose sandboxes are those of this one. */
  Map<String, String> asBackend() {
    return Map.of(
        "provider", "http", "providers.http.url", url + "/backend", "providers.http.key", KEY);
  }

  String sandbox() {
    return "/api/v1/sandboxes/" + sandbox;
  }

  /**
   * Destroys the sandbox and stops the server.
   *
   * @throws IllegalStateException if the sandbox was not destroyed
   */
  @Override
  public void close() {
    try (ApiClient client = connect()) {
      String _ = client.send("DELETE", sandbox() + "?force=true", "");
    } catch (IOException e) {
      throw new IllegalStateException(
          "a sandbox of the measurement was not destroyed: " + e.getMessage(), e);
    } finally {
      stop();
    }
  }

  private void stop() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }
}
