package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Shell completion. */
@Timeout(120)
class CompleteCommandTest {
  /** Contains a character that no id has, so that no prefix of it below is one of an id as well. */
  private static final String NAME = "web-1";

  @TempDir static Path data;
  private static LiveServer server;
  private static String id;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
    try (dev.isola.client.Isola isola = server.client()) {
      id = isola.createAndDescribe(dev.isola.client.SandboxSpec.builder().name(NAME).build()).id();
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
    fixture.env.put("ISOLA_COMPLETION_SECONDS", "60");
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
    assertThat(complete("run", "--network", ""))
        .containsExactly("bridge", "filtered", "host", "none");
    assertThat(complete("completion", "z")).containsExactly("zsh");
    assertThat(complete("nosuch", "")).isEmpty();
  }

  @Test
  void completesSandboxesByNameAndId() {
    assertThat(complete("exec", "")).containsExactlyInAnyOrder(NAME, id);
    assertThat(complete("exec", "web-")).containsExactly(NAME);
    assertThat(complete("rm", NAME, id.substring(0, 5))).containsExactly(id);
    assertThat(complete("--json", "inspect", "web-")).containsExactly(NAME);
    assertThat(complete("cp", "web-")).containsExactly(NAME + ":");
    assertThat(complete("events", "--sandbox", "web-")).containsExactly(NAME);
    assertThat(complete("exec", "-w", "")).as("a folder").isEmpty();
    assertThat(complete("exec", NAME, "")).as("a command").isEmpty();
    assertThat(complete("exec", NAME, "ls", "--")).as("an argument of the command").isEmpty();
  }

  @Test
  void completesProvidersVolumesAndExecutions() {
    assertThat(complete("create", "--provider", "")).containsExactly("subprocess");
    assertThat(complete("run", "--provider", "")).containsExactly("local-provider");
    assertThat(complete("conformance", "l")).containsExactly("local-provider");
    assertThat(complete("volume", "rm", "")).isEmpty();
    CommandResult started = fixture(server.url).call("exec", "-d", NAME, "true");
    assertThat(complete("logs", NAME, "")).contains(started.out().strip());
  }

  @Test
  void completesImagesOfTheServerAndOfThisMachine() throws IOException {
    Path tree = folder.resolve("tree");
    Files.createDirectories(tree.resolve("etc"));
    addImage(data, "org/tool:v1", tree);
    addImage(folder.resolve("data"), "mine", tree);
    assertThat(complete("create", "--image", "")).containsExactly("org/tool:v1");
    assertThat(complete("run", "--image", "")).containsExactly("mine");
    assertThat(complete("image", "rm", "o")).containsExactly("org/tool:v1");
    assertThat(complete("image", "show", "")).containsExactly("org/tool:v1");
    assertThat(complete("image", "remove", "--local", "")).containsExactly("mine");
    assertThat(complete("image", "check", "")).containsExactly("mine");
    CommandLineFixture unconfigured = fixture("");
    assertThat(unconfigured.call("complete", "--", "image", "rm", "").out()).isEqualTo("mine\n");
  }

  private static void addImage(Path data, String name, Path tree) {
    new ImageStore(data).add(name, ImageSource.path(tree), ImageStore.AddOptions.DEFAULT);
  }

