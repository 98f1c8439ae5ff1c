package dev.isola.provider.microvm.firecracker;

import dev.isola.link.MachineArchitecture;
import dev.isola.provider.microvm.firecracker.FirecrackerApi.Drive;
import dev.isola.provider.microvm.firecracker.FirecrackerApi.NetworkInterface;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The machine of a Firecracker process: the order of requests that boot it, save it or continue it.
 */
final class FirecrackerMachine {
  /** The interface of the guest, if it has a network. */
  static final String INTERFACE = "eth0";

  private static final String MAC = "02:00:00:00:00:01";

  /** Firecracker supports no more. */
  private static final int MAX_PROCESSORS = 32;

  /** The guest's number on its vsock; every process has a vsock of its own. */
  private static final int GUEST_ID = 3;

  /**
   * The hardware of a machine.
   *
   * @param tap the network device of the host; empty for no network
   */
  record Hardware(int processors, long memoryMb, Optional<String> tap) {
    private List<NetworkInterface> networks() {
      return tap.map(device -> new NetworkInterface(INTERFACE, device, MAC)).stream().toList();
    }
  }

  private final FirecrackerApi api;

  FirecrackerMachine(FirecrackerApi api) {
    this.api = api;
  }

  /** Boots from the kernel and the disks in the folder of the process. */
  void boot(Hardware hardware) throws IOException {
    api.setMachine(Math.min(hardware.processors(), MAX_PROCESSORS), hardware.memoryMb());
    api.setBootSource(
        FirecrackerFolder.KERNEL,
        FirecrackerFolder.INITRAMFS,
        kernelCommandLine(MachineArchitecture.ofHost()));
    api.addDrive(new Drive(FirecrackerFolder.ROOT_DISK, FirecrackerFolder.ROOT_DISK, true));
    api.addDrive(new Drive(FirecrackerFolder.SCRATCH_DISK, FirecrackerFolder.SCRATCH_DISK, false));
    api.setVsock(GUEST_ID, FirecrackerFolder.VSOCK);
    for (NetworkInterface network : hardware.networks()) {
      api.addNetworkInterface(network);
    }
    api.addEntropyDevice();
    api.start();
  }

  /** Stops the machine and saves it in the folder of the process. */
  void save(Duration timeout) throws IOException {
    api.pause();
    api.createSnapshot(FirecrackerFolder.SNAPSHOT, timeout);
  }

  /** Continues the machine that is saved in the folder of the process, with its own disks. */
  void restore(Hardware hardware, Duration timeout) throws IOException {
    api.loadSnapshot(
        FirecrackerFolder.SNAPSHOT,
        FirecrackerFolder.VSOCK,
        hardware.networks(),
        continuesClock(MachineArchitecture.ofHost()),
        timeout);
    api.resume();
  }

  /** The console is off, because what the guest prints would go to a file or pipe of the host. */
  static String kernelCommandLine(MachineArchitecture architecture) {
    String keyboard =
        switch (architecture) {
          case X86_64 -> " reboot=k i8042.noaux i8042.nomux i8042.dumbkbd";
          case AARCH64 -> "";
        };
    return "8250.nr_uarts=0 quiet panic=-1 cryptomgr.notests random.trust_cpu=on"
        + keyboard
        + " isola.channel=vsock:"
        + FirecrackerFolder.AGENT_PORT;
  }

  /** Returns whether Firecracker can continue the clock of a machine at the current time. */
  static boolean continuesClock(MachineArchitecture architecture) {
    return switch (architecture) {
      case X86_64 -> true;
      case AARCH64 -> false;
    };
  }
}
