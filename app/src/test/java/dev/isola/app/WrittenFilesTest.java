package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.host.image.ImageStore;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * N2, N4: all changes of a sandbox to its image, including removals, survive a fork, and a snapshot
 * with restore, on the same and on another provider.
 */
@Timeout(240)
@Tag("all")
class WrittenFilesTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String NO_DOCKER = "unix:///nowhere/docker.sock";

  /** Imitates a package manager: adds, changes and removes files, and replaces folders. */
  private static final String CHANGES =
      """
      echo plain > plain
      mkdir -p /etc/new.d && echo mine > /etc/new.d/file && chmod 600 /etc/new.d/file
      echo changed > /etc/changed
      rm /etc/removed
      rm -r /usr/lib/pkg && mkdir /usr/lib/pkg && echo new > /usr/lib/pkg/other
      rm -r /etc/old.d && echo file now > /etc/old.d
      ln -s /etc/changed /link && ln /etc/changed /etc/again
      echo tool > /bin/tool && chmod 4755 /bin/tool
      mkdir -p /srv/deep/er && echo x > /srv/deep/er/x && chown 1000:1000 /srv/deep/er/x
      echo home > /home/user/.profile && echo root > /root/note && echo tmp > /tmp/left
      """;

  /** Lists files and links, except those that every boot recreates. */
  private static final String FILES =
      """
      cd / && find . -xdev \\( -path ./proc -o -path ./dev -o -path ./sys -o -path ./run \
      -o -path ./.isola -o -path ./.dockerenv -o -path ./etc/hosts -o -path ./etc/hostname \
      -o -path ./etc/resolv.conf -o -path ./etc/mtab -o -path ./workspace \\) \
      -prune -o ! -type d -print | sort | while read f; do
        stat -c '%n %F %a %u %g %s' "$f"; readlink "$f"; test -h "$f" || sha256sum < "$f"; done
      cat /workspace/plain
      """;

  /** Describes the whole root file system, except what every boot recreates. */
  private static final String DESCRIBE =
      """
      cd / && find . -xdev \\( -path ./proc -o -path ./dev -o -path ./sys -o -path ./run \
      -o -path ./.isola -o -path ./etc/hosts -o -path ./etc/hostname -o -path ./etc/resolv.conf \\) \
      -prune -o ! -type d -print | sort | while read f; do
        stat -c '%n %F %a %u %g %s' "$f"; readlink "$f"; test -h "$f" || sha256sum < "$f"; done
      find . -xdev \\( -path ./proc -o -path ./dev -o -path ./sys -o -path ./run -o -path ./.isola \\) \
      -prune -o -type d -print | sort | while read f; do stat -c '%n %a %u %g' "$f"; done
      cat /workspace/plain
      """;

  @TempDir Path folder;

  private ProviderEngine open(String... providers) throws IOException {
    SmallImage.addTo(folder, folder);
    return ProviderEngine.open(folder, NO_DOCKER, List.of(providers));
  }

  private static SandboxSpec.Builder spec(String id) {
    return SandboxSpec.builder(new SandboxId(id)).image(SmallImage.NAME);
  }

  private static Snapshot everything(ProviderEngine made, Sandbox source) {
    return made.engine().snapshots().create(source.id(), SnapshotRequest.EVERYTHING).snapshot();
  }

  private static Sandbox restored(ProviderEngine made, Snapshot from, String provider) {
    return made.make(
        SandboxSpec.builder(SandboxId.random(RANDOM)).image(SnapshotImageName.of(from.id())),
        provider);
  }

  @ParameterizedTest
  @CsvSource({"bubblewrap, bubblewrap", "bubblewrap, crun", "crun, bubblewrap", "runc, crun"})
  void snapshotOfEverythingContainsChangesToTheImage(String from, String to) throws IOException {
    try (ProviderEngine made =
        open(from.equals(to) ? new String[] {from} : new String[] {from, to})) {
      Sandbox source = made.make(spec("source"), from);
      ProviderEngine.output(source, CHANGES);
      Snapshot snapshot = everything(made, source);
      assertThat(snapshot.image()).contains(SmallImage.NAME);
      assertThat(snapshot.coverage().orElseThrow().imageDigest())
          .contains(new ImageStore(folder).require(SmallImage.NAME).digest());
      String before = ProviderEngine.output(source, DESCRIBE);
      assertThat(before).contains("/etc/new.d/file", "plain").doesNotContain("/etc/removed");
      Sandbox restored = restored(made, snapshot, to);
      assertThat(ProviderEngine.output(restored, DESCRIBE)).isEqualTo(before);
      String again =
          ProviderEngine.output(
              source,
              "echo second > /etc/changed; rm -r /srv; mv /etc/new.d /etc/moved.d; cd /; "
                  + DESCRIBE);
      made.engine().sandboxes().destroy(restored.id(), DestroyOptions.FORCE);
      Snapshot second = everything(made, source);
      assertThat(ProviderEngine.output(restored(made, second, to), DESCRIBE))
          .as("the second snapshot, which reads only what changed")
          .isEqualTo(again);
    }
  }

  @Test
  void snapshotIsPortableFromAndToDocker() throws IOException {
    TestContainerEngine.Kind.DOCKER
        .missing()
        .ifPresent(what -> Assumptions.abort("NOT RUN: " + what + " is missing"));
    SmallImage.addTo(folder, folder);
    try (TestContainerEngine containers = TestContainerEngine.docker(false);
        ProviderEngine made =
            ProviderEngine.open(folder, containers.host(), List.of("docker", "bubblewrap"))) {
      Sandbox local = made.make(spec("local"), "bubblewrap");
      ProviderEngine.output(local, CHANGES);
      String before = ProviderEngine.output(local, FILES);
      Sandbox there = restored(made, everything(made, local), "docker");
      assertThat(ProviderEngine.output(there, FILES)).isEqualTo(before);
      Sandbox container = made.make(spec("container"), "docker");
      ProviderEngine.output(container, CHANGES);
      Sandbox back = restored(made, everything(made, container), "bubblewrap");
      assertThat(ProviderEngine.output(back, FILES)).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun"})
  void forkContainsChangesToTheImage(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox source = made.make(spec("source"), provider);
      ProviderEngine.output(source, CHANGES);
      String before = ProviderEngine.output(source, DESCRIBE);
      List<ForkResult> forks = made.engine().forks().fork(source.id(), ForkRequest.of(2));
      for (ForkResult fork : forks) {
        assertThat(fork).isInstanceOf(ForkResult.Created.class);
        ForkResult.Created one = (ForkResult.Created) fork;
        assertThat(one.method()).isEqualTo(ForkResult.Method.MOUNT);
        Sandbox forked = made.engine().sandboxes().get(one.view().id());
        assertThat(ProviderEngine.output(forked, DESCRIBE)).isEqualTo(before);
        ProviderEngine.output(forked, "echo other > /etc/changed");
      }
      assertThat(ProviderEngine.output(source, DESCRIBE)).isEqualTo(before);
      ForkResult.Created first = (ForkResult.Created) forks.getFirst();
      ForkResult.Created grandchild =
          (ForkResult.Created)
              made.engine().forks().fork(first.view().id(), ForkRequest.of(1)).getFirst();
      assertThat(
              ProviderEngine.output(
                  made.engine().sandboxes().get(grandchild.view().id()),
                  "cat /etc/changed /root/note"))
          .isEqualTo("other\nroot\n");
    }
  }

  @Test
  void forkOfABusySandboxContainsChangesToTheImage() throws IOException {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox source = made.make(spec("source"), "bubblewrap");
      ProviderEngine.output(source, CHANGES);
      String before = ProviderEngine.output(source, DESCRIBE);
      ProviderEngine.output(source, "cd /workspace; sleep 300 > busy 2>&1 &");
      ForkResult.Created fork =
          (ForkResult.Created)
              made.engine().forks().fork(source.id(), ForkRequest.of(1)).getFirst();
      assertThat(fork.method()).isEqualTo(ForkResult.Method.RESTORE);
      assertThat(ProviderEngine.output(made.engine().sandboxes().get(fork.view().id()), DESCRIBE))
          .isEqualTo(before);
    }
  }

  @Test
  void suspensionAsSnapshotKeepsChangesToTheImage() throws Exception {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox source =
          made.engine()
              .creator()
              .create(
                  SandboxRequest.of(
                          CreateRequest.of(spec("source").build(), "bubblewrap")
                              .with(
                                  Lifecycle.ttl(Duration.ofMinutes(5))
                                      .withWhenIdle(ExpiryAction.SNAPSHOT)
                                      .withIdleTimeout(Duration.ofSeconds(1)))
                              .strict())
                      .withFixedId())
              .sandbox();
      ProviderEngine.output(source, CHANGES);
      String before = ProviderEngine.output(source, DESCRIBE);
      await("it is suspended")
          .atMost(Duration.ofSeconds(90))
          .until(() -> !made.atProvider("bubblewrap", source.id()));
      assertThat(made.engine().sandboxes().view(source.id()).state())
          .isEqualTo(SandboxState.STOPPED);
      assertThat(ProviderEngine.output(made.engine().sandboxes().get(source.id()), DESCRIBE))
          .isEqualTo(before);
    }
  }

  @Test
  void withoutAnImageHomeAndTemporaryFoldersAreCaptured() throws IOException {
    try (ProviderEngine made = ProviderEngine.open(folder, NO_DOCKER, List.of("bubblewrap"))) {
      Sandbox source = made.make(SandboxSpec.builder(new SandboxId("source")), "bubblewrap");
      String show = "cd /; cat home/user/.h root/r tmp/t var/tmp/v workspace/w";
      ProviderEngine.output(
          source,
          "echo h > /home/user/.h; echo r > /root/r; echo t > /tmp/t; echo v > /var/tmp/v;"
              + " echo w > w");
      ForkResult.Created fork =
          (ForkResult.Created)
              made.engine().forks().fork(source.id(), ForkRequest.of(1)).getFirst();
      assertThat(fork.method()).isEqualTo(ForkResult.Method.MOUNT);
      assertThat(ProviderEngine.output(made.engine().sandboxes().get(fork.view().id()), show))
          .isEqualTo("h\nr\nt\nv\nw\n");
      Snapshot snapshot = everything(made, source);
      assertThat(ProviderEngine.output(restored(made, snapshot, "bubblewrap"), show))
          .isEqualTo("h\nr\nt\nv\nw\n");
    }
  }

  /** Files in a volume are neither captured nor changed by snapshots. */
  @Test
  void volumesAreNeitherCapturedNorChanged() throws IOException {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox other = made.make(spec("other"), "bubblewrap");
      ProviderEngine.output(
          other, "mkdir -p /data/sub; echo of the layer > /data/sub/file; rm -r /usr/lib/pkg");
      Snapshot withFolder = everything(made, other);
      VolumeMount data = new VolumeMount(VolumeMount.Type.VOLUME, "data", "/data", false);
      VolumeMount lib = new VolumeMount(VolumeMount.Type.VOLUME, "lib", "/usr/lib/pkg", false);
      Sandbox source = made.make(spec("source").volume(data).volume(lib), "bubblewrap");
      ProviderEngine.output(
          source, "echo of the volume > /data/file; echo kept > /usr/lib/pkg/lib; echo x > /etc/x");
      Snapshot snapshot = everything(made, source);
      assertThat(made.engine().snapshots().difference(snapshot.id(), withFolder.id()).removed())
          .contains("etc/x")
          .doesNotContain("data/file", "usr/lib/pkg/lib");
      Sandbox restored =
          made.make(
              SandboxSpec.builder(new SandboxId("restored"))
                  .image(SnapshotImageName.of(withFolder.id()))
                  .volume(data)
                  .volume(lib),
              "bubblewrap");
      assertThat(ProviderEngine.output(restored, "ls /data; cat /data/file /usr/lib/pkg/lib"))
          .isEqualTo("file\nof the volume\nkept\n");
    }
  }

  @Test
  void changesToAnotherImageAreRejectedUnlessForced() throws IOException {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox source = made.make(spec("source"), "bubblewrap");
      ProviderEngine.output(source, "echo mine > /etc/mine");
      Snapshot snapshot = everything(made, source);
      made.engine().sandboxes().destroy(source.id(), DestroyOptions.FORCE);
      new ImageStore(folder).remove(SmallImage.NAME);
      SmallImage.addTo(folder, folder.resolve("again"), SmallImage.NAME, "second\n");
      assertThatThrownBy(() -> restored(made, snapshot, "bubblewrap"))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CONFLICT);
                assertThat(e.fault().problem())
                    .contains(snapshot.coverage().get().imageDigest().get());
              });
      Sandbox forced =
          made.make(
              SandboxSpec.builder(new SandboxId("forced"))
                  .image(SnapshotImageName.of(snapshot.id()) + "+force"),
              "bubblewrap");
      assertThat(ProviderEngine.output(forced, "cat /etc/mine /etc/version"))
          .isEqualTo("mine\nsecond\n");
    }
  }

  @Test
  void snapshotOfTheWorkspaceContainsOnlyTheWorkspace() throws IOException {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox source = made.make(spec("source"), "bubblewrap");
      ProviderEngine.output(source, CHANGES);
      Snapshot snapshot =
          made.engine()
              .snapshots()
              .create(source.id(), SnapshotRequest.WORKSPACE.withTags(Map.of()))
              .snapshot();
      assertThat(snapshot.coverage()).isEmpty();
      assertThat(snapshot.root()).isEqualTo("/workspace");
      Sandbox restored = restored(made, snapshot, "bubblewrap");
      assertThat(ProviderEngine.output(restored, "cat plain /etc/changed"))
          .isEqualTo("plain\nby the image\n");
    }
  }
}
