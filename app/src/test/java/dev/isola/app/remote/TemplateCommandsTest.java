package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.SmallImage;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola template} against a server whose builds run in real sandboxes. */
@Timeout(300)
class TemplateCommandsTest {
  private static final String RECIPE =
      """
      base: small
      env: {GREETING: hello, PORT: 8000}
      user: user
      workdir: /home/user/app
      steps:
        - copy: {from: src, to: .}
        - run: cat main.txt > built && echo made-by-a-step
        - run: id -un > /etc/by
          user: root
      start: echo up > /tmp/started; exec sleep 1000
      ready: test -f /tmp/started
      memoryMb: 256
      """;

  @TempDir static Path data;
  @TempDir static Path scratch;
  private static LiveServer server;

  @TempDir Path folder;
  private Path project;

  @BeforeAll
  static void start() throws IOException {
    SmallImage.addTo(data, scratch);
    server = LiveServer.start(data, new BubblewrapProviderFactory());
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @BeforeEach
  void project() throws IOException {
    project = Files.createDirectories(folder.resolve("project"));
    Files.createDirectories(project.resolve("src"));
    Files.writeString(project.resolve("src/main.txt"), "first\n");
    Files.writeString(project.resolve("isola-template.yaml"), RECIPE);
  }

  private CommandResult isola(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture.call(args);
  }

  private CommandResult build(String name) {
    CommandResult built = isola("template", "build", name, project.toString());
    assumeTrue(
        !built.err().contains("no provider"),
        () -> "NOT RUN: bubblewrap does not work here: " + built.err());
    return built;
  }

  private CommandResult ok(CommandResult called) {
    assertThat(called.code()).as(called.out() + called.err()).isZero();
    return called;
  }

  @Test
  void buildsATemplateAndCreatesSandboxesFromIt() throws IOException {
    // Another first step than in the other tests: no step is cached.
    Files.writeString(
        project.resolve("isola-template.yaml"), RECIPE.replace("PORT: 8000", "PORT: 8001"));
    assertThat(ok(build("tools")).out())
        .contains(
            "#1 ENV",
            "#2 USER user",
            "#3 WORKDIR /home/user/app",
            "#4 COPY src .",
            "#5 RUN cat main.txt",
            "   made-by-a-step\n",
            "template tools is ready\n");
    assertThat(isola("template", "ls").out()).contains("NAME", "tools");
    assertThat(isola("template", "ls", "--json").out()).startsWith("{\"templates\":[{");
    assertThat(isola("template", "show", "tools").out())
        .contains("GREETING=hello", "/home/user/app", "BUILD", "ready");

    String id = ok(isola("create", "--template", "tools", "-e", "PORT=9")).out().strip();
    assertThat(
            ok(isola(
                    "exec",
                    id,
                    "--",
                    "sh",
                    "-c",
                    "cat built /etc/by /tmp/started; pwd; id -un; echo $GREETING $PORT"))
                .out())
        .isEqualTo("first\nroot\nup\n/home/user/app\nuser\nhello 9\n");
    assertThat(isola("ls", "--json").out())
        .contains("\"memory\":256")
        .doesNotContain("template\":");

    CommandResult both = isola("create", "--template", "tools", "--image", "small");
    assertThat(both.code()).isEqualTo(125);
    assertThat(both.err()).contains("template cannot be combined with image");
    assertThat(isola("create", "--template", "nosuch").err()).contains("nosuch");

    assertThat(isola("template", "rm", "tools").code()).isEqualTo(125);
    ok(isola("rm", "-f", id));
    assertThat(ok(isola("template", "rm", "tools")).out()).isEqualTo("tools\n");
    assertThat(isola("template", "show", "tools").code()).isEqualTo(125);
  }

  @Test
  void unchangedStepsAreCached() throws IOException {
    ok(build("cached"));
    Files.setLastModifiedTime(
        project.resolve("src/main.txt"), FileTime.from(Instant.parse("2001-01-01T00:00:00Z")));
    assertThat(ok(build("cached")).out())
        .contains("CACHED COPY src .", "CACHED RUN cat main.txt")
        .doesNotContain("   made-by-a-step");
    Files.writeString(project.resolve("src/main.txt"), "second\n");
    assertThat(ok(build("cached")).out())
        .contains("CACHED WORKDIR", "#4 COPY src .", "   made-by-a-step");
    String id = ok(isola("create", "--template", "cached")).out().strip();
    assertThat(isola("exec", id, "cat", "built").out()).isEqualTo("second\n");
    ok(isola("rm", "-f", id));
  }

  @Test
  void failedStepExitsWithOneAndPrintsItsOutput() throws IOException {
    Files.writeString(
        project.resolve("isola-template.yaml"),
        "{base: small, steps: [{run: 'true'}, {run: 'echo planted-output; exit 3'}]}");
    CommandResult failed = build("failing");
    assertThat(failed.code()).as(failed.err()).isEqualTo(1);
    assertThat(failed.err())
        .contains(
            "step 2 (RUN echo planted-output; exit 3) failed", "exit code 3", "planted-output");
    assertThat(failed.out()).contains("   planted-output\n");
    CommandResult json = isola("template", "build", "--json", "failing", project.toString());
    assertThat(json.code()).isEqualTo(1);
    assertThat(json.out()).contains("\"state\":\"failed\"", "\"failedStep\":2", "\"output\":[");
    assertThat(isola("create", "--template", "failing").err())
        .contains("failing", "not been built");
  }

  @Test
  void invalidRecipeIsRejectedBeforeTheBuild() throws IOException {
    Files.writeString(
        project.resolve("isola-template.yaml"),
        "bse: small\nsteps:\n  - copy: {from: ../secret, to: /}\n  - runn: make\n");
    CommandResult wrong = isola("template", "build", "wrong", project.toString());
    assertThat(wrong.code()).isEqualTo(125);
    assertThat(wrong.err())
        .contains("did you mean 'base'", "steps[0].copy.from contains '..'", "did you mean 'run'");
    Files.writeString(project.resolve("isola-template.yaml"), "a: [");
    assertThat(isola("template", "build", "wrong", project.toString()).err())
        .contains("is not YAML, line");
    Files.writeString(project.resolve("isola-template.yaml"), "[".repeat(100_000));
    assertThat(isola("template", "build", "wrong", project.toString()).err())
        .contains("nested more than 20 levels deep");
    assertThat(isola("template", "build", "wrong", folder.toString()).err())
        .contains("does not exist");
    assertThat(isola("template", "show", "wrong").code()).isEqualTo(125);
    assertThat(isola("template").out()).contains("build", "ls", "show", "rm");
  }
}
