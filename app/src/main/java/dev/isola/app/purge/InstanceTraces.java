package dev.isola.app.purge;

import dev.isola.app.instance.InstanceProcesses;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is visible of an installation on this machine without its data folder: what carries its id.
 *
 * @param processes the processes of its sandboxes
 * @param groups the sandboxes with control groups, whose names contain the id
 * @param sandboxes the sandboxes with processes or control groups
 */
record InstanceTraces(
    InstanceId instance,
    List<AgentProcess> processes,
    List<AgentProcess> launchers,
    Set<SandboxId> groups,
    Set<String> sandboxes) {
  InstanceTraces {
    processes = List.copyOf(processes);
    launchers = List.copyOf(launchers);
    groups = Set.copyOf(groups);
    sandboxes = Collections.unmodifiableSet(new TreeSet<>(sandboxes));
  }

  /** Returns the installations that are visible, by id. */
  static Map<String, InstanceTraces> all() {
    Map<String, InstanceTraces> found = new TreeMap<>();
    ControlGroups.ofHost()
        .sandboxes()
        .forEach(
            (instance, ids) ->
                found.put(
                    instance.value(),
                    new InstanceTraces(instance, List.of(), List.of(), ids, names(ids))));
    InstanceProcesses processes = InstanceProcesses.read();
    for (InstanceProcesses.OfSandbox one : processes.ofSandboxes()) {
      found.merge(
          one.instance().value(),
          new InstanceTraces(
              one.instance(),
              List.of(one.process()),
              List.of(),
              Set.of(),
              Set.of(one.sandbox().value())),
          InstanceTraces::with);
    }
    for (InstanceProcesses.Launcher one : processes.launchers()) {
      found.merge(
          one.instance().value(),
          new InstanceTraces(one.instance(), List.of(), List.of(one.process()), Set.of(), Set.of()),
          InstanceTraces::with);
    }
    return found;
  }

  /** Returns the traces of an installation of which nothing is visible. */
  static InstanceTraces none(InstanceId instance) {
    return new InstanceTraces(instance, List.of(), List.of(), Set.of(), Set.of());
  }

  boolean isEmpty() {
    return processes.isEmpty() && launchers.isEmpty() && groups.isEmpty();
  }

  private InstanceTraces with(InstanceTraces more) {
    return new InstanceTraces(
        instance,
        joined(processes, more.processes),
        joined(launchers, more.launchers),
        groups,
        Set.copyOf(joined(sandboxes, more.sandboxes)));
  }

  private static <T> List<T> joined(Iterable<T> some, Iterable<T> more) {
    List<T> all = new ArrayList<>();
    some.forEach(all::add);
    more.forEach(all::add);
    return all;
  }

  private static Set<String> names(Set<SandboxId> ids) {
    Set<String> names = new TreeSet<>();
    ids.forEach(id -> names.add(id.value()));
    return names;
  }
}
