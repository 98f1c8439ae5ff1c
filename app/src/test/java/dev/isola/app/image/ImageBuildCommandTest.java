package dev.isola.app.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.SmallImage;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.DataFolder;
import dev.isola.host.image.ImageStore;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.oci.CrunProviderFactory;
import dev.isola.provider.oci.GvisorProviderFactory;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.testing.HealthyProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code isola image build -f} and {@code isola commit}, with builds in real sandboxes. */
@Timeout(300)
@Tag("all")
class ImageBuildCommandTest {
  private static final String DOCKERFILE =
      """
      FROM small
      ARG WORD=default
      ENV GREETING="hello there"
      WORKDIR /srv/app
      COPY src/ .
      RUN echo made-by-a-step; echo $WORD > word
      USER user
      EXPOSE 80
      CMD ["serve"]
      """;

  @TempDir static Path data;
  @TempDir static Path scratch;
  private static LiveServer server;

  @TempDir Path folder;
  private Path project;

  @BeforeAll
  static void start() throws IOException {
    HealthyProvider.assume(new BubblewrapProviderFactory());
    SmallImage.addTo(data, scratch);
    server = LiveServer.start(data, new BubblewrapProviderFactory());
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void project() throws IOException {
    project = Files.createDirectories(folder.resolve("project"));
    Files.createDirectories(project.resolve("src"));
    Files.writeString(project.resolve("src/main.txt"), "first\n");
    Files.writeString(project.resolve("Dockerfile"), DOCKERFILE);
  }

  private CommandLineFixture fixture() {
    CommandLineFixture fixture = new CommandLineFixture(data, new BubblewrapProviderFactory());
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_PROVIDER", "bubblewrap");
    return fixture;
  }

  private CommandResult onMachine(String... args) {
    return fixture().call(args);
  }

  private CommandResult onServer(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture.call(args);
  }

  private static CommandResult ok(CommandResult called) {
    assertThat(called.code()).as(called.out() + called.err()).isZero();
    return called;
  }

  private static List<Path> leftBySandboxes() throws IOException {
    Path folder = new DataFolder(data).builds().path().resolve("bubblewrap/sandboxes");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.toList();
    }
  }

  @Test
  void dockerfileIsBuiltWithoutAServerAndCachedByStep() throws IOException {
    String uncached = DOCKERFILE.replace("hello there", "hello local");
    Files.writeString(project.resolve("Dockerfile"), uncached);
    CommandResult built =
        ok(
            onMachine(
                "image",
                "build",
                "local:1.0",
                "-f",
                project.toString(),
                "--build-arg",
                "WORD=given"));
    assertThat(built.out()).startsWith("local:1.0: ");
    assertThat(built.err())
        .contains(
            "line 8: EXPOSE has no effect",
            "the start command has no effect in an image; isola template build keeps it")
        .containsPattern("step 1 of 5: ENV GREETING=hello local: [0-9.]+ s\n")
        .containsPattern("step 3 of 5: COPY --chown=root:root src/ \\.: [0-9.]+ s\n")
        .containsPattern("step 4 of 5: RUN export WORD='given'; echo made-by-a-step.*: [0-9.]+ s\n")
        .containsPattern("step 5 of 5: USER user: [0-9.]+ s\n")
        .doesNotContain("\u001b", "   made-by-a-step\n");
    assertThat(new ImageStore(data).require("local:1.0").user()).contains("user");
    assertThat(
            ok(fixture()
                    .call(
                        "run",
                        "--image",
                        "local:1.0",
                        "--",
                        "sh",
                        "-c",
                        "cat /srv/app/main.txt /srv/app/word; id -un; echo $GREETING"))
                .out())
        .isEqualTo("first\ngiven\nuser\nhello local\n");

    Files.writeString(project.resolve("Dockerfile"), uncached.replace("echo $WORD", "echo new"));
    CommandResult again =
        ok(onMachine("image", "build", "-v", "local:1.0", "-f", project.toString()));
    assertThat(again.err())
        .contains("step 3 of 5: COPY --chown=root:root src/ .: cached\n", "   made-by-a-step\n");
    assertThat(new ImageStore(data).require("local:1.0").rootfs().resolve("srv/app/word"))
        .hasContent("new");
    assertThat(leftBySandboxes()).isEmpty();
  }

