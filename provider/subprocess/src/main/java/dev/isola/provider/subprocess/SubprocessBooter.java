package dev.isola.provider.subprocess;

import dev.isola.link.BootRecord.Namespaces;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.link.local.Booter;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/**
 * Boots a sandbox as plain processes of this user, without isolation. File operations are confined
 * to the workspace, and processes end with their sandbox.
 */
public final class SubprocessBooter implements Booter {
  private final String name;
  private final ProviderContext context;
  private final Namespaces namespaces;
  private final AgentStarter starter;

  SubprocessBooter(String name, ProviderContext context) {
    this(name, context, Namespaces.IF_POSSIBLE, List.of());
  }

  /**
   * Creates the booter of a provider called {@code name}.
   *
   * @param namespaces of an agent whose spec requires none
   * @param wrapper command line of a program that executes the agent; empty to execute it directly
   */
  public SubprocessBooter(
      String name, ProviderContext context, Namespaces namespaces, List<String> wrapper) {
    this.name = name;
    this.context = context;
    this.namespaces = namespaces;
    this.starter =
        new AgentStarter(context.dataFolder().resolve("bin"), context.instance().value(), wrapper);
  }

  @Override
  public ProviderInfo info(Set<Class<? extends Capability>> capabilities) {
    return SubprocessInfo.create(
        name,
        "plain processes of this user; no isolation",
        capabilities,
        false,
        starter.namespacesAvailable());
  }

  @Override
  public Set<Class<? extends Capability>> agentCapabilities() {
    return SubprocessInfo.AGENT_CAPABILITIES;
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
  public void validate(SandboxSpec spec) {
    SubprocessSpecValidation.validate(name, spec);
  }

  @Override
  public AgentProcess boot(BootRequest request) throws IOException {
    SandboxSpec spec = request.spec();
    if (spec.user()
        .isPresent()) { // lets that user traverse to the workspace without listing the folder
      Files.setPosixFilePermissions(
          context.dataFolder(), PosixFilePermissions.fromString("rwx--x--x"));
    }
    Path home =
        Files.createDirectory(SubprocessBootRecord.home(request.record(), request.folder()));
    ProcessUser.chown(home, spec.user());
    return starter.start(
        spec.id(),
        SubprocessBootRecord.create(
            spec, request.record(), request.folder(), context.dataFolder(), namespaces),
        request.folder(),
        request.timeout());
  }

  @Override
  public void release(SandboxId id, SandboxFolder folder) {
    // Mounts and namespaces end with the processes.
  }
}
