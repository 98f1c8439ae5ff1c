package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.BootRecord;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrphanedCgroupsTest {
  @TempDir Path data;

  private final InstanceId instance = new InstanceId(SandboxId.random(new SecureRandom()).value());
  private final ControlGroups machine = ControlGroups.ofHost();

  @BeforeEach
  void requireControlGroups() {
    if (machine.enforceable().isEmpty()) {
      Assumptions.abort("NOT RUN: this user has no control groups");
    }
  }

  @AfterEach
  void removeAll() {
    machine.removeEmpty(instance, Duration.ZERO);
  }

  private OrphanedCgroups orphans() throws IOException {
    Path provider = Files.createDirectories(data.resolve("bubblewrap"));
    return new OrphanedCgroups(
        new ProviderContext(instance, provider, data, InstantSource.system()), machine);
  }

  private ControlGroup group(String id) throws IOException {
    ControlGroup group = machine.group(instance, new SandboxId(id));
    group.create(ResourceLimits.DEFAULT);
    return group;
  }

  /** Writes the record of a sandbox of another provider of the installation. */
  private void record(String id, AgentProcess agent) throws IOException {
    SandboxFolder folder = new SandboxFolder(data.resolve("crun/sandboxes").resolve(id));
    folder.create();
    SandboxSpec spec = SandboxSpec.builder(new SandboxId(id)).build();
    SandboxRecord.forSpec(spec, instance.value(), Instant.now(), folder, BootRecord.newSecret())
        .withAgent(agent)
        .write(folder.record());
  }

  private static AgentProcess dead() {
    return new AgentProcess(ProcessHandle.current().pid(), 1, false);
  }

  @Test
  void sweepRemovesOnlyCgroupsOfEndedSandboxes() throws Exception {
    ControlGroup gone = group("gone");
    ControlGroup ended = group("ended");
    record("ended", dead());
    ControlGroup stopped = group("stopped");
    record("stopped", dead());
    Path record = data.resolve("crun/sandboxes/stopped/record");
    Files.writeString(record, Files.readString(record).replace("stopped=false", "stopped=true"));
    ControlGroup making = group("making");
    Files.createDirectories(data.resolve("runc/sandboxes/making"));

    orphans().sweep(Duration.ofHours(1));
    assertThat(gone.joinFiles()).as("too young").isNotEmpty();

    orphans().sweep(Duration.ZERO);
    assertThat(gone.joinFiles()).as("without a folder").isEmpty();
    assertThat(ended.joinFiles()).as("whose agent ended").isEmpty();
    assertThat(stopped.joinFiles()).as("stopped: it needs them to start again").isNotEmpty();
    assertThat(making.joinFiles()).as("being made").isNotEmpty();
  }
}
