package dev.isola.provider.microvm;

import dev.isola.host.image.Image;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.link.BootRecord;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.InstanceId;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;

/** What the agent of a machine is told about its sandbox. */
public final class MachineRecords {

  /** A file system in memory gets half of it, as Linux does by default. */
  private static final long TMPFS_SHARE = 2;

  /** The threads of the guest's kernel and of the agent, which count too. */
  private static final int KERNEL_THREADS = 128;

  private static final long MEGABYTE = 1 << 20;

  private MachineRecords() {}

  /**
   * Returns the boot record of a sandbox, without the time and the seed, which differ at each boot.
   *
   * @param network the address of the machine's interface; empty for none
   */
  public static BootRecord of(
      InstanceId instance,
      SandboxSpec spec,
      SandboxRecord record,
      Image image,
      String network,
      String resolvConf) {
    BootRecord.Builder boot =
        BootRecord.forSpec(spec, instance.value(), record.secret(), image.env())
            .user(spec.user().or(image::user))
            .workspace(java.util.Optional.of(spec.workspaceMount()))
            .processLimit(spec.limits().processes())
            .threadLimit(KERNEL_THREADS + spec.limits().threads())
            .sudo()
            .hostName(spec.id().value())
            .resolvConf(
                spec.network().isFiltered() ? NetworkRecord.FILTERED_RESOLV_CONF : resolvConf);
    if (spec.network().isFiltered()) {
      boot.egress();
    }
    if (spec.network().mode().orElse(NetworkMode.NONE) == NetworkMode.BRIDGE) {
      boot.network(network);
    }
    for (VolumeMount mount : spec.volumes()) {
      boot.tmpfs(mount.destination(), spec.limits().memoryMb() * MEGABYTE / TMPFS_SHARE);
    }
    return boot.build();
  }
}
