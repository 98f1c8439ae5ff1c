package dev.isola.provider.example;

import dev.isola.link.BootRecord;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Boots a sandbox as a plain process in a new folder, and declares nothing beyond that. */
final class ExampleBooter implements Booter {
  private final AgentStarter starter;

  ExampleBooter(ProviderContext context) {
    starter = new AgentStarter(context.dataFolder().resolve("bin"), context.instance().value());
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    return new ProviderInfo(
        ExampleProviderFactory.NAME,
        "plain processes in a new folder; an example",
        ApiVersion.CURRENT,
        Isolation.PROCESS,
        capabilities,
        new SpecSupport(Set.of(), Set.of(NetworkMode.HOST), Set.of(), Set.of(LimitKind.TIMEOUT)),
        List.of(),
        "subreaper and kill loop",
        Duration.ofMillis(10));
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return Set.of(Attaching.class, Terminals.class, Renewing.class);
  }

  @Override
  public Health health() {
    try {
      starter.binary();
      return new Health.Healthy("the guest agent is installed");
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    SandboxSpec spec = request.spec();
    SandboxRecord record = request.record();
    Files.createDirectory(record.workspace());
    BootRecord boot =
        BootRecord.forSpec(spec, record.instance(), record.secret(), Map.of())
            .lock(request.folder().lock())
            .confine(record.workspace(), spec.workspaceMount())
            .build();
    return starter.start(spec.id(), boot, request.folder(), request.timeout());
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) {
    // Booting acquires nothing but processes and the folder.
  }
}
