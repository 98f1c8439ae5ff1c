package dev.isola.provider.oci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.HostLeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Forks of running sandboxes with a real runsc; NOT RUN where it cannot save them. */
class MemoryForkTest {
  private final Path folder;

  MemoryForkTest() throws IOException {
    folder = Files.createTempDirectory("isola");
    underTest =
        new ProviderUnderTest(
            new GvisorProviderFactory(),
            ProviderConfig.EMPTY,
            UniqueResources.instanceId("memoryforks"),
            folder);
  }

  @AfterEach
  void removeFolder() {
    TemporaryFolder.remove(folder);
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5));
  }

  private static String output(Sandbox sandbox, String shell) {
    return sandbox.run(Command.shell(shell)).stdout().text().strip();
  }

  private final ProviderUnderTest underTest;

  private Provider open() {
    Provider provider = underTest.open();
    if (!provider.info().capabilities().contains(MemoryForking.class)) {
      String why = String.valueOf(provider.health());
      provider.close();
      Assumptions.abort("NOT RUN: runsc cannot save sandboxes: " + why);
    }
    return provider;
  }

  private static void startCounter(Sandbox sandbox) {
    Execution _ =
        sandbox.start(
            Command.shell("n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.05; done"));
    output(sandbox, "while ! [ -s count ]; do sleep 0.05; done; sleep 0.3");
  }

  private static void assertThatItCounts(Sandbox sandbox, int from) {
    int now = Integer.parseInt(output(sandbox, "cat count"));
    assertThat(now).isGreaterThanOrEqualTo(from);
    assertThat(output(sandbox, "sleep 0.5; test $(cat count) -gt " + now + " && echo goes on"))
        .isEqualTo("goes on");
  }

  @Test
  void processesContinueInTheSourceAndInForks() throws Exception {
    try (Provider provider = open()) {
      HostLeakCheck leaks = HostLeakCheck.of(underTest);
      leaks.before();
      Sandbox source = provider.create(spec().build());
      Execution counter =
          source.start(
              Command.shell("n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.05; done"));
      output(source, "echo kept > ~/file; while ! [ -s count ]; do sleep 0.05; done; sleep 0.3");
      int before = Integer.parseInt(output(source, "cat count"));
      List<Sandbox> forks = new ArrayList<>();
      try (ForkPoint point = source.as(MemoryForking.class).orElseThrow().createForkPoint()) {
        System.out.println("frozen for " + point.frozenFor());
        for (int i = 0; i < 2; i++) {
          long begin = System.nanoTime();
          Sandbox fork = point.create(spec().build());
          forks.add(fork);
          String id = output(fork, "echo $ISOLA_SANDBOX");
          System.out.println("fork answered after " + (System.nanoTime() - begin) / 1_000_000);
          assertThat(id).isEqualTo(fork.id().value());
        }
      }
      for (Sandbox fork : forks) {
        assertThat(output(fork, "cat ~/file")).isEqualTo("kept");
        int now = Integer.parseInt(output(fork, "cat count"));
        assertThat(now).isGreaterThanOrEqualTo(before);
        assertThat(output(fork, "sleep 0.5; test $(cat count) -gt " + now + " && echo goes on"))
            .isEqualTo("goes on");
      }
      assertThat(output(source, "a=$(cat count); sleep 0.5; test $(cat count) -gt $a && echo on"))
          .isEqualTo("on");
      assertThat(counter.await(Duration.ofMillis(1))).isEmpty();
      for (Sandbox fork : forks) {
        provider.destroy(fork.id(), DestroyOptions.NORMAL);
      }
      provider.destroy(source.id(), DestroyOptions.NORMAL);
      assertThat(leaks.after()).isEmpty();
    }
  }

  @Test
  void storedSandboxContinuesInAnotherProcess() throws Exception {
    HostLeakCheck leaks = HostLeakCheck.of(underTest);
    leaks.before();
    Path stored = Files.createTempFile("isola", ".tar");
    int saved;
    try (Provider provider = open()) {
      Sandbox source = provider.create(spec().build());
      startCounter(source);
      output(source, "mkdir -p ~/a/b; echo kept > ~/a/b/file; chmod 600 ~/a/b/file");
      saved = Integer.parseInt(output(source, "cat count"));
      try (MemoryForkPoint point = source.as(MemoryForking.class).orElseThrow().createForkPoint();
          InputStream archive = point.archive()) {
        Files.copy(archive, stored, StandardCopyOption.REPLACE_EXISTING);
      }
      provider.destroy(source.id(), DestroyOptions.NORMAL);
    }
    try (Provider provider = open();
        InputStream archive = Files.newInputStream(stored);
        ForkPoint point = provider.openForkPoint(archive)) {
      Sandbox restored = point.create(spec().build());
      assertThatItCounts(restored, saved);
      assertThat(output(restored, "cat ~/a/b/file; stat -c %a ~/a/b/file")).isEqualTo("kept\n600");
      provider.destroy(restored.id(), DestroyOptions.NORMAL);
    } finally {
      Files.delete(stored);
    }
    assertThat(folder.resolve("saved")).isEmptyDirectory();
    assertThat(leaks.after()).isEmpty();
  }

  @Test
  void damagedArchiveIsRefused() throws Exception {
    try (Provider provider = open()) {
      for (String content : List.of("", "x".repeat(2000))) {
        assertThatThrownBy(
                () -> provider.openForkPoint(new ByteArrayInputStream(content.getBytes(UTF_8))))
            .isInstanceOf(SandboxException.class);
      }
      assertThat(folder.resolve("saved")).isEmptyDirectory();
    }
  }

  @Test
  void forkWithAnotherShapeIsRefused() throws Exception {
    try (Provider provider = open()) {
      Sandbox source = provider.create(spec().build());
      try (ForkPoint point = source.as(MemoryForking.class).orElseThrow().createForkPoint()) {
        SandboxSpec other = spec().user("nobody").build();
        assertThatThrownBy(() -> point.create(other))
            .isInstanceOf(InvalidRequest.class)
            .hasMessageContaining("user");
        assertThat(provider.inventory()).hasSize(1);
      }
      provider.destroy(source.id(), DestroyOptions.NORMAL);
    }
  }
}