  @Test
  void failedStepPrintsItsOutputCommandAndExitCodeAndLeavesNothing() throws IOException {
    Files.writeString(
        project.resolve("Dockerfile"),
        "FROM small\nRUN true\nRUN echo planted-output; exit 3\nRUN echo never\n");
    for (boolean local : new boolean[] {true, false}) {
      String[] words = {
        "image", "build", "failing", "-f", project.resolve("Dockerfile").toString()
      };
      CommandResult failed = local ? onMachine(words) : onServer(words);
      assertThat(failed.code()).as(failed.err()).isEqualTo(1);
      assertThat(failed.out()).isEmpty();
      assertThat(failed.err())
          .containsPattern("step 2 of 3: RUN echo planted-output; exit 3: failed, [0-9.]+ s\n")
          .contains(
              "   planted-output\n",
              "isola: step 2 of 3 failed with exit code 3: RUN echo planted-output; exit 3;",
              "if it needs a network, which steps do not have by default, add --network\n");
      assertThat(failed.err()).doesNotContain("step 3 of 3");
    }
    CommandResult json = onMachine("image", "build", "--json", "failing", "-f", project.toString());
    assertThat(json.code()).isEqualTo(1);
    assertThat(json.out()).contains("\"code\":\"BUILD_FAILED\"", "\"exitCode\":\"3\"");
    assertThat(new ImageStore(data).find("failing")).isEmpty();
    assertThat(leftBySandboxes()).isEmpty();
  }

  @Test
  void dockerfileKnowsTheVariablesOfItsBase() throws IOException {
    Files.writeString(project.resolve("Dockerfile"), "FROM small\nENV PATH=$PATH:/opt/bin\n");
    for (boolean local : new boolean[] {true, false}) {
      String[] words = {"image", "build", "extended", "-f", project.toString()};
      CommandResult built = ok(local ? onMachine(words) : onServer(words));
      assertThat(built.err()).contains("ENV PATH=/bin:/opt/bin: ").doesNotContain("note:");
      assertThat(new ImageStore(data).require("extended").env())
          .containsEntry("PATH", "/bin:/opt/bin");
    }
  }

  @Test
  void progressIsRedrawnOnATerminal() {
    CommandLineFixture fixture = fixture();
    fixture.interactive = new CliEnvironment.TtyStatus(false, false, true);
    CommandResult built = ok(fixture.call("image", "build", "drawn", "-f", project.toString()));
    assertThat(built.err())
        .contains("\r\u001b[Kstep 4 of 5: RUN export WORD='default'; echo made-by-a-step")
        .containsPattern("\r\u001b\\[Kstep 4 of 5: RUN export .*: ([0-9.]+ s|cached)\n");
  }

  @Test
  void filesOutsideOfTheFolderAreNotCopied() throws IOException {
    Path secret = Files.writeString(folder.resolve("secret"), "planted-secret");
    Files.createSymbolicLink(project.resolve("link"), secret);
    Files.createSymbolicLink(project.resolve("out"), folder);
    Files.writeString(project.resolve("Dockerfile"), "FROM small\nCOPY link /link\n");
    ok(onMachine("image", "build", "linked", "-f", project.toString()));
    assertThat(
            Files.readSymbolicLink(new ImageStore(data).require("linked").rootfs().resolve("link")))
        .isEqualTo(secret);
    for (String source : List.of("../secret", "out/secret", "src/../../secret")) {
      Files.writeString(project.resolve("Dockerfile"), "FROM small\nCOPY " + source + " /x\n");
      CommandResult refused = onMachine("image", "build", "outside", "-f", project.toString());
      assertThat(refused.code()).as(source + refused.err()).isNotZero();
    }
    assertThat(new ImageStore(data).find("outside")).isEmpty();
  }

  @Test
  void recipeAndDockerfileErrorsAreReportedBeforeTheBuild() throws IOException {
    Files.writeString(project.resolve("Dockerfile"), "FROM small\nHEALTHCHECK CMD true\n");
    assertThat(onMachine("image", "build", "x", "-f", project.toString()).err())
        .isEqualTo(
            "isola: Dockerfile, line 2: HEALTHCHECK is not supported; remove it; a template has a"
                + " ready command (isola template)\n");
    Path recipe = Files.writeString(project.resolve("recipe.yaml"), "base: small\npip: [--pre]\n");
    assertThat(onMachine("image", "build", "x", "-f", recipe.toString()).err())
        .contains("pip[0] is not the name of a package: '--pre'");
    assertThat(onMachine("image", "build", "x", "-f", recipe.toString(), "--packages", "jq").code())
        .isEqualTo(2);
    assertThat(onMachine("image", "build", "base", "--network").err()).contains("add -f");
    assertThat(onMachine("image", "build", "Bad", "-f", project.resolve("none").toString()).code())
        .isEqualTo(2);
  }

