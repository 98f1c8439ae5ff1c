package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.qemu.AcceleratorProbe.Finding;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Builds the provider info. */
record QemuDescription(MachineHost host, BridgeNetwork bridge) {
  static final String NAME = "qemu";

  static final Set<Class<? extends Capability>> AGENT_CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Snapshotting.class);

  /**
   * @param finding how this QEMU executes instructions; empty if there is no QEMU
   */
  ProviderInfo info(
      Set<Class<? extends Capability>> capabilities,
      Optional<QemuProgram> program,
      Optional<Finding> finding) {
    boolean accelerated =
        finding.filter(found -> found.accelerator() == Accelerator.KVM).isPresent();
    ProviderInfo info =
        new ProviderInfo(
            NAME,
            accelerated
                ? "virtual machines of QEMU"
                : "virtual machines of QEMU, emulated: many times slower than with KVM",
            ApiVersion.CURRENT,
            Isolation.VM,
            capabilities,
            new SpecSupport(
                EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
                networks(),
                Set.of(VolumeMount.Type.TMPFS),
                enforced()),
            prerequisites(program, finding),
            "one process per machine, in a control group",
            accelerated ? QemuProviderFactory.ACCELERATED : QemuProviderFactory.EMULATED);
    return accelerated ? info : info.withEmulation();
  }

  private boolean bridges() {
    return SandboxUserIds.rangesAvailable() && bridge.available();
  }

  private Set<NetworkMode> networks() {
    return bridges()
        ? EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED, NetworkMode.BRIDGE)
        : EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED);
  }

  private Set<LimitKind> enforced() {
    Set<LimitKind> kinds = host.enforced();
    if (bridges() && bridge.limitsBandwidth()) {
      kinds.add(LimitKind.BANDWIDTH);
    }
    return kinds;
  }

  List<Prerequisite> prerequisites(Optional<QemuProgram> program, Optional<Finding> finding) {
    List<Prerequisite> all = new ArrayList<>();
    all.add(
        new Prerequisite(
            QemuProgram.name(),
            true,
            program.isPresent(),
            program.map(found -> "version " + found.version()).orElse("not installed"),
            program.isPresent() ? "" : QemuProgram.REMEDY));
    all.addAll(host.prerequisites());
    finding.ifPresent(
        found ->
            all.add(
                new Prerequisite(
                    "KVM",
                    false,
                    found.accelerator() == Accelerator.KVM,
                    found.accelerator() == Accelerator.KVM ? "a machine booted" : found.detail(),
                    found.accelerator() == Accelerator.KVM
                        ? ""
                        : "use a machine with hardware virtualization, or accept emulation")));
    return all;
  }
}
