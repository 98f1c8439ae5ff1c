package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.image.Image;
import dev.isola.link.BootRecord;
import dev.isola.spi.LimitKind;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.spec.ResourceLimits;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** The kernel that runs the processes of a sandbox, and what follows for limits and files. */
public enum SandboxKernel {
  /** The kernel of the host, which counts the processes of a sandbox and mounts its files. */
  HOST,

  /**
   * A kernel in user space, which is a single program to the host. The host cannot count the
   * processes of such a sandbox, and running out of memory ends all of it. The kernel has objects
   * of its own, and does not see what the host mounts in its namespaces later.
   */
  USER_SPACE;

  private static final int MEMORY_MB = 64;

  /**
   * Threads of the kernel itself and per process of the sandbox. gVisor's platform {@code ptrace}
   * keeps one for every pair of a process and one of its own threads that ever ran it, and ends the
   * whole sandbox if it cannot create one. This limit protects the host; it does not enforce the
   * sandbox's own.
   */
  private static final int THREADS = 1024;

  private static final int THREADS_PER_PROCESS = 64;

  /** The maximum of the host's kernel. */
  private static final int MAX_THREADS = 1 << 22;

  /** Returns the limits of the control groups, which include what the kernel itself needs. */
  public ResourceLimits groupLimits(ResourceLimits asked) {
    return this == HOST
        ? asked
        : asked
            .withMemoryMb(asked.memoryMb() + MEMORY_MB)
            .withThreads(
                (int)
                    Math.min(
                        MAX_THREADS,
                        (long) asked.processes() * THREADS_PER_PROCESS
                            + asked.threads()
                            + THREADS));
  }

  /** Limits the processes of commands by the agent or by the kernel. */
  void limitProcesses(BootRecord.Builder boot, ResourceLimits limits, Set<LimitKind> groups) {
    if (this == USER_SPACE) {
      boot.userThreads(limits.threads());
    } else if (groups.contains(LimitKind.THREADS)) {
      boot.processLimit(limits.processes());
    }
  }

  /** Returns the limits on processes and kernel objects that hold, and those of control groups. */
  Set<LimitKind> enforced(Set<LimitKind> groups) {
    Set<LimitKind> kinds = EnumSet.noneOf(LimitKind.class);
    kinds.addAll(groups);
    if (this == USER_SPACE) {
      kinds.remove(LimitKind.THREADS);
    } else if (kinds.contains(LimitKind.THREADS)) {
      kinds.add(LimitKind.PROCESSES);
    }
    if (this == USER_SPACE || KernelObjectLimits.areEnforceable()) {
      kinds.add(LimitKind.KERNEL_OBJECTS);
    }
    return kinds;
  }

  /** Returns whether the users of the sandbox must share a quota of the host's kernel objects. */
  boolean sharesObjectQuota() {
    return this == HOST && KernelObjectLimits.areEnforceable();
  }

  /** Returns the image whose changes the agent can find in the writable layer above it. */
  Optional<Image> trackedImage(Optional<Image> image) {
    return this == HOST ? image : Optional.empty();
  }

  /** Returns how a sandbox ended, according to its control group. */
  Optional<Exit> observedExit(ControlGroup group) {
    return this == USER_SPACE && group.outOfMemoryKills() > 0
        ? Optional.of(new Exit.OutOfMemory())
        : Optional.empty();
  }
}
