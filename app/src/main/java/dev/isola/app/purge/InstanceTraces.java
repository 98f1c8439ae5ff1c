package dev.isola.app.purge;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is visible of an installation on this machine without its data folder.
 *
 * @param sandboxes the sandboxes with processes or control groups
 * @param inDataFolder whether a process uses files of the data folder in question
 */
record InstanceTraces(
    InstanceId instance,
    List<AgentProcess> processes,
    Set<SandboxId> groups,
    Set<String> sandboxes,
    boolean inDataFolder) {
  InstanceTraces {
    processes = List.copyOf(processes);
    groups = Set.copyOf(groups);
    sandboxes = Collections.unmodifiableSet(new TreeSet<>(sandboxes));
  }

  /** Returns the installations that are visible, by id. */
  static Map<String, InstanceTraces> all(DataFolderTraces data) {
    Map<String, InstanceTraces> found = new TreeMap<>();
    ControlGroups groups = ControlGroups.ofHost();
    groups
        .sandboxes()
        .forEach(
            (instance, ids) -> {
              boolean here =
                  ids.stream().anyMatch(id -> showIn(groups.group(instance, id), id, data));
              found.put(
                  instance.value(), new InstanceTraces(instance, List.of(), ids, names(ids), here));
            });
    // A command can pretend to belong to another installation, but it starts after its agent.
    Set<SandboxId> checked = new HashSet<>();
    for (HostProcess.OfSandbox one : processesByStart()) {
      boolean here = checked.add(one.sandbox()) && data.showIn(one.process().pid(), one.sandbox());
      InstanceTraces known = found.getOrDefault(one.instance().value(), none(one.instance()));
      found.put(one.instance().value(), known.with(one, here));
    }
    return found;
  }

  /** A guest process cannot leave or enter the control group of a sandbox. */
  private static boolean showIn(ControlGroup group, SandboxId id, DataFolderTraces data) {
    return group.members().stream().anyMatch(pid -> data.showIn(pid, id));
  }

  private static List<HostProcess.OfSandbox> processesByStart() {
    return HostProcess.all().stream()
        .filter(HostProcess.OfSandbox.class::isInstance)
        .map(HostProcess.OfSandbox.class::cast)
        .sorted(Comparator.comparingLong(one -> one.process().startTime()))
        .toList();
  }

  /** Returns the traces of an installation of which nothing is visible. */
  static InstanceTraces none(InstanceId instance) {
    return new InstanceTraces(instance, List.of(), Set.of(), Set.of(), false);
  }

  boolean isEmpty() {
    return processes.isEmpty() && groups.isEmpty();
  }

  private InstanceTraces with(HostProcess.OfSandbox process, boolean here) {
    List<AgentProcess> all = new ArrayList<>(processes);
    all.add(process.process());
    Set<String> names = new TreeSet<>(sandboxes);
    names.add(process.sandbox().value());
    return new InstanceTraces(instance, all, groups, names, inDataFolder || here);
  }

  private static Set<String> names(Set<SandboxId> ids) {
    Set<String> names = new TreeSet<>();
    ids.forEach(id -> names.add(id.value()));
    return names;
  }
}
