package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.DEVICES;

import dev.isola.conformance.escape.EscapeProbe.Reach;
import java.util.List;

/** Probes that open devices of the machine, without using them. */
final class DeviceProbes {
  private DeviceProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        EscapeProbe.of(
                "disksAreNotOpened",
                DEVICES,
                "a disk of the host, also through a new device node",
                context -> FileProbes.with("disk", context.all("disks")))
            .withReach(Reach.KERNEL),
        device("memoryIsNotOpenedByANode", "the machine's memory (mknod)", "memory-node"),
        EscapeProbe.of(
            "terminalsOfTheHostAreNotRead",
            DEVICES,
            "input of a terminal of the host",
            context -> List.of("terminal-of", context.one("terminal"), context.id())),
        device("loopControlIsNotOpened", "new disks from files", "device", "/dev/loop-control"),
        device("fuseIsNotOpened", "user-space file systems", "device", "/dev/fuse"),
        device("kvmIsNotOpened", "virtual machines", "device", "/dev/kvm"),
        device("tunIsNotOpened", "network interfaces", "device", "/dev/net/tun"),
        device(
            "otherDevicesAreNotOpened",
            "other devices of the machine",
            "device",
            "/dev/mapper/control",
            "/dev/btrfs-control",
            "/dev/vhost-net",
            "/dev/vhost-vsock",
            "/dev/vfio/vfio",
            "/dev/uinput",
            "/dev/uhid",
            "/dev/cuse",
            "/dev/autofs",
            "/dev/userfaultfd",
            "/dev/dri/card0",
            "/dev/input/event0",
            "/dev/snapshot",
            "/dev/hwrng"));
  }

  private static EscapeProbe device(String name, String target, String... program) {
    return EscapeProbe.ofKernel(name, DEVICES, target, program);
  }
}