  @Test
  void unreachableOrSilentServerYieldsNothing() throws IOException {
    assertThat(completeAt("http://127.0.0.1:1", "exec", "")).isEmpty();
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      String url = "http://127.0.0.1:" + silent.getLocalPort();
      assertThat(completeAt(url, "exec", "")).isEmpty();
      assertThat(completeAt(url, "create", "--image", "")).isEmpty();
    }
    CommandLineFixture unconfigured = fixture("");
    unconfigured.env.remove("ISOLA_API_KEY");
    CommandResult called = unconfigured.call("complete", "--", "exec", "");
    assertThat(called.out() + called.err()).isEmpty();
    assertThat(called.code()).isZero();
  }

  @Test
  void namesThatAShellWouldInterpretAreOmitted() throws IOException {
    List<String> names = List.of("$(touch x)", "`x`", "a b", "-rf", "a\\u001b[2J", "fine-1");
    String images =
        names.stream()
            .map(
                name ->
                    "{\"name\":\""
                        + name
                        + "\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"source\":\"s\","
                        + "\"digest\":\"d\",\"size\":1,\"architecture\":\"a\"}")
            .collect(Collectors.joining(","));
    String sandboxes =
        names.stream()
            .map(
                name ->
                    "{\"id\":\"i\",\"name\":\""
                        + name
                        + "\",\"state\":\"running\",\"provider\":\"p\",\"isolation\":\"vm\","
                        + "\"createdAt\":\"2026-01-01T00:00:00Z\","
                        + "\"lastActivity\":\"2026-01-01T00:00:00Z\",\"tags\":{}}")
            .collect(Collectors.joining(","));
    HttpServer hostile =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    hostile.createContext(
        "/",
        exchange -> {
          byte[] body =
              ("{\"sandboxes\":[" + sandboxes + "],\"images\":[" + images + "]}")
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    hostile.start();
    try {
      String url = "http://127.0.0.1:" + hostile.getAddress().getPort();
      assertThat(completeAt(url, "exec", "")).containsExactly("fine-1", "i");
      assertThat(completeAt(url, "create", "--image", "")).containsExactly("fine-1");
    } finally {
      hostile.stop(0);
    }
  }

  /** Runs a completion script in its shell, with a function in place of the command. */
  private String runScript(String shell, String... command)
      throws IOException, InterruptedException {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, shell))),
        "NOT RUN: " + shell + " is not installed");
    Path script =
        Files.writeString(
            folder.resolve("completion." + shell),
            fixture(server.url).call("completion", shell).out());
    Path output = folder.resolve("output");
    List<String> words = new ArrayList<>(List.of(command));
    words.add(script.toString());
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().put("HOME", folder.toString());
    Process process = builder.redirectOutput(output.toFile()).start();
    assertThat(process.waitFor()).as(Files.readString(output)).isZero();
    return Files.readString(output);
  }

  @Test
  void bashScriptOffersTheCandidatesAsTheyAre() throws IOException, InterruptedException {
    String program =
        """
        source "$1"
        isola() { [ "$1 $2" = "complete --" ] && printf '%s\\n' "$*" 'web' '$(echo bad)'; }
        try() { COMP_LINE=$1 COMP_POINT=${#1}; _isola; printf '<%s>\\n' "${COMPREPLY[@]}"; }
        try 'isola exec w'
        try 'isola exec '
        try 'isola ins'
        isola() { printf '%s\\n' python:3.13 python:3.14; }
        try 'isola create --image python:3'
        COMP_WORDBREAKS=${COMP_WORDBREAKS//:}
        try 'isola create --image python:3'
        """;
    assertThat(runScript("bash", "bash", "-c", program, "bash"))
        .isEqualTo(
            """
            <complete -- exec w>
            <web>
            <$(echo bad)>
            <complete -- exec >
            <web>
            <$(echo bad)>
            <inspect>
            <3.13>
            <3.14>
            <python:3.13>
            <python:3.14>
            """);
  }

  @Test
  void zshScriptOffersTheCandidatesAsTheyAre() throws IOException, InterruptedException {
    String program =
        """
        compdef() { : }
        compadd() { printf '<%s>\\n' "${(@P)2}" }
        _files() { print files }
        source $1
        isola() { [[ "$1 $2" == "complete --" ]] && printf '%s\\n' "$*" python:3.14 '$(echo bad)' }
        try() { words=("$@"); CURRENT=$#; _isola }
        try isola exec w
        try isola exec ''
        try isola ins
        isola() { : }
        try isola run ''
        """;
    assertThat(runScript("zsh", "zsh", "-f", "-c", program, "zsh"))
        .startsWith(
            """
            <complete -- exec w>
            <python:3.14>
            <$(echo bad)>
            <complete -- exec >
            <python:3.14>
            <$(echo bad)>
            """)
        .contains("\n<inspect>\n")
        .endsWith("\nfiles\n");
  }

  @Test
  void fishScriptOffersTheCandidatesAsTheyAre() throws IOException, InterruptedException {
    String program =
        """
        source $argv[1]
        function isola
          string join ' ' -- $argv
          printf '%s\\n' web python:3.14 '$(echo bad)'
        end
        complete -C 'isola exec w'
        echo --
        complete -C 'isola ins'
        """;
    assertThat(runScript("fish", "fish", "--no-config", "-c", program).lines())
        .contains("web", "inspect")
        .doesNotContain("bad");
  }
}
