package dev.isola.testing.provider;

import dev.isola.link.BootRecord.Namespaces;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.link.local.WorkspaceForker;
import dev.isola.provider.subprocess.SubprocessBooter;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Boots sandboxes as {@code subprocess} does, and adds features that are good enough for tests
 * only: pausing with signals, and forks that copy the workspace.
 */
final class TestBooter implements Booter, WorkspaceForker {
  private static final Set<Class<? extends Capability>> AGENT_CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          UsageReporting.class,
          Renewing.class,
          Snapshotting.class);

  /** Ends sandboxes that a killed test run left behind. */
  private static final Duration LINGER = Duration.ofMinutes(10);

  private final ProviderContext context;
  private final PlantedFaults faults;
  private final Booter processes;
  private final Booter offline;
  private final SandboxFreezer freezer;

  TestBooter(ProviderContext context, PlantedFaults faults) {
    this.context = context;
    this.faults = faults;
    boolean bare = faults.has(PlantedFault.RUNS_ON_THE_BARE_HOST);
    this.processes = processes(bare, List.of());
    this.offline = processes(bare, bare ? List.of() : NetworkNamespace.wrapper());
    this.freezer = new SignalFreezer(context.dataFolder().resolve("sandboxes"));
  }

  private Booter processes(boolean bare, List<String> wrapper) {
    return new SubprocessBooter(
        TestProviderFactory.NAME,
        context,
        bare ? Namespaces.NONE : Namespaces.IF_POSSIBLE,
        wrapper);
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    return TestProviderInfo.of(processes.info(capabilities), faults);
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return AGENT_CAPABILITIES;
  }

  @Override
  public Optional<SandboxFreezer> freezer() {
    return Optional.of(freezer);
  }

  @Override
  public Optional<WorkspaceForker> forker() {
    return Optional.of(this);
  }

  @Override
  public Health health() {
    return processes.health();
  }

  @Override
  public void validate(SandboxSpec spec) {
    processes.validate(spec);
  }

  private static boolean isOffline(SandboxSpec spec) {
    return spec.network().mode().filter(mode -> mode == NetworkMode.NONE).isPresent();
  }

  @Override
  public AgentProcess boot(BootRequest booting) throws IOException {
    SandboxSpec spec = booting.spec();
    SandboxSpec bounded =
        spec.linger().isPresent() ? spec : spec.toBuilder().linger(LINGER).build();
    BootRequest plain =
        new BootRequest(bounded, booting.record(), booting.folder(), List.of(), booting.timeout());
    AgentProcess agent = (isOffline(spec) ? offline : processes).boot(plain);
    SpawnedAgents.add(agent);
    for (String layer : booting.layers()) {
      copy(Path.of(layer), booting.record().workspace());
    }
    return agent;
  }

  @Override
  public FrozenLayers freeze(SandboxId id, SandboxFolder folder, AgentProcess agent)
      throws IOException {
    SandboxRecord record =
        SandboxRecord.read(folder.record())
            .orElseThrow(() -> new IOException(id + " has no record"));
    Path copied = context.dataFolder().resolve("forks").resolve(UUID.randomUUID().toString());
    Files.createDirectories(copied);
    boolean paused = freezer.isFrozen(id);
    long began = System.nanoTime();
    try {
      freezer.freeze(id);
      copy(record.workspace(), copied);
    } finally {
      if (!paused) {
        freezer.thaw(id);
      }
    }
    Duration held = Duration.ofNanos(System.nanoTime() - began);
    return new FrozenLayers(List.of(copied.toString()), copied.toString(), held);
  }

  @Override
  public void release(FrozenLayers frozen) throws IOException {
    new SandboxFolder(Path.of(frozen.leaseId())).remove();
  }

  private static void copy(Path from, Path to) throws IOException {
    HostCommand.run(List.of("cp", "-a", from + "/.", to + "/"));
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) throws IOException {
    processes.release(id, folder);
  }
}
