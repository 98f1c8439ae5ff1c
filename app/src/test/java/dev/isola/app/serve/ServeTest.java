package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.testing.program.IsolaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A1, O12: {@code isola serve} as a process, with the subprocess provider. */
class ServeTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final String KEY = "isk_0123456789abcdef0123456789abcdef";

  @TempDir Path data;
  private final List<Process> processes = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : processes) {
      process.destroy(); // a killed server would leave the control groups of its health checks
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
    client.close();
  }

  private Process start(Map<String, String> env, String... args) throws IOException {
    List<String> words =
        IsolaCommand.of(
            "serve",
            "--data",
            data.resolve("state").toString(),
            "--set",
            "floor=process",
            "--set",
            "provider=subprocess");
    words.addAll(IsolaCommand.onlyProviders("docker"));
    words.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(words).redirectError(err().toFile());
    builder.environment().remove("ISOLA_API_KEY");
    builder.environment().putAll(env);
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  private Path err() {
    return data.resolve("err");
  }

  private static String url(Process process) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    assertThat(line).matches("Isola listening on http://127\\.0\\.0\\.1:[0-9]+");
    return line.substring("Isola listening on ".length());
  }

  private HttpResponse<String> call(String method, String url, String key, String body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url)).method(method, BodyPublishers.ofString(body));
    if (!key.isEmpty()) {
      request.header("Authorization", "Bearer " + key);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private void ready(String url) {
    await().atMost(SOON).until(() -> call("GET", url + "/readyz", "", "").statusCode() == 200);
  }

  private static String id(String json) {
    Matcher id = Pattern.compile("\"id\":\"([a-z0-9]+)\"").matcher(json);
    assertThat(id.find()).as(json).isTrue();
    return id.group(1);
  }

  @Test
  void serverThatCannotOpenItsPortCreatesNothingAndPrintsNoKey() throws Exception {
    Path state = data.resolve("state");
    CommandLineFixture isola = new CommandLineFixture(state, new SubprocessProviderFactory());
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CommandResult refused = isola.call("serve", "--port", Integer.toString(other.getLocalPort()));
      assertThat(refused.code()).isEqualTo(125);
      assertThat(refused.err())
          .contains("port " + other.getLocalPort(), "cannot be opened", "--port")
          .doesNotContain("first key", "isk_");
    }
    assertThat(state).doesNotExist();
  }

  @Test
  void restartedServerFindsItsSandboxes() throws Exception {
    Process first = start(Map.of("ISOLA_API_KEY", KEY), "--port", "0");
    String url = url(first);
    ready(url);
    HttpResponse<String> made = call("POST", url + "/api/v1/sandboxes", KEY, "{}");
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    String sandbox = "/api/v1/sandboxes/" + id(made.body());
    HttpResponse<String> ran =
        call("POST", url + sandbox + "/exec", KEY, "{\"command\":\"echo hi > note; cat note\"}");
    assertThat(ran.body()).contains("\"stdout\":\"hi\\n\"", "\"exitCode\":0");
    assertThat(call("GET", url + sandbox + "/files/content?path=note", KEY, "").body())
        .isEqualTo("hi\n");

    first.destroy();
    assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(first.exitValue()).isEqualTo(143);
    assertThat(Files.readString(err()))
        .doesNotContain(KEY)
        .contains("/exec\"")
        .contains("1 sandbox stays until expiry", "(shutdown: leave): " + id(made.body()))
        .contains(": isola serve", ": isola purge --data " + data.resolve("state"));

    String again = url(start(Map.of("ISOLA_API_KEY", KEY), "--port", "0"));
    ready(again);
    assertThat(call("GET", again + sandbox + "/files/content?path=note", KEY, "").body())
        .isEqualTo("hi\n");
    assertThat(call("DELETE", again + sandbox, KEY, "").statusCode()).isEqualTo(204);
  }

  @Test
  void drainDestroysSandboxes() throws Exception {
    Process server = start(Map.of("ISOLA_API_KEY", KEY), "--port", "0", "--set", "shutdown=drain");
    String url = url(server);
    ready(url);
    HttpResponse<String> made = call("POST", url + "/api/v1/sandboxes", KEY, "{}");
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    server.destroy();
    assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(Files.readString(err())).doesNotContain("(shutdown: ");

    String again = url(start(Map.of("ISOLA_API_KEY", KEY), "--port", "0"));
    ready(again);
    assertThat(call("GET", again + "/api/v1/sandboxes/" + id(made.body()), KEY, "").body())
        .contains("\"state\":\"destroyed\"");
  }

  @Test
  void createsAndPrintsTheFirstKeyOnce() throws Exception {
    Process server = start(Map.of(), "--port", "0");
    String url = url(server);
    Matcher key = Pattern.compile("isk_[0-9a-f]{64}").matcher(Files.readString(err()));
    assertThat(key.find()).isTrue();
    assertThat(call("GET", url + "/api/v1/keys", key.group(), "").body()).contains("\"first\"");
    assertThat(call("GET", url + "/api/v1/keys", "", "").statusCode()).isEqualTo(401);
    server.destroy();
    server.waitFor();

    url(start(Map.of(), "--port", "0"));
    assertThat(Files.readString(err())).doesNotContain("isk_");
  }

  @Test
  void requiresAKeyForNonLoopbackAddresses() throws Exception {
    Process server = start(Map.of(), "--host", "0.0.0.0", "--port", "0");
    assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(server.exitValue()).isNotZero();
    assertThat(Files.readString(err())).contains("there is no API key", "ISOLA_API_KEY");
  }

  @Test
  void wildcardAddressListsReachableNames() throws Exception {
    Process server = start(Map.of("ISOLA_API_KEY", KEY), "--host", "0.0.0.0", "--port", "0");
    String line =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    Matcher form =
        Pattern.compile(
                "Isola listening on http://0\\.0\\.0\\.0:([0-9]+) and reachable as (http://.*)")
            .matcher(line);
    assertThat(form.matches()).as(line).isTrue();
    List<String> urls = List.of(form.group(2).split(", "));
    assertThat(urls).contains("http://localhost:" + form.group(1)).hasSizeGreaterThan(1);
    List<InetAddress> own =
        NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses).toList();
    for (InetAddress address : own) {
      String host =
          address instanceof Inet6Address
              ? "[" + address.getHostAddress().replaceFirst("%.*", "") + "]"
              : address.getHostAddress();
      assertThat(statusOf(Integer.parseInt(form.group(1)), host + ":" + form.group(1)))
          .as(host)
          .isEqualTo("HTTP/1.1 200 OK");
    }
    for (String url : urls) {
      assertThat(statusOf(Integer.parseInt(form.group(1)), url.substring("http://".length())))
          .as(url)
          .isEqualTo("HTTP/1.1 200 OK");
    }
    assertThat(statusOf(Integer.parseInt(form.group(1)), "evil.example:" + form.group(1)))
        .isEqualTo("HTTP/1.1 403 Forbidden");
  }

  /** Sends a request to loopback with any Host header. */
  private static String statusOf(int port, String host) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket
          .getOutputStream()
          .write(
              ("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      return new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
          .readLine();
    }
  }

  @Test
  void acceptsRequestsAfterTheFirstLine() throws Exception {
    String url = url(start(Map.of("ISOLA_API_KEY", KEY), "--port", "0"));
    HttpResponse<String> made = call("POST", url + "/api/v1/sandboxes", KEY, "{}");
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    assertThat(made.body()).contains("\"expiresAt\":");
    assertThat(call("DELETE", url + "/api/v1/sandboxes/" + id(made.body()), KEY, "").statusCode())
        .isEqualTo(204);
  }

  @Test
  void startupLogsTheSelectedProviderWithoutWarnings() throws Exception {
    String url = url(start(Map.of("ISOLA_API_KEY", KEY), "--port", "0"));
    ready(url);
    await().atMost(SOON).until(() -> Files.readString(err()).contains("isola doctor"));
    List<String> lines =
        Files.readString(err())
            .lines()
            .filter(
                one ->
                    !one.contains("\"request\"")
                        && !one.contains("is not recorded in the ledger")
                        && !one.contains("is disabled by the configuration"))
            .toList();
    assertThat(lines)
        .singleElement()
        .asString()
        .contains("sandboxes are created by subprocess (isolation process)");
  }

  @Test
  void configuredUnhealthyProviderIsAWarning() throws Exception {
    String url =
        url(
            start(
                Map.of("ISOLA_API_KEY", KEY),
                "--port",
                "0",
                "--set",
                "providers.docker.host=unix:///no/such/docker.sock"));
    ready(url);
    await()
        .atMost(SOON)
        .until(
            () ->
                Files.readString(err())
                    .contains("provider docker is configured but does not work: "));
  }

  @Test
  void reportsConfigurationErrors() throws Exception {
    Process server = start(Map.of(), "--port", "99999", "--set", "floor=paper");
    assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(Files.readString(err())).contains("server.port", "floor");
  }
}
