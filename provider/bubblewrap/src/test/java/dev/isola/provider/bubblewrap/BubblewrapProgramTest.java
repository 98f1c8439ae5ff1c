package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where the program may be, and that health reports whether sandboxes start with it. */
final class BubblewrapProgramTest {
  private static final InstanceId INSTANCE = UniqueResources.instanceId("bwrapprogram");

  private final TemporaryFolder data = TemporaryFolder.create("isola");
  private Path folder = Path.of("/");

  @BeforeEach
  void createFolder() throws IOException {
    if (HostProgram.find("bwrap").isEmpty()) {
      Assumptions.abort("NOT RUN: bwrap is not installed");
    }
    folder = Files.createTempDirectory(Path.of("/var/tmp"), "isola-bwrap");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path boots = Files.createFile(folder.resolve("boots")); // noted by a user of the sandbox
    Files.setPosixFilePermissions(boots, PosixFilePermissions.fromString("rw-rw-rw-"));
  }

  @AfterEach
  void removeFolders() {
    TemporaryFolder.remove(folder);
    data.close();
  }

  private Provider provider(Path program) {
    return provider(program, data.path());
  }

  private static Provider provider(Path program, Path folder) {
    return new ProviderUnderTest(
            new BubblewrapProviderFactory(),
            new ProviderConfig(Map.of("program", program.toString())),
            INSTANCE,
            folder)
        .open();
  }

  /** Creates a program that creates namespaces like bwrap, but records each boot of a sandbox. */
  private Path script(String duringBoot) throws IOException {
    Path script = folder.resolve("bwrap");
    Path unfinished = folder.resolve("new");
    Files.writeString(
        unfinished,
        """
        #!/bin/sh
        case "$*" in *--seccomp*) echo boot >> %1$s/boots; %2$s;; esac
        exec bwrap "$@"
        """
            .formatted(folder, duringBoot));
    Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Files.move(unfinished, script, StandardCopyOption.REPLACE_EXISTING);
  }

  private long boots() throws IOException {
    return Files.readAllLines(folder.resolve("boots")).size();
  }

  /** The launcher covers /tmp, and other users cannot enter this folder. */
  @Test
  void sandboxStartsWithAProgramInAPrivateFolderBelowTmp() throws IOException {
    Path home = Files.createTempDirectory(Path.of("/tmp"), "isola-bwrap");
    try {
      Path program = home.resolve("bwrap");
      Files.copy(
          HostProgram.find("bwrap").orElseThrow().path(),
          program,
          StandardCopyOption.COPY_ATTRIBUTES);
      try (Provider provider = provider(program)) {
        requireNamespaces(provider);
        assertThat(provider.health())
            .isEqualTo(new Health.Healthy(program + " can create sandboxes"));
        SandboxId id = new SandboxId("program");
        Sandbox sandbox =
            provider.create(SandboxSpec.builder(id).deadline(Duration.ofMinutes(5)).build());
        try {
          assertThat(sandbox.run(Command.argv("echo", "it runs")).stdout().text())
              .isEqualTo("it runs\n");
        } finally {
          provider.destroy(id, DestroyOptions.FORCE);
        }
      }
    } finally {
      TemporaryFolder.remove(home);
    }
  }

  @Test
  void failedBootMakesTheProviderUnhealthyUntilTheProgramIsReplaced() throws IOException {
    Path program = script("echo it is broken >&2; exit 1");
    try (Provider provider = provider(program)) {
      requireNamespaces(provider);
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              ill -> {
                assertThat(ill.reason()).contains("a sandbox did not start", "it is broken");
                assertThat(ill.fix()).contains(program.toString());
              });
      script("true");
      assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void healthBootsOnceForAProgramAndAgainAfterTheResultIsDiscarded() throws IOException {
    Path program = script("true");
    try (Provider provider = provider(program)) {
      requireNamespaces(provider);
      for (int i = 0; i < 3; i++) {
        assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      }
      assertThat(boots()).isEqualTo(1);
    }
    try (Provider another = provider(program)) {
      assertThat(another.health()).isInstanceOf(Health.Healthy.class);
      assertThat(boots()).as("the result of another process is known").isEqualTo(1);
      SandboxProbe.discardResults(data.path());
      assertThat(another.health()).isInstanceOf(Health.Healthy.class);
      assertThat(boots()).isEqualTo(2);
    }
  }

  /** A process that is killed while it boots its sandbox leaves it, with its control groups. */
  @Test
  void healthRemovesTheSandboxOfAProcessThatWasKilledDuringItsProbe() throws IOException {
    Path program = script("true");
    Path trial = Files.createDirectory(data.path().resolve("trial"));
    Files.setPosixFilePermissions(trial, PosixFilePermissions.fromString("rwx--x--x"));
    SandboxId id = new SandboxId("killedprobe");
    try (Provider killed = provider(program, trial)) {
      requireNamespaces(killed);
      killed.create(SandboxSpec.builder(id).deadline(Duration.ofMinutes(5)).build());
    }
    try (Provider provider = provider(program, data.path());
        Provider afterwards = provider(program, trial)) {
      try {
        assertThat(afterwards.inventory()).extracting(InventoryItem::id).containsExactly(id);
        assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
        assertThat(afterwards.inventory()).isEmpty();
        assertThat(ControlGroups.ofHost().sandboxes()).doesNotContainKey(INSTANCE);
      } finally {
        afterwards.destroy(id, DestroyOptions.FORCE);
      }
    }
  }

  private static void requireNamespaces(Provider provider) {
    List<String> missing =
        provider.info().prerequisites().stream()
            .filter(one -> one.necessary() && !one.present())
            .map(one -> one.name() + ": " + one.detail())
            .toList();
    if (!missing.isEmpty()) {
      Assumptions.abort("NOT RUN: " + missing);
    }
  }
}
