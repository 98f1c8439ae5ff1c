package dev.isola.provider.microvmctl;

import dev.isola.scripts.ScriptedFiles;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What the provider declares. */
final class MicrovmctlDescription {
  static final String NAME = "microvmctl";

  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.VM, Hosting.LOCAL, Duration.ofSeconds(5));

  private MicrovmctlDescription() {}

  /**
   * @param agent whether the guest agent runs in the sandboxes
   * @param isolation of the sandboxes; the contract promises virtual machines
   * @param accelerated whether they run on the processors of the machine
   */
  static ProviderInfo info(
      ControllerCommand command, boolean agent, Isolation isolation, boolean accelerated) {
    ProviderInfo info =
        new ProviderInfo(
                NAME,
                "sandboxes of " + command.display(),
                ApiVersion.CURRENT,
                isolation,
                capabilities(agent),
                new SpecSupport(
                    Set.of(),
                    Set.of(),
                    Set.of(),
                    agent
                        ? EnumSet.of(LimitKind.TIMEOUT, LimitKind.FILE_DESCRIPTORS)
                        : EnumSet.of(LimitKind.TIMEOUT)),
                List.of(
                    new Prerequisite(
                        command.program(), true, true, "probe tells whether it works", "")),
                "the command ends the whole sandbox, at the latest when its ttl has passed",
                PROFILE.startup(),
                PROFILE.hosting())
            .lacking(agent ? Set.of() : lacks());
    return accelerated ? info : info.withEmulation();
  }

  /** What the verbs of the contract cannot do. */
  private static Set<BasicFeature> lacks() {
    Set<BasicFeature> lacks = EnumSet.copyOf(ScriptedFiles.LACKS);
    lacks.add(BasicFeature.SIGNALS);
    lacks.add(BasicFeature.PROCESS_IDS);
    return lacks;
  }

  static Set<Class<? extends Capability>> capabilities(boolean agent) {
    return agent
        ? Set.of(Attaching.class, Terminals.class, Watching.class, PortDialing.class)
        : Set.of();
  }
}
