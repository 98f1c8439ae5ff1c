package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * N2: a snapshot restored on another provider has the same tree, as seen by programs in the
 * sandbox.
 */
@Timeout(180)
@Tag("all")
class SnapshotAcrossProvidersTest {
  /**
   * Names, types, modes, owners, times, link targets, link counts, and a checksum of every file.
   */
  private static final String DESCRIBE =
      "cd /workspace && find . -printf '%p %y %m %U %G %T@ %l %n\\n' | sort"
          + " && find . -type f -print0 | sort -z | xargs -0 -r sha256sum";

  /** Extended attributes of every file and folder, printed by an independent program. */
  private static final String ATTRIBUTES =
      """
      import os
      for top, folders, files in sorted(os.walk('/workspace')):
        for name in [''] + sorted(files):
          path = os.path.join(top, name)
          for key in sorted(os.listxattr(path, follow_symlinks=False)):
            print(path, key, os.getxattr(path, key, follow_symlinks=False))
      """;

  private static final int SPARSE_BYTES = 16 << 20;

  private static final InstantSource CLOCK = InstantSource.system();

  /** Concurrent runs of these tests on one machine must not destroy each other's sandboxes. */
  private static final InstanceId INSTANCE =
      new InstanceId(SandboxId.random(new SecureRandom()).value());

  private static final Log QUIET =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  private static @Nullable TestContainerEngine containers;

  @TempDir Path folder;

  @BeforeAll
  static void startContainers() {
    if (TestContainerEngine.Kind.DOCKER.missing().isEmpty()) {
      containers = TestContainerEngine.docker(false);
    }
  }

  @AfterAll
  static void stopContainers() {
    TestContainerEngine started = containers;
    if (started != null) {
      started.close();
    }
  }

  /** If no container engine can be started, the provider is unhealthy and the test NOT RUN. */
  private static String host() {
    TestContainerEngine started = containers;
    return started == null ? "unix:///nowhere/docker.sock" : started.host();
  }

  @ParameterizedTest
  @CsvSource({
    "bubblewrap, gvisor",
    "bubblewrap, crun",
    "crun, bubblewrap",
    "bubblewrap, docker",
    "docker, bubblewrap"
  })
  void restoredTreeIsIdentical(String from, String to) throws IOException {
    compareAt(from, to);
  }

  @Test
  @EnabledIfSystemProperty(named = "isola.long", matches = "true")
  void restoredTreeIsIdenticalFromDockerToGvisor() throws IOException {
    compareAt("docker", "gvisor");
  }

