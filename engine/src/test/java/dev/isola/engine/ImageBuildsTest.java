package dev.isola.engine;

import static dev.isola.engine.api.template.StoreImages.SMALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Installer;
import dev.isola.document.recipe.Recipe;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.host.image.Image;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real image builds and images of sandboxes, with bubblewrap and a busybox image. */
class ImageBuildsTest {
  @TempDir Path folder;
  private TemplateFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new TemplateFixture(folder);
  }

  @AfterEach
  void close() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private static Recipe recipe(String base, BuildStep... steps) {
    return new Recipe(
        new Recipe.Base.Image(base),
        List.of(steps),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private List<String> build(String image, boolean replace, Recipe recipe) {
    List<String> log = new ArrayList<>();
    fixture
        .engine
        .templates()
        .imageBuilds()
        .build(image, replace, recipe, BuildSettings.DEFAULT, line -> log.add(line.message()));
    return log;
  }

  private SandboxId sandbox(SandboxSpec spec) {
    return fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, TemplateFixture.PROVIDER)))
        .view()
        .id();
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(new Random()));
  }

  private String output(SandboxId id, String command) {
    return fixture
        .engine
        .sandboxes()
        .get(id)
        .run(Command.argv("/bin/sh", "-c", command))
        .stdout()
        .text();
  }

  private String output(String image, String command) {
    SandboxId id = sandbox(spec().image(image).build());
    try {
      return output(id, command);
    } finally {
      fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    }
  }

  @Test
  void imageKeepsFilesVariablesUserAndWorkdirOfItsSteps() {
    List<String> log =
        build(
            "web:1.0",
            false,
            recipe(
                SMALL,
                new BuildStep.Env(Map.of("MODE", "fast", "PATH", "/opt/bin:/bin")),
                new BuildStep.Workdir("/srv/app"),
                new BuildStep.Run("echo \"$MODE $PATH $PWD\" > built"),
                new BuildStep.Run("echo seed > /workspace/seed"),
                new BuildStep.User("user")));
    assertThat(log).contains("ENV MODE=fast PATH=/opt/bin:/bin", "USER user");
    Image image = fixture.images.store().require("web:1.0");
    assertThat(image.user()).contains("user");
    assertThat(image.workdir()).contains("/srv/app");
    assertThat(image.env()).containsEntry("MODE", "fast");
    assertThat(image.source()).isEqualTo("a recipe from small with 5 steps");
    assertThat(output("web:1.0", "cat /srv/app/built /workspace/seed; id -un; echo $MODE"))
        .isEqualTo("fast /opt/bin:/bin /srv/app\nseed\nuser\nfast\n");
    assertThat(fixture.sandboxes()).isEmpty();
  }

  @Test
  void unchangedStepsAreCachedAndAnExistingImageIsReplacedOnlyOnRequest() {
    Recipe recipe =
        recipe(
            SMALL,
            new BuildStep.Run("cat /proc/sys/kernel/random/uuid > /unique"),
            new BuildStep.Run("cp /unique /second"));
    build("one", false, recipe);
    assertThat(build("two", false, recipe))
        .contains("CACHED RUN cat /proc/sys/kernel/random/uuid > /unique");
    assertThat(output("one", "cat /second")).isEqualTo(output("two", "cat /unique"));
    assertThatThrownBy(() -> build("one", false, recipe)).isInstanceOf(Conflict.class);
    build("one", true, recipe(SMALL, new BuildStep.Run("echo new > /second")));
    assertThat(output("one", "cat /second")).isEqualTo("new\n");
  }

  @Test
  void failedStepLeavesNothingAndHintsAtTheNetwork() {
    build("web", false, recipe(SMALL, new BuildStep.Run("echo first > /version")));
    List<String> before = fixture.images.names();
    Recipe failing =
        recipe(SMALL, new BuildStep.Run("true"), new BuildStep.Run("echo out; exit 7"));
    for (String name : List.of("web", "other")) {
      assertThatThrownBy(() -> build(name, true, failing))
          .isInstanceOfSatisfying(
              InvalidRequest.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.BUILD_FAILED);
                assertThat(e.context())
                    .containsEntry("step", "2")
                    .containsEntry("exitCode", "7")
                    .containsEntry("command", "RUN echo out; exit 7")
                    .containsEntry("output", "out\n");
                assertThat(e.fault().remedy()).contains("add --network");
              });
    }
    assertThat(fixture.images.names()).isEqualTo(before);
    assertThat(output("web", "cat /version")).isEqualTo("first\n");
    assertThat(fixture.sandboxes()).isEmpty();
  }

  @Test
  void invalidBuildIsRejectedBeforeItsStepsRun() {
    Recipe recipe = recipe(SMALL, new BuildStep.Run("true"));
    assertThatThrownBy(() -> build("../x", false, recipe)).isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> build("host", false, recipe)).isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(
            () -> build("x", false, recipe(SMALL, new BuildStep.Copy("0".repeat(64), "a", "/a"))))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(
            () ->
                build(
                    "x",
                    false,
                    recipe(SMALL, new BuildStep.Packages(Installer.PIP, List.of("--pre")))))
        .isInstanceOf(InvalidRequest.class);
    for (Installer installer : List.of(Installer.APT, Installer.PIP, Installer.NPM)) {
      assertThatThrownBy(
              () ->
                  build("x", false, recipe(SMALL, new BuildStep.Packages(installer, List.of("a")))))
          .hasMessageContaining("the image has no ");
    }
    assertThat(fixture.images.names()).containsExactly(SMALL);
  }

  @Test
  void interruptedBuildLeavesNoSandboxAndNoImage() {
    List<String> log = new CopyOnWriteArrayList<>();
    AtomicReference<SandboxException> failure = new AtomicReference<>();
    Thread building =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    fixture
                        .engine
                        .templates()
                        .imageBuilds()
                        .build(
                            "slow",
                            false,
                            recipe(SMALL, new BuildStep.Run("echo begun; sleep 600")),
                            BuildSettings.DEFAULT,
                            (BuildLogEntry line) -> log.add(line.message()));
                  } catch (SandboxException e) {
                    failure.set(e);
                  }
                });
    await().atMost(Duration.ofMinutes(1)).until(() -> log.contains("begun"));
    fixture.engine.templates().reconcile(); // does not touch the sandbox of a running build
    assertThat(fixture.sandboxes()).hasSize(1);
    building.interrupt();
    await().atMost(Duration.ofMinutes(1)).until(() -> !building.isAlive());
    assertThat(failure.get()).isNotNull();
    assertThat(fixture.sandboxes()).isEmpty();
    assertThat(fixture.images.names()).containsExactly(SMALL);
  }

  @Test
  void sandboxBecomesAnImageWithoutItsVolumesAndVariables() {
    String volume = fixture.engine.volumes().create("", "files", "").name();
    SandboxId id =
        sandbox(
            spec()
                .image(SMALL)
                .env(Map.of("PLANTED", "secret-value"))
                .volume(new VolumeMount(VolumeMount.Type.VOLUME, volume, "/data [x]", false))
                .build());
    output(
        id,
        "echo tool > /opt-tool; echo work > /workspace/file; rm /bin/seq; echo temp > /tmp/t;"
            + " echo private > '/data [x]/file'; ls '/data [x]'");
    fixture.engine.imageCommits().commit(id, "mine:1", false);
    Image image = fixture.images.store().require("mine:1");
    assertThat(image.source()).isEqualTo("sandbox " + id + " of small");
    assertThat(image.env()).doesNotContainKey("PLANTED");
    assertThat(image.rootfs().resolve("data [x]")).isEmptyDirectory();
    assertThat(image.rootfs().resolve("tmp")).isEmptyDirectory();
    assertThat(output("mine:1", "cat /opt-tool /workspace/file; ls /bin/seq 2>/dev/null"))
        .isEqualTo("tool\nwork\n");
    assertThatThrownBy(() -> fixture.engine.imageCommits().commit(id, "mine:1", false))
        .isInstanceOf(Conflict.class);
    output(id, "echo second > /opt-tool");
    fixture.engine.imageCommits().commit(id, "mine:1", true);
    assertThat(output("mine:1", "cat /opt-tool")).isEqualTo("second\n");
    assertThatThrownBy(() -> fixture.engine.imageCommits().commit(id, "No", false))
        .isInstanceOf(InvalidRequest.class);
  }

  @Test
  void filesOfRootAreInImagesWhoseUserCannotReadThem() {
    build(
        "private:1",
        false,
        recipe(
            SMALL,
            new BuildStep.Run("echo secret > /etc/private && chmod 600 /etc/private"),
            new BuildStep.User("user")));
    build("private:2", false, recipe("private:1", new BuildStep.Run("true")));
    SandboxId id = sandbox(spec().image("private:2").build());
    assertThat(output(id, "cat /etc/private 2>&1")).contains("Permission denied");
    fixture.engine.imageCommits().commit(id, "private:3", false);
    assertThat(fixture.images.store().require("private:3").rootfs().resolve("etc/private"))
        .hasContent("secret");
  }

  @Test
  void sandboxOnTheRootOfTheHostIsNotCommitted() {
    SandboxId id = sandbox(spec().build());
    assertThatThrownBy(() -> fixture.engine.imageCommits().commit(id, "mine", false))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("--image base");
    assertThatThrownBy(
            () -> fixture.engine.imageCommits().commit(new SandboxId("nosuch"), "mine", false))
        .isInstanceOf(NotFound.class);
    assertThat(fixture.images.names()).containsExactly(SMALL);
  }
}
