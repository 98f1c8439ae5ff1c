package dev.isola.provider.microvm.firecracker;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.HostProgram;
import dev.isola.provider.microvm.GuestKernel;
import dev.isola.provider.microvm.RootDisks;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Builds the provider info.
 *
 * @param installation the folder that all providers share
 */
record FirecrackerDescription(
    ProviderConfig config, Path installation, ImageStore images, ControlGroups groups) {
  static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Pausing.class);

  /** The programs that make the disks of machines, and their packages. */
  static final List<String> DISK_PROGRAMS = List.of(RootDisks.PROGRAM, "mkfs.ext4", "unshare");

  static final String DISK_PACKAGES = "apt-get install erofs-utils e2fsprogs util-linux";

  ProviderInfo info(FirecrackerCheck check, String defaultImage) {
    return new ProviderInfo(
        FirecrackerProgram.NAME,
        "virtual machines of Firecracker",
        ApiVersion.CURRENT,
        Isolation.VM,
        CAPABILITIES,
        new SpecSupport(
            EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
            EnumSet.of(NetworkMode.NONE),
            Set.of(VolumeMount.Type.TMPFS),
            enforced()),
        prerequisites(check, defaultImage),
        "one process per machine, in a control group",
        FirecrackerProviderFactory.STARTUP);
  }

  private Set<LimitKind> enforced() {
    Set<LimitKind> kinds =
        EnumSet.of(
            LimitKind.MEMORY,
            LimitKind.DISK,
            LimitKind.PROCESSES,
            LimitKind.THREADS,
            LimitKind.FILE_DESCRIPTORS,
            LimitKind.KERNEL_OBJECTS,
            LimitKind.TIMEOUT);
    if (groups.enforceable().contains(LimitKind.CPU)) {
      kinds.add(LimitKind.CPU);
    }
    return kinds;
  }

  private List<Prerequisite> prerequisites(FirecrackerCheck check, String defaultImage) {
    List<Prerequisite> all = new ArrayList<>(check.prerequisites());
    Optional<GuestKernel> kernel = GuestKernel.find(config, installation);
    all.add(
        new Prerequisite(
            "guest kernel",
            true,
            kernel.isPresent(),
            kernel.map(GuestKernel::release).orElse(GuestKernel.missingReason(config)),
            kernel.isPresent() ? "" : GuestKernel.REMEDY));
    for (String name : DISK_PROGRAMS) {
      boolean present = HostProgram.find(name).isPresent();
      all.add(
          new Prerequisite(
              name,
              true,
              present,
              present ? "installed" : "not installed",
              present ? "" : DISK_PACKAGES));
    }
    boolean image = images.find(defaultImage).isPresent();
    all.add(
        new Prerequisite(
            "default image",
            false,
            image,
            image ? defaultImage : "there is no image " + defaultImage,
            image ? "" : "isola image build " + defaultImage + ", or name an image"));
    return all;
  }
}
