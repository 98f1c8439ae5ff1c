package dev.isola.engine;

import static dev.isola.engine.api.template.StoreImages.SMALL;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.api.template.StoreImages;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.BuildEntry;
import dev.isola.store.TemplateEntry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real template builds, with bubblewrap and a busybox image. */
class TemplateServiceTest {
  private static final String UNIQUE = "cat /proc/sys/kernel/random/uuid > /unique";

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

  private TemplateService templates() {
    return fixture.engine.templates();
  }

  private static Recipe recipe(BuildStep... steps) {
    return recipe(new Recipe.Base.Image(SMALL), steps);
  }

  private static Recipe recipe(Recipe.Base base, BuildStep... steps) {
    return new Recipe(
        base,
        List.of(steps),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private BuildView begin(Recipe recipe) {
    return templates().build("web", recipe, BuildSettings.DEFAULT);
  }

  private BuildView build(Recipe recipe) {
    return fixture.ended(begin(recipe));
  }

  private BuildView ready(Recipe recipe) {
    BuildView build = build(recipe);
    assertThat(build.state())
        .as("%s: %s", build.reason(), fixture.messages(build))
        .isEqualTo(BuildView.State.READY);
    return build;
  }

  /** Returns the output of a command in a sandbox created from the template. */
  private String output(String command) {
    SandboxId id = sandbox();
    try {
      return fixture
          .engine
          .sandboxes()
          .get(id)
          .run(Command.argv("/bin/sh", "-c", command))
          .stdout()
          .text();
    } finally {
      fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    }
  }

  private SandboxId sandbox() {
    TemplateView template = templates().requireBuilt("web");
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(new java.util.Random()))
            .image(template.image().orElseThrow())
            .env(template.env());
    if (!template.user().isEmpty()) {
      spec.user(template.user());
    }
    if (!template.cwd().isEmpty()) {
      spec.cwd(template.cwd());
    }
    return fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec.build(), TemplateFixture.PROVIDER)))
        .view()
        .id();
  }

  private List<String> builtImages() {
    return fixture.images.names().stream().filter(name -> !name.equals(SMALL)).toList();
  }

  @Test
  void stepsProduceAnImageAndSandboxDefaults() throws IOException {
    String archive = archive("app.txt", "copied in");
    BuildView build =
        ready(
            recipe(
                new BuildStep.Env(Map.of("GREETING", "hello")),
                new BuildStep.Run("echo \"by $(id -un)\" > /by-root"),
                new BuildStep.User("user"),
                new BuildStep.Workdir("/opt/app"),
                new BuildStep.Copy(archive, "app.txt", "files/"),
                new BuildStep.Run("echo \"by $(id -un) with $GREETING\" > made.txt")));
    TemplateView template = templates().requireBuilt("web");
    assertThat(template.user()).isEqualTo("user");
    assertThat(template.cwd()).isEqualTo("/opt/app");
    assertThat(template.env()).containsEntry("GREETING", "hello");
    assertThat(
            output(
                "cat /by-root made.txt files/app.txt; echo; stat -c %U files/app.txt; pwd;"
                    + " echo $GREETING"))
        .isEqualTo("by root\nby user with hello\ncopied in\nuser\n/opt/app\nhello\n");
    assertThat(fixture.messages(build))
        .anyMatch(line -> line.startsWith("RUN echo"))
        .anyMatch(line -> line.startsWith("COPY app.txt files/"))
        .endsWith("done");
    assertThat(fixture.sandboxes()).isEmpty();
    assertThat(templates().builds("web")).containsExactly(build);
  }

  @Test
  void identicalStepsUseTheCache() {
    Recipe recipe = recipe(new BuildStep.Run(UNIQUE), new BuildStep.Env(Map.of("A", "B")));
    ready(recipe);
    String first = output("cat /unique");
    BuildView second = ready(recipe);
    assertThat(output("cat /unique; echo $A")).isEqualTo(first + "B\n");
    assertThat(fixture.messages(second)).contains("CACHED RUN " + UNIQUE);
    ready(recipe(new BuildStep.Run(UNIQUE + " "), new BuildStep.Env(Map.of("A", "B"))));
    assertThat(output("cat /unique")).isNotEqualTo(first);
  }

  @Test
  void changedArchiveReexecutesItsStepAndLaterSteps() throws IOException {
    String first = archive("app.txt", "first");
    String second = archive("app.txt", "second");
    ready(copying(first));
    String before = output("cat /unique");
    String after = output("cat /after");
    BuildView build = ready(copying(second));
    assertThat(output("cat /unique")).isEqualTo(before);
    assertThat(output("cat /after")).isNotEqualTo(after);
    assertThat(output("cat /app.txt")).isEqualTo("second");
    assertThat(fixture.messages(build))
        .contains("CACHED RUN " + UNIQUE)
        .noneMatch(line -> line.startsWith("CACHED COPY"));
  }

  private static Recipe copying(String archive) {
    return recipe(
        new BuildStep.Run(UNIQUE),
        new BuildStep.Copy(archive, ".", "/"),
        new BuildStep.Run(UNIQUE.replace("/unique", "/after")));
  }

  @Test
  void buildIgnoresADamagedOrMissingCache() throws IOException {
    Recipe recipe = recipe(new BuildStep.Run(UNIQUE));
    ready(recipe);
    String first = output("cat /unique");
    try (Stream<Path> chunks = Files.walk(folder.resolve("snapshots"))) {
      for (Path file : chunks.filter(one -> one.toString().contains("/packs/")).toList()) {
        Files.write(file, new byte[] {1, 2, 3});
      }
    }
    BuildView build = ready(recipe);
    assertThat(fixture.messages(build))
        .anyMatch(line -> line.contains("continues without the cache"));
    assertThat(output("cat /unique")).isNotEqualTo(first);
    fixture.engine.snapshots().list().forEach(one -> fixture.engine.snapshots().remove(one.id()));
    ready(recipe);
  }

  @Test
  void unusedCacheIsRemoved() {
    ready(recipe(new BuildStep.Run(UNIQUE)));
    assertThat(fixture.engine.snapshots().list()).hasSize(1);
    templates().removeUnused(Duration.ofDays(1));
    assertThat(fixture.engine.snapshots().list()).hasSize(1);
    templates().removeUnused(Duration.ofMinutes(-1));
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void failingStepFailsTheBuildAndKeepsTheTemplate() {
    ready(recipe(new BuildStep.Run("echo first > /version")));
    TemplateView before = templates().requireBuilt("web");
    BuildView failed =
        build(
            recipe(
                new BuildStep.Run("echo second > /version"),
                new BuildStep.Run("echo the reason; exit 3"),
                new BuildStep.Run("echo never")));
    assertThat(failed.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(failed.failedStep()).contains(2);
    assertThat(failed.reason()).contains("step 2", "exit 3", "exit code 3", "the reason");
    assertThat(fixture.messages(failed)).noneMatch(line -> line.contains("never"));
    assertThat(templates().requireBuilt("web").image()).isEqualTo(before.image());
    assertThat(output("cat /version")).isEqualTo("first\n");
    assertThat(fixture.sandboxes()).isEmpty();
    assertThat(builtImages()).hasSize(1);
  }

  @Test
  void replacedImageIsRemovedWhenNoSandboxUsesIt() {
    ready(recipe(new BuildStep.Run("echo first > /version")));
    SandboxId old = sandbox();
    ready(recipe(new BuildStep.Run("echo second > /version")));
    templates().reconcile();
    assertThat(builtImages()).hasSize(2);
    assertThat(output("cat /version")).isEqualTo("second\n");
    fixture.engine.sandboxes().destroy(old, DestroyOptions.FORCE);
    templates().reconcile();
    assertThat(builtImages())
        .containsExactly(templates().requireBuilt("web").image().orElseThrow());
  }

  @Test
  void templateCanUseAnotherTemplateAsBase() {
    ready(recipe(new BuildStep.Env(Map.of("A", "1")), new BuildStep.Run("echo base > /base")));
    templates().tag("web", List.of("v1"));
    BuildView build =
        fixture.ended(
            templates()
                .build(
                    "more",
                    recipe(
                        new Recipe.Base.FromTemplate("web:v1"),
                        new BuildStep.Run("cat /base; echo A is $A")),
                    BuildSettings.DEFAULT));
    assertThat(build.state()).as(build.reason()).isEqualTo(BuildView.State.READY);
    assertThat(fixture.messages(build)).contains("base", "A is 1");
    assertThatThrownBy(
            () ->
                begin(
                    recipe(new Recipe.Base.FromTemplate("none"), new BuildStep.Run("echo never"))))
        .isInstanceOf(NotFound.class);
  }

  @Test
  void removalCancelsARunningBuildAndLeavesNothingBehind() {
    BuildView build = begin(recipe(new BuildStep.Run("echo begun; sleep 600")));
    fixture.awaitLine(build, "begun");
    assertThat(fixture.sandboxes()).hasSize(1);
    templates().remove("web");
    assertThat(templates().find("web")).isEmpty();
    assertThat(fixture.sandboxes()).isEmpty();
    assertThat(fixture.ledger.templates().all()).isEmpty();
    assertThat(fixture.ledger.templates().builds()).isEmpty();
    assertThat(builtImages()).isEmpty();
    assertThat(folder.resolve("templates/logs/" + build.id() + ".log")).doesNotExist();
    assertThatThrownBy(() -> templates().remove("web")).isInstanceOf(NotFound.class);
  }

  @Test
  void templateInUseCannotBeRemoved() {
    ready(recipe(new BuildStep.Run("echo first > /version")));
    SandboxId id = sandbox();
    assertThatThrownBy(() -> templates().remove("web"))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining(id.value());
    assertThat(output("cat /version")).isEqualTo("first\n");
    fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    templates().remove("web");
    assertThat(builtImages()).isEmpty();
  }

  @Test
  void newerOfTwoBuildsDeterminesTheImage() {
    BuildView older =
        begin(recipe(new BuildStep.Run("echo begun; sleep 3; echo older > /version")));
    fixture.awaitLine(older, "begun");
    BuildView newer = begin(recipe(new BuildStep.Run("echo newer > /version")));
    assertThat(fixture.ended(newer).state()).isEqualTo(BuildView.State.READY);
    BuildView overtaken = fixture.ended(older);
    assertThat(overtaken.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(overtaken.reason()).contains("newer build");
    assertThat(output("cat /version")).isEqualTo("newer\n");
    templates().reconcile();
    assertThat(builtImages()).hasSize(1);
  }

  @Test
  void outputOfAStepIsBounded() {
    BuildView build = ready(recipe(new BuildStep.Run("seq 1 150000")));
    long lines = 0;
    List<String> last = new ArrayList<>();
    while (true) {
      var page = templates().log("web", build.id(), lines, 1000);
      lines = page.next();
      page.lines().forEach(line -> last.add(line.message()));
      if (page.last()) {
        break;
      }
    }
    assertThat(lines).isBetween(100_000L, 100_005L);
    assertThat(last.subList(last.size() - 2, last.size()))
        .containsExactly("the log is full; further lines are discarded", "done");
  }

  @Test
  void hostileArchiveCannotEscapeItsFolder() throws IOException {
    Path evil = Files.createDirectories(folder.resolve("evil"));
    Files.writeString(evil.resolve("x"), "owned");
    Path tar = folder.resolve("evil.tar");
    run(
        "tar",
        "-C",
        evil.toString(),
        "-P",
        "--transform",
        "s,^x,../../etc/passwd,",
        "-cf",
        tar.toString(),
        "x");
    BuildView build = build(recipe(new BuildStep.Copy(upload(tar), ".", "/app")));
    assertThat(build.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(build.reason()).contains("step 1", "archive");
    Path linked = Files.createDirectories(folder.resolve("linked"));
    Files.createSymbolicLink(linked.resolve("etc"), Path.of("/etc"));
    run("tar", "-C", linked.toString(), "-cf", tar.toString(), "etc");
    ready(
        recipe(
            new BuildStep.Copy(
                upload(tar), ".", "/app", Optional.of("user"), Optional.of("0777"))));
    assertThat(output("stat -c '%U %a' /etc/passwd; head -n 1 /etc/passwd"))
        .isEqualTo("root 644\nroot:x:0:0::/root:/bin/sh\n");
  }

  @Test
  void invalidRecipesAreRejectedBeforeTheBuildStarts() {
    for (BuildStep wrong :
        List.of(
            new BuildStep.Packages(List.of("curl", "-o=Dir::Etc=/x")),
            new BuildStep.Packages(List.of("curl-")),
            new BuildStep.Packages(List.of("a b")),
            new BuildStep.Packages(List.of()),
            new BuildStep.Run(" "),
            new BuildStep.Run("a\0b"),
            new BuildStep.Env(Map.of("A=B", "c")),
            new BuildStep.Copy("../../x", ".", "."),
            new BuildStep.User(""))) {
      assertThatThrownBy(() -> begin(recipe(wrong)))
          .as(wrong.toString())
          .isInstanceOf(InvalidRequest.class);
    }
    assertThatThrownBy(() -> begin(recipe(new BuildStep.Copy("0".repeat(64), ".", "."))))
        .isInstanceOf(NotFound.class);
    for (String name : List.of("", "..x", "A", "a b", "a:", "a:b/c")) {
      assertThatThrownBy(() -> templates().build(name, recipe(), BuildSettings.DEFAULT))
          .as(name)
          .isInstanceOf(InvalidRequest.class);
    }
    assertThat(fixture.ledger.templates().builds()).isEmpty();
  }

  @Test
  void packagesStepRequiresAPackageManager() {
    BuildView build = build(recipe(new BuildStep.Packages(List.of("curl"))));
    assertThat(build.reason()).contains("neither apt-get nor apk");
  }

  @Test
  void onlyTheNewestBuildStartsAndOnlyOnce() {
    TemplateView first = templates().declare("web", List.of(), Optional.of(2L), Optional.empty());
    TemplateView second =
        templates().declare("web:v1", List.of("v2"), Optional.empty(), Optional.empty());
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(second.names()).containsExactly("web");
    assertThat(second.builds()).isEqualTo(2);
    assertThat(templates().find("web:v1")).isEmpty();
    assertThatThrownBy(() -> templates().requireBuilt("web"))
        .isInstanceOf(NotFound.class)
        .hasMessageContaining("not been built");
    assertThatThrownBy(
            () -> templates().startBuild("web", first.build(), recipe(), BuildSettings.DEFAULT))
        .isInstanceOf(Conflict.class);
    BuildView begun =
        templates().startBuild("web", second.build(), recipe(), BuildSettings.DEFAULT);
    assertThatThrownBy(
            () -> templates().startBuild("web", second.build(), recipe(), BuildSettings.DEFAULT))
        .isInstanceOf(Conflict.class);
    assertThat(fixture.ended(begun).state()).isEqualTo(BuildView.State.READY);
    assertThat(templates().find("web:latest")).map(TemplateView::id).contains(first.id());
    assertThat(templates().find("web:v2")).map(TemplateView::id).contains(first.id());
    assertThat(templates().find("web:v3")).isEmpty();
    assertThat(templates().requireBuilt("web").names()).containsExactly("web", "web:v1", "web:v2");
  }

  @Test
  void templateGetsTheTagsOfABuildOnlyIfItSucceeds() {
    TemplateView declared =
        templates().declare("web", List.of("bad"), Optional.empty(), Optional.empty());
    assertThatThrownBy(() -> templates().tag("web", List.of("v1"))).isInstanceOf(NotFound.class);
    BuildView failed =
        fixture.ended(
            templates()
                .startBuild(
                    "web",
                    declared.build(),
                    recipe(new BuildStep.Run("exit 1")),
                    BuildSettings.DEFAULT));
    assertThat(failed.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(templates().find("web:bad")).isEmpty();
    ready(recipe());
    assertThat(templates().find("web:bad")).isEmpty();
    TemplateView tagged = templates().tag("web", List.of("v1", "v2"));
    assertThat(tagged.names()).containsExactly("web", "web:v1", "web:v2");
    assertThat(tagged.builds()).isEqualTo(2);
    assertThat(templates().tag("web:v1", List.of("v3")).names()).contains("web:v3");
    assertThatThrownBy(() -> templates().tag("web:never", List.of("v4")))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> templates().untag("web", List.of("v1", "never")))
        .isInstanceOf(NotFound.class);
    assertThat(templates().find("web:v1")).isPresent();
    templates().untag("web", List.of("v1", "v3"));
    assertThat(templates().requireBuilt("web").names()).containsExactly("web", "web:v2");
    for (String name : List.of(":v1", "web:", "", "a b", "web:a b")) {
      assertThatThrownBy(() -> templates().tag(name, List.of("v1")))
          .as(name)
          .isInstanceOf(InvalidRequest.class);
    }
    for (String tag : List.of("", "a b", ":", "a/b")) {
      assertThatThrownBy(() -> templates().tag("web", List.of(tag)))
          .as(tag)
          .isInstanceOf(InvalidRequest.class);
    }
  }

  @Test
  void buildWithoutFileChangesSharesTheFilesOfItsBase() throws IOException {
    BuildView build =
        ready(recipe(new BuildStep.Env(Map.of("A", "B")), new BuildStep.User("user")));
    assertThat(fixture.messages(build))
        .containsExactly("ENV A=B", "USER user", "sharing the files of the base", "done");
    assertThat(inode(templates().requireBuilt("web").image().orElseThrow(), "bin/busybox"))
        .isEqualTo(inode(SMALL, "bin/busybox"));
    assertThat(
            fixture
                .images
                .find(templates().requireBuilt("web").image().orElseThrow())
                .orElseThrow())
        .extracting(TemplateImages.StoredImage::digest)
        .isEqualTo(fixture.images.find(SMALL).orElseThrow().digest());
    fixture.images.store().remove(SMALL);
    assertThat(output("id -un; echo $A")).isEqualTo("user\nB\n");
  }

  @Test
  void buildWithStepsSharesTheFilesThatTheyDidNotChange() throws IOException {
    ready(
        recipe(
            new BuildStep.Run(
                "echo new > /etc/new; rm /bin/seq; rm -r /root; echo x > /tmp/x;"
                    + " echo x > /workspace/x; mv /bin/stat /bin/moved")));
    String image = templates().requireBuilt("web").image().orElseThrow();
    assertThat(inode(image, "bin/busybox")).isEqualTo(inode(SMALL, "bin/busybox"));
    assertThat(output("cat /etc/new; ls -d /root /bin/seq /tmp/x /workspace/x; ls /bin/moved"))
        .isEqualTo("new\n/bin/moved\n");
    assertThat(fixture.images.store().check(image).passed()).isTrue();
    assertThat(fixture.images.store().check(SMALL).passed()).isTrue();
  }

  private Object inode(String image, String path) throws IOException {
    return Files.getAttribute(
        fixture.images.store().require(image).rootfs().resolve(path), "unix:ino");
  }

  private static Recipe.Base withUser(String image) {
    return new Recipe.Base.Image(
        image,
        new Recipe.Defaults(Map.of(), "user", "/home/user", Optional.empty(), Optional.empty()),
        true);
  }

  private Path bareRoot() throws IOException {
    return StoreImages.busyboxRoot(folder.resolve("bare-root"));
  }

  @Test
  void buildCreatesTheUserThatAnImageLacks() throws IOException {
    Path root = bareRoot();
    Files.writeString(
        root.resolve("etc/passwd"),
        "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh");
    Files.writeString(root.resolve("etc/group"), "root:x:0:\nnode:x:1000:\n");
    fixture.images.store().importFrom("bare", root);
    String archive = archive("app.txt", "copied in");
    BuildView build =
        ready(
            recipe(
                withUser("bare"),
                new BuildStep.Run("id -un > made; pwd >> made"),
                new BuildStep.Copy(archive, "app.txt", "app.txt")));
    assertThat(fixture.messages(build)).contains("created the user user");
    assertThat(output("cat made; stat -c %U app.txt . /home/user; id -u; sudo id -un 2>&1"))
        .isEqualTo("user\n/home/user\nuser\nuser\nuser\n1001\nroot\n");
    BuildView cached =
        ready(
            recipe(
                withUser("bare"),
                new BuildStep.Run("id -un > made; pwd >> made"),
                new BuildStep.Run("id -un")));
    assertThat(fixture.messages(cached)).contains("CACHED RUN id -un > made; pwd >> made", "user");
    ready(recipe(withUser("bare")));
    assertThat(output("id -un; stat -c %U /home/user")).isEqualTo("user\nuser\n");
  }

  @Test
  void hostileListOfUsersHarmsOnlyItsOwnImage() throws IOException {
    Path outside = Files.writeString(folder.resolve("outside"), "untouched");
    Path root = bareRoot();
    Files.createSymbolicLink(root.resolve("etc/passwd"), outside);
    Files.createSymbolicLink(root.resolve("etc/group"), Path.of("/proc/version"));
    fixture.images.store().importFrom("links", root);
    build(recipe(withUser("links"), new BuildStep.Run("id -un")));
    assertThat(outside).hasContent("untouched");
    Files.delete(root.resolve("etc/passwd"));
    Files.delete(root.resolve("etc/group"));
    Files.writeString(root.resolve("etc/passwd"), "root:x:0:0::/root:/bin/sh\n".repeat(200_000));
    fixture.images.store().importFrom("huge", root);
    BuildView huge = build(recipe(withUser("huge"), new BuildStep.Run("id -un")));
    assertThat(huge.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(huge.reason()).contains("no user 'user'", "/etc/passwd is larger than");
    Files.writeString(
        root.resolve("etc/passwd"), "root:x:0:0::/root:/bin/sh\nuser:x:0:0::/root:/bin/sh\n");
    fixture.images.store().importFrom("as-root", root);
    BuildView asRoot = ready(recipe(withUser("as-root"), new BuildStep.Run("id -u")));
    assertThat(fixture.messages(asRoot)).contains("0");
  }

  @Test
  void unknownUserIsReportedInTheWordsOfE2b() throws IOException {
    String archive = archive("app.txt", "copied in");
    for (BuildStep step :
        List.of(
            new BuildStep.Run("whoami", Optional.of("missing-user")),
            new BuildStep.User("missing-user"),
            new BuildStep.Copy(
                archive, "app.txt", "/", Optional.of("missing-user:root"), Optional.empty()))) {
      BuildView failed = build(recipe(step));
      assertThat(failed.failedStep()).contains(1);
      assertThat(failed.reason())
          .isEqualTo(
              "failed to run command 'whoami': command failed: unauthenticated: invalid username:"
                  + " 'missing-user'");
      assertThat(fixture.messages(failed)).endsWith(failed.reason());
    }
  }

  @Test
  void failedCopyNamesTheStepItsExitCodeAndItsOutput() throws IOException {
    String archive = archive("app.txt", "copied in");
    BuildView failed = build(recipe(new BuildStep.Copy(archive, "missing.txt", "/")));
    assertThat(failed.reason())
        .contains("COPY missing.txt /", "exit code 1", "nothing is called missing.txt");
    assertThat(fixture.messages(failed)).endsWith(failed.reason());
    BuildView longRun = build(recipe(new BuildStep.Run("true " + "x".repeat(9000) + "; exit 9")));
    assertThat(longRun.reason()).contains("RUN true xxx", "exit code 9");
  }

  @Test
  void buildInterruptedByARestartFailsAndLeavesNothingBehind() throws IOException {
    ready(recipe(new BuildStep.Run("echo first > /version")));
    TemplateView template = templates().requireBuilt("web");
    SandboxId left =
        fixture
            .engine
            .creator()
            .create(
                SandboxRequest.of(
                        CreateRequest.of(
                            SandboxSpec.builder(SandboxId.random(new java.util.Random())).build(),
                            TemplateFixture.PROVIDER))
                    .withLabels(
                        Map.of(TemplateService.BUILD_LABEL, "cut-off", "isola.kind", "build")))
            .view()
            .id();
    fixture.images.store().importFrom("template-cut-off", folder.resolve("scratch/small-root"));
    Instant now = Instant.now();
    fixture.restart(
        () ->
            fixture
                .ledger
                .templates()
                .insert(
                    new BuildEntry(
                        "cut-off",
                        template.id(),
                        BuildEntry.State.RUNNING,
                        "template-cut-off",
                        "",
                        Optional.empty(),
                        now,
                        now)));
    BuildView build = templates().build("web", "cut-off");
    assertThat(build.state()).isEqualTo(BuildView.State.FAILED);
    assertThat(build.reason()).contains("restarted");
    assertThat(fixture.messages(build)).containsExactly(build.reason());
    templates().reconcile();
    assertThat(fixture.sandboxes()).doesNotContain(left.value());
    assertThat(builtImages()).containsExactly(template.image().orElseThrow());
    assertThat(output("cat /version")).isEqualTo("first\n");
  }

  @Test
  void removalInterruptedByARestartIsFinished() {
    ready(recipe(new BuildStep.Run("echo first > /version")));
    String id = templates().requireBuilt("web").id();
    fixture.restart(
        () -> {
          TemplateEntry entry = fixture.ledger.templates().find(id).orElseThrow();
          fixture
              .ledger
              .templates()
              .update(entry.withState(TemplateEntry.State.REMOVING, Instant.now()));
        });
    assertThat(templates().find("web")).isEmpty();
    // The engine reconciles after its start too, and one of the two may have to try again.
    await()
        .untilAsserted(
            () -> {
              templates().reconcile();
              assertThat(fixture.ledger.templates().all()).isEmpty();
            });
    assertThat(builtImages()).isEmpty();
  }

  @Test
  void buildsAndLogsSurviveARestart() {
    BuildView build = ready(recipe(new BuildStep.Run("echo kept line")));
    TemplateView template = templates().requireBuilt("web");
    fixture.restart(() -> {});
    assertThat(templates().list()).containsExactly(template);
    assertThat(templates().build("web", build.id())).isEqualTo(build);
    assertThat(fixture.messages(build)).contains("kept line").endsWith("done");
  }

  /** Uploads an archive with one file and returns its SHA-256. */
  private String archive(String name, String content) throws IOException {
    Path source = Files.createDirectories(folder.resolve("source"));
    Files.writeString(source.resolve(name), content);
    Path tar = folder.resolve("source.tar");
    run("tar", "-C", source.toString(), "-czf", tar.toString(), name);
    return upload(tar);
  }

  private String upload(Path tar) throws IOException {
    String sha256;
    try {
      sha256 =
          HexFormat.of()
              .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(tar)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    try (InputStream in = Files.newInputStream(tar)) {
      templates().upload(sha256, in);
    }
    return sha256;
  }

  private static void run(String... words) throws IOException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.onExit().join().exitValue()).as(output).isZero();
  }
}
