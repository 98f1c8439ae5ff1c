package dev.isola.app.purge;

import dev.isola.codec.time.Deadline;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Removes what an installation left on this machine, apart from what its providers know. */
final class Purge {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration REMOVAL_TIMEOUT = Duration.ofHours(1);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

  private final PurgeTarget target;
  private final List<String> failed = new ArrayList<>();

  Purge(PurgeTarget target) {
    this.target = target;
  }

  /** Returns what could not be removed. */
  List<String> failed() {
    return failed;
  }

  /** Ends all processes and removes the control groups and networks. */
  void removeKernelObjects() {
    Deadline deadline = Deadline.in(TIMEOUT);
    PurgeTarget now = target.refresh();
    boolean removed = removeOnce(now);
    while ((!removed || !isClean(now)) && deadline.pause(POLL_INTERVAL)) {
      now = target.refresh();
      removed = removeOnce(now);
    }
    now = target.refresh();
    for (InstanceTraces left : now.instances().values()) {
      left.processes().forEach(one -> failed.add("process " + one.pid() + " does not end"));
      left.launchers().forEach(one -> failed.add("launcher " + one.pid() + " does not end"));
      left.groups()
          .forEach(
              id ->
                  failed.add("the control group isola-" + left.instance() + "-" + id + " is left"));
    }
    now.instances().keySet().forEach(id -> removeNetwork(new InstanceId(id)));
  }

  private static boolean isClean(PurgeTarget target) {
    return target.instances().values().stream().allMatch(InstanceTraces::isEmpty);
  }

  private static boolean removeOnce(PurgeTarget now) {
    boolean removed = true;
    for (InstanceTraces traces : now.instances().values()) {
      traces.processes().forEach(AgentProcess::kill);
      // It would end by itself, but only some time after its last sandbox.
      traces.launchers().forEach(AgentProcess::kill);
      for (SandboxId id : traces.groups()) {
        try {
          ControlGroups.ofHost().group(traces.instance(), id).remove(Duration.ofSeconds(2));
        } catch (IOException busy) {
          removed = false;
        }
      }
    }
    return removed;
  }

  /** Removes which user ids the sandboxes had, once their folders are gone. */
  void removeUserIds() {
    for (InstanceTraces one : target.instances().values()) {
      try {
        SandboxUserIds.removeRecords(one.instance());
      } catch (IOException e) {
        failed.add("the records of user ids of " + one.instance() + ": " + e.getMessage());
      }
    }
  }

  /** Interfaces end with their namespaces; firewall rules do not. */
  private void removeNetwork(InstanceId instance) {
    if (!isRoot() || !isProgram("nft") || !isProgram("ip")) {
      return; // without root or these programs there is no such network
    }
    try {
      new BridgeNetwork(instance).remove(new SandboxId("purge"));
    } catch (IOException e) {
      failed.add("the network rules of " + instance + ": " + e.getMessage());
    }
  }

  /** Removes the entries of the data folder, and the folder itself if nothing else is in it. */
  void removeData(DataFolderContent content) {
    if (!failed.isEmpty()) {
      failed.add("the data folder " + target.data() + " is kept until the rest is removed");
      return;
    }
    for (Path entry : content.own()) {
      try {
        TreeRemoval.remove(entry, REMOVAL_TIMEOUT);
      } catch (IOException e) {
        failed.add(entry + ": " + e.getMessage());
        return; // the mark of the data folder, the last entry, stays
      }
    }
    try {
      DataFolderMounts mounts = target.mounts();
      boolean madeByOperator =
          Files.isSymbolicLink(target.data()) || mounts.mounts().contains(mounts.data().toString());
      if (!madeByOperator) {
        Files.deleteIfExists(target.data());
      }
    } catch (DirectoryNotEmptyException others) {
      // Files of others stay.
    } catch (IOException e) {
      failed.add(target.data() + ": " + e.getMessage());
    }
  }

  private static boolean isRoot() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  private static boolean isProgram(String name) {
    return List.of("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin").stream()
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }
}
