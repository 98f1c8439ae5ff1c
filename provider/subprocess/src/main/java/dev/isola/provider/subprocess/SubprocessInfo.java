package dev.isola.provider.subprocess;

import dev.isola.link.local.UserNamespaceRestriction;
import dev.isola.spi.Hosting;
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
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Description of the provider, depending on what this machine supports. */
final class SubprocessInfo {
  static final Set<Class<? extends Capability>> AGENT_CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Snapshotting.class);

  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(10));

  private SubprocessInfo() {}

  /** Returns the description; {@code images} when the workspace is created from an image. */
  static ProviderInfo create(
      String name,
      String summary,
      Set<Class<? extends Capability>> capabilities,
      boolean images,
      boolean namespaces) {
    SpecSupport support =
        new SpecSupport(
            features(images),
            Set.of(NetworkMode.HOST),
            namespaces ? Set.of(VolumeMount.Type.BIND) : Set.of(),
            Set.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT));
    Prerequisite prerequisite =
        new Prerequisite(
            "pid and mount namespaces",
            false,
            namespaces,
            namespaces ? "available" : "not available to this user",
            namespaces ? "" : UserNamespaceRestriction.detect().remedy());
    return new ProviderInfo(
        name,
        summary,
        ApiVersion.CURRENT,
        PROFILE.isolation(),
        capabilities,
        support,
        List.of(prerequisite),
        namespaces
            ? "pid namespace: the kernel kills every process when the agent ends"
            : "subreaper and kill loop: processes are found through /proc, stopped, and killed"
                + " until none is left",
        PROFILE.startup());
  }

  private static Set<SpecFeature> features(boolean images) {
    Set<SpecFeature> features = EnumSet.of(SpecFeature.WORKSPACE_PATH);
    if (images) {
      features.add(SpecFeature.IMAGES);
    }
    if (ProcessUser.isRoot()) {
      features.add(SpecFeature.USERS);
    }
    return features;
  }
}