  @Test
  void imagesOfAServerAreBuiltListedShownAndRemoved() throws IOException {
    CommandResult built =
        ok(
            onServer(
                "image", "build", "org/remote:2", "-f", project.resolve("Dockerfile").toString()));
    assertThat(built.out()).startsWith("org/remote:2: ");
    assertThat(built.err()).contains("step 5 of 5: USER user: ");
    assertThat(ok(onServer("image", "ls")).out()).contains("NAME", "SIZE", "org/remote:2", "small");
    assertThat(ok(onServer("image", "show", "org/remote:2")).out())
        .contains("user          user", "GREETING=hello there")
        .doesNotContain("rootfs");
    assertThat(ok(onServer("image", "ls", "--json")).out()).contains("\"name\":\"org/remote:2\"");
    assertThat(ok(onServer("image", "ls", "--local")).out()).startsWith("no images");
    CommandResult snapshots = ok(onServer("snapshot", "ls"));
    assertThat(snapshots.out()).startsWith("no snapshots;");
    assertThat(snapshots.err()).contains("cached steps of builds are not listed; --all lists them");
    assertThat(ok(onServer("snapshot", "ls", "--all")).out()).contains("ID ", "SANDBOX");
    String id = ok(onServer("create", "--image", "org/remote:2")).out().strip();
    assertThat(ok(onServer("exec", id, "--", "cat", "/srv/app/main.txt")).out())
        .isEqualTo("first\n");
    assertThat(onServer("image", "rm", "org/remote:2").err()).contains("is in use by " + id);
    ok(onServer("rm", "-f", id));
    ok(onServer("image", "rm", "org/remote:2"));
    assertThat(onServer("image", "show", "org/remote:2").code()).isEqualTo(125);
    assertThat(onServer("image", "build", "x", "--from", "debian:12").err()).contains("--local");
    assertThat(onServer("image", "rm", "small", "nosuch").code()).isEqualTo(125);
    assertThat(new ImageStore(data).find("small")).isPresent();
  }

  /** Bubblewrap is covered in full below; other runtimes have other roots. */
  @ParameterizedTest
  @ValueSource(classes = {CrunProviderFactory.class, GvisorProviderFactory.class})
  void sandboxOfAnOciRuntimeIsCommittedToAnImage(Class<? extends ProviderFactory> factory)
      throws Exception {
    ProviderFactory provider = factory.getDeclaredConstructor().newInstance();
    HealthyProvider.assume(provider);
    Path ownData = folder.resolve("oci");
    Path ownScratch = Files.createDirectories(folder.resolve("scratch"));
    SmallImage.addTo(ownData, ownScratch);
    try (LiveServer oci = LiveServer.start(ownData, provider)) {
      CommandLineFixture fixture = new CommandLineFixture(folder.resolve("client"));
      fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
      fixture.env.put("ISOLA_URL", oci.url);
      fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
      try {
        ok(fixture.call("create", "--name", "first", "--image", "small", "--user", "root"));
        String change = "echo work > /workspace/kept; echo root > /etc/kept; rm /etc/removed";
        ok(fixture.call("exec", "first", "--", "sh", "-c", change));
        assertThat(ok(fixture.call("commit", "first", "mine:1")).out()).startsWith("mine:1: ");
        ok(fixture.call("create", "--name", "second", "--image", "mine:1"));
        String look = "cat /workspace/kept /etc/kept; ls /etc/removed 2>/dev/null; id -un";
        assertThat(fixture.call("exec", "second", "--", "sh", "-c", look).out())
            .isEqualTo("work\nroot\nroot\n");
      } finally {
        fixture.call("rm", "-f", "first", "second");
      }
    }
  }

  @Test
  void sandboxIsCommittedToAnImage() {
    String id = ok(onServer("create", "--image", "small")).out().strip();
    ok(onServer("exec", id, "--", "sh", "-c", "echo kept > kept && mkdir d && echo w > d/work"));
    assertThat(ok(onServer("commit", id, "mine:1")).out()).startsWith("mine:1: ");
    CommandResult taken = onServer("commit", id, "mine:1");
    assertThat(taken.code()).isEqualTo(125);
    assertThat(taken.err()).contains("there is already an image mine:1", "--replace");
    assertThat(ok(onServer("commit", "--replace", "--json", id, "mine:1")).out())
        .startsWith("{\"image\":{");
    assertThat(onServer("commit", id, "snapshot:x").err()).contains("reserved for snapshots");
    String second = ok(onServer("create", "--image", "mine:1")).out().strip();
    assertThat(ok(onServer("exec", second, "--", "cat", "kept", "d/work")).out())
        .isEqualTo("kept\nw\n");
    ok(onServer("rm", "-f", id, second));
    String host = ok(onServer("create")).out().strip();
    assertThat(onServer("commit", host, "of-host").err()).contains("--image base");
    ok(onServer("rm", "-f", host));
  }
}