  private void compareAt(String from, String to) throws IOException {
    List<ProviderFactory> factories =
        StreamSupport.stream(ServiceLoader.load(ProviderFactory.class).spliterator(), false)
            .filter(one -> List.of(from, to).contains(one.name()))
            .toList();
    for (String name : List.of(from, to)) {
      Files.createDirectories(folder.resolve(name));
    }
    Config config =
        ConfigReader.read(
                new ConfigInput(
                    new MachineInfo(16_000, 4, folder),
                    Optional.empty(),
                    Map.of(),
                    List.of(from, to).contains("docker")
                        ? List.of(
                            new ConfigInput.FlagValue("--set", "providers.docker.host", host()))
                        : List.of(),
                    List.of(from, to)))
            .orThrow();
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
        ProviderRegistry registry =
            ProviderRegistry.open(
                factories,
                config.providers(),
                name -> new ProviderContext(INSTANCE, folder.resolve(name), CLOCK),
                CLOCK,
                QUIET)) {
      for (String name : List.of(from, to)) {
        Assumptions.assumeTrue(
            registry.get(name).health() instanceof Health.Healthy, name + " is not to be had here");
      }
      try (HealthMonitor health =
              HealthMonitor.start(
                  registry.providers(),
                  registry.unavailable(),
                  config.probeSchedule(),
                  CLOCK,
                  QUIET);
          Engine engine =
              Engine.open(
                  config,
                  ledger,
                  registry,
                  health,
                  Optional.empty(),
                  Optional.empty(),
                  CLOCK,
                  QUIET)) {
        try {
          compare(engine, from, to);
        } finally {
          engine.sandboxes().destroy(new SandboxId("source"), DestroyOptions.FORCE);
        }
      }
    }
  }

  private static void compare(Engine engine, String from, String to) {
    Sandbox source = make(engine, SandboxSpec.builder(new SandboxId("source")), from);
    output(
        source,
        "mkdir -p a/b empty && echo one > a/one && head -c 300000 /dev/urandom > a/b/noise && ln -s"
            + " one a/link && ln -s /etc/passwd out && ln a/one a/same && chmod 4711 a/b/noise &&"
            + " chmod 750 empty && chown 1234:4321 a/one && chown -h 7:8 a/link && touch -d"
            + " '2001-02-03 04:05:06.123456789' a/one && touch -d '1999-01-01' a empty && for i in"
            + " $(seq 300); do echo $i > \"f $i\"; done");
    output(
        source,
        "truncate -s "
            + SPARSE_BYTES
            + " sparse && printf here | dd of=sparse bs=1 seek=9000000 conv=notrunc status=none");
    boolean attributes = plantAttributes(source);
    String before = output(source, DESCRIBE);
    String attributesBefore = attributes ? attributes(source) : "";
    assertThat(blocks(source, "sparse"))
        .as("the control: what is sparse there")
        .isLessThan(SPARSE_BYTES / 8);
    String image =
        SnapshotImageName.of(
            engine.snapshots().create(source.id(), SnapshotRequest.WORKSPACE).snapshot().id());
    Sandbox restored =
        make(engine, SandboxSpec.builder(new SandboxId("restored")).image(image), to);
    try {
      assertThat(output(restored, DESCRIBE)).isEqualTo(before);
      if (attributes) {
        String after = attributes(restored);
        if (plantAttributes(restored)) { // gVisor may not support them
          assertThat(after).isEqualTo(attributesBefore).contains("user.mark", "user.of.folder");
        }
      }
      if (tellsOfHoles(restored)) {
        assertThat(blocks(restored, "sparse")).as("holes").isLessThan(SPARSE_BYTES / 8);
      }
      assertThat(engine.sandboxes().view(restored.id()).provider()).isEqualTo(to);
    } finally {
      engine.sandboxes().destroy(restored.id(), DestroyOptions.FORCE);
    }
  }

  /** Returns whether extended attributes are supported; if so, they are compared. */
  private static boolean plantAttributes(Sandbox sandbox) {
    try {
      sandbox.files().setAttribute("a/one", "mark", Bytes.of(new byte[] {0, -1, 10, 'x'}));
      sandbox.files().setAttribute("empty", "of.folder", Bytes.of(new byte[] {'y'}));
    } catch (SandboxException none) {
      return false;
    }
    return sandbox.run(Command.argv("python3", "-c", ATTRIBUTES)).succeeded();
  }

  private static String attributes(Sandbox sandbox) {
    ExecResult found = sandbox.run(Command.argv("python3", "-c", ATTRIBUTES));
    assertThat(found.succeeded()).as("%s", found).isTrue();
    return found.stdout().text();
  }

  /** Returns whether sparse files are visible; gVisor reports every file as fully allocated. */
  private static boolean tellsOfHoles(Sandbox sandbox) {
    output(sandbox, "truncate -s " + SPARSE_BYTES + " /workspace/hole");
    return blocks(sandbox, "hole") < SPARSE_BYTES / 8;
  }

  /** Returns the number of bytes allocated for a file. */
  private static long blocks(Sandbox sandbox, String file) {
    return Long.parseLong(output(sandbox, "find /workspace/" + file + " -printf %b")) * 512;
  }

  private static Sandbox make(Engine engine, SandboxSpec.Builder spec, String provider) {
    return engine
        .creator()
        .create(
            SandboxRequest.of(
                    CreateRequest.of(spec.build(), provider)
                        .withTtl(Duration.ofMinutes(5))
                        .strict())
                .withFixedId())
        .sandbox();
  }

  private static String output(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script));
    assertThat(result.succeeded()).as("%s: %s", script, result).isTrue();
    return result.stdout().text();
  }
}
