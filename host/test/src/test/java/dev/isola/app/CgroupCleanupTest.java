package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * P7, O12: a sandbox that reaches its deadline leaves no cgroup, even if the process that created
 * it was killed long before and no other Isola process runs. A stopped sandbox keeps its cgroup.
 */
@Timeout(180)
@Tag("all")
class CgroupCleanupTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  private static final SandboxId ENDED = new SandboxId("ended");
  private static final SandboxId STOPPED = new SandboxId("stopped");

  private final InstanceId instance = new InstanceId(SandboxId.random(new SecureRandom()).value());

  @TempDir Path folder;

  private boolean hasGroups(SandboxId id) {
    return !ControlGroups.ofHost().group(instance, id).joinFiles().isEmpty();
  }

  private static Provider open(String name, String instance, Path folder) {
    ProviderFactory factory =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow();
    return factory.create(
        ProviderConfig.EMPTY,
        new ProviderContext(new InstanceId(instance), folder, InstantSource.system()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun", "runc"})
  void expiryWithoutAServerLeavesNoCgroups(String name) throws Exception {
    Path data = Files.createDirectories(folder.resolve(name));
    try (Provider provider = open(name, instance.value(), data)) {
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        Assumptions.abort("NOT RUN: " + unhealthy.reason());
      }
      if (ControlGroups.ofHost().enforceable().isEmpty()) {
        Assumptions.abort("NOT RUN: this user has no control groups");
      }
    }
    Process maker = start(name, data);
    try {
      BufferedReader said =
          new BufferedReader(new InputStreamReader(maker.getInputStream(), UTF_8));
      assertThat(said.readLine()).isEqualTo("made");
      assertThat(hasGroups(ENDED)).isTrue();
      assertThat(hasGroups(STOPPED)).isTrue();
    } finally {
      maker.destroyForcibly().waitFor();
    }
    try {
      await("no groups of the sandbox that ended").atMost(TIMEOUT).until(() -> !hasGroups(ENDED));
      assertThat(hasGroups(STOPPED)).as("groups of the sandbox that is stopped").isTrue();
      recover(name, data);
    } finally {
      try (Provider provider = open(name, instance.value(), data)) {
        provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
      }
    }
  }

  private void recover(String name, Path data) {
    try (Provider provider = open(name, instance.value(), data)) {
      Sandbox stopped = provider.attach(STOPPED).orElseThrow();
      stopped.as(Pausing.class).orElseThrow().resume();
      assertThat(stopped.run(Command.shell("echo on")).stdout().text()).isEqualTo("on\n");
    }
  }

  private Process start(String name, Path data) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            SandboxCreation.class.getName(),
            name,
            instance.value(),
            data.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Process to be killed: creates two sandboxes, stops one of them, and waits. */
  static final class SandboxCreation {
    private SandboxCreation() {}

    public static void main(String[] args) throws IOException {
      Provider provider = open(args[0], args[1], Path.of(args[2]));
      Sandbox stopped = provider.create(spec(STOPPED));
      stopped.as(Pausing.class).orElseThrow().pause(PauseKind.FILESYSTEM);
      provider.create(spec(ENDED));
      System.out.println("made");
      System.out.flush();
      int _ = System.in.read(); // until it is killed
    }

    private static SandboxSpec spec(SandboxId id) {
      return SandboxSpec.builder(id).deadline(Duration.ofSeconds(10)).build();
    }
  }
}
