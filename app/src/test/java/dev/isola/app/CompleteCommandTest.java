package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Shell completion. */
@Timeout(120)
class CompleteCommandTest {
  @TempDir static Path data;
  private static LiveServer server;
  private static String id;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
    try (dev.isola.client.Isola isola = server.client()) {
      id = isola.createAndDescribe(dev.isola.client.SandboxSpec.builder().name("web").build()).id();
    }
  }

  @AfterAll
  static void end() {
    try (dev.isola.client.Isola isola = server.client()) {
      isola.sandbox(id).destroy(true);
    }
    server.close();
  }

  private CommandLineFixture fixture(String url) {
    CommandLineFixture fixture =
        new CommandLineFixture(folder.resolve("data"), new FakeProvider("local-provider"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture;
  }

  /** Returns the candidates for the last word. */
  private List<String> complete(String... words) {
    return completeAt(server.url, words);
  }

  private List<String> completeAt(String url, String... words) {
    CommandResult called =
        fixture(url)
            .call(
                Stream.concat(Stream.of("complete", "--"), Stream.of(words))
                    .toArray(String[]::new));
    assertThat(called.err()).isEmpty();
    assertThat(called.code()).isZero();
    return called.out().lines().toList();
  }

  @Test
  void completesCommandsAndOptions() {
    assertThat(complete("")).contains("run", "inspect", "kill").doesNotContain("train", "complete");
    assertThat(complete("ins")).containsExactly("inspect");
    assertThat(complete("snapshot", "r")).containsExactly("restore", "rm");
    assertThat(complete("rm", "--f")).containsExactly("--force");
    assertThat(complete("--co")).containsExactly("--color");
    assertThat(complete("--color", "al")).containsExactly("always");
    assertThat(complete("run", "--network", "")).containsExactly("bridge", "host", "none");
    assertThat(complete("completion", "z")).containsExactly("zsh");
    assertThat(complete("nosuch", "")).isEmpty();
  }

  @Test
  void completesSandboxesByNameAndId() {
    assertThat(complete("exec", "")).containsExactlyInAnyOrder("web", id);
    assertThat(complete("exec", "we")).containsExactly("web");
    assertThat(complete("rm", "web", id.substring(0, 5))).containsExactly(id);
    assertThat(complete("--json", "inspect", "w")).containsExactly("web");
    assertThat(complete("cp", "w")).containsExactly("web:");
    assertThat(complete("events", "--sandbox", "w")).containsExactly("web");
    assertThat(complete("exec", "-w", "")).as("a folder").isEmpty();
    assertThat(complete("exec", "web", "")).as("a command").isEmpty();
    assertThat(complete("exec", "web", "ls", "--")).as("an argument of the command").isEmpty();
  }

  @Test
  void completesProvidersVolumesAndExecutions() {
    assertThat(complete("create", "--provider", "")).containsExactly("subprocess");
    assertThat(complete("run", "--provider", "")).containsExactly("local-provider");
    assertThat(complete("conformance", "l")).containsExactly("local-provider");
    assertThat(complete("volume", "rm", "")).isEmpty();
    CommandResult started = fixture(server.url).call("exec", "-d", "web", "true");
    assertThat(complete("logs", "web", "")).contains(started.out().strip());
  }

  @Test
  void unreachableOrSilentServerYieldsNothing() throws IOException {
    assertThat(completeAt("http://127.0.0.1:1", "exec", "")).isEmpty();
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      assertThat(completeAt("http://127.0.0.1:" + silent.getLocalPort(), "exec", "")).isEmpty();
    }
    CommandLineFixture unconfigured = fixture("");
    unconfigured.env.remove("ISOLA_API_KEY");
    CommandResult called = unconfigured.call("complete", "--", "exec", "");
    assertThat(called.out() + called.err()).isEmpty();
    assertThat(called.code()).isZero();
  }

  @Test
  void namesThatAShellWouldInterpretAreOmitted() throws IOException {
    String sandboxes =
        Stream.of("$(touch x)", "`x`", "a b", "-rf", "a\\u001b[2J", "fine-1")
            .map(
                name ->
                    "{\"id\":\"i\",\"name\":\""
                        + name
                        + "\",\"state\":\"running\",\"provider\":\"p\",\"isolation\":\"vm\","
                        + "\"createdAt\":\"2026-01-01T00:00:00Z\","
                        + "\"lastActivity\":\"2026-01-01T00:00:00Z\",\"tags\":{}}")
            .reduce((a, b) -> a + "," + b)
            .orElseThrow();
    HttpServer hostile =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    hostile.createContext(
        "/",
        exchange -> {
          byte[] body = ("{\"sandboxes\":[" + sandboxes + "]}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    hostile.start();
    try {
      assertThat(completeAt("http://127.0.0.1:" + hostile.getAddress().getPort(), "exec", ""))
          .containsExactly("fine-1", "i");
    } finally {
      hostile.stop(0);
    }
  }

  @Test
  void bashScriptOffersTheCandidatesAsTheyAre() throws IOException, InterruptedException {
    Path script = folder.resolve("completion.bash");
    Files.writeString(script, fixture(server.url).call("completion", "bash").out());
    Path output = folder.resolve("output");
    Process bash =
        new ProcessBuilder(
                "bash",
                "-c",
                """
                source "$1"
                isola() { [ "$1 $2" = "complete --" ] && printf '%s\\n' "$*" 'web' '$(echo bad)'; }
                COMP_WORDS=(isola exec w); COMP_CWORD=2; _isola; printf '%s\\n' "${COMPREPLY[@]}"
                COMP_WORDS=(isola ins); COMP_CWORD=1; _isola; printf '%s\\n' "${COMPREPLY[@]}"
                """,
                "bash",
                script.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(bash.waitFor()).as(Files.readString(output)).isZero();
    assertThat(output).hasContent("complete -- exec w\nweb\n$(echo bad)\ninspect\n");
  }
}
