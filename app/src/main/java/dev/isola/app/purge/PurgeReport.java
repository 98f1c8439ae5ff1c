package dev.isola.app.purge;

import dev.isola.app.cli.Console;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The list of what a purge removes. */
record PurgeReport(
    PurgeTarget target,
    List<ProviderResources> resources,
    DataFolderContent content,
    Optional<Path> logins,
    Console console) {
  /** Maximum number of names listed. */
  private static final int MAX_NAMES = 8;

  boolean isEmpty() {
    return content.own().isEmpty()
        && logins.isEmpty()
        && sandboxes().isEmpty()
        && volumes().isEmpty()
        && target.instances().values().stream().allMatch(InstanceTraces::isEmpty);
  }

  /**
   * Prints the list.
   *
   * @param postgres whether the ledger is in PostgreSQL, which is not touched
   */
  void print(boolean postgres) {
    if (console.json()) {
      console.print(json());
      return;
    }
    if (isEmpty()) {
      console.print("nothing is left of the installation in " + target.data() + "\n");
    } else {
      console.print("the installation in " + target.data() + ":\n");
      printContent();
    }
    if (!content.others().isEmpty() && !content.own().isEmpty()) {
      line("stays: not created by Isola: " + names(fileNames(content.others())));
    }
    if (postgres) {
      line("stays: the ledger in PostgreSQL; drop its schema to remove it");
    }
    List<String> mounts = target.mounts().mounts();
    if (!mounts.isEmpty()) {
      line("stays: not mounted by Isola: " + names(mounts));
    }
    List<String> loopDevices = target.mounts().loopDevices();
    if (!loopDevices.isEmpty()) {
      line("stays: loop devices with files in the data folder: " + names(loopDevices));
    }
    if (!target.others().isEmpty()) {
      line("stays: other installations on this machine; --instance ID removes what is left of one");
      target.others().values().forEach(this::printOther);
    }
  }

  private void printOther(InstanceTraces other) {
    List<String> programs =
        other.processes().stream()
            .map(PurgeReport::program)
            .flatMap(Optional::stream)
            .distinct()
            .sorted()
            .toList();
    line(
        "  "
            + other.instance()
            + ": "
            + count(other.sandboxes().size(), "sandbox", "sandboxes")
            + (programs.isEmpty() ? "" : ", running " + names(programs)));
  }

  /** Returns the program of a process as a hint for the operator; a purge does not depend on it. */
  private static Optional<String> program(AgentProcess process) {
    try {
      return Optional.of(
          Files.readSymbolicLink(Path.of("/proc", Long.toString(process.pid()), "exe")).toString());
    } catch (IOException goneOrNotOurs) {
      return Optional.empty();
    }
  }

  private void printContent() {
    Set<String> shown = new TreeSet<>();
    for (ProviderResources one : resources) {
      one.sandboxes()
          .forEach(
              (provider, ids) -> {
                List<String> names = ids.stream().map(SandboxId::value).toList();
                shown.addAll(names);
                line("sandboxes of " + provider + ": " + names(names));
              });
    }
    for (InstanceTraces traces : target.instances().values()) {
      Set<String> rest = new TreeSet<>(traces.sandboxes());
      rest.removeAll(shown);
      if (!rest.isEmpty()) {
        line(
            "sandboxes without records, of installation " + traces.instance() + ": " + names(rest));
      }
      if (!traces.isEmpty()) {
        line(
            count(traces.processes().size() + traces.launchers().size(), "process", "processes")
                + " and "
                + count(traces.groups().size(), "control group", "control groups")
                + " of installation "
                + traces.instance());
      }
    }
    if (!volumes().isEmpty()) {
      line("volumes: " + names(volumes()));
    }
    if (!content.own().isEmpty()) {
      line("the data folder: " + names(fileNames(content.own())));
    }
    logins.ifPresent(file -> line("the logins in " + file));
    resources.forEach(one -> one.problems().forEach(why -> line("warning: " + why)));
  }

  private Map<String, ?> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("data", target.data().toString());
    json.put("instances", List.copyOf(target.instances().keySet()));
    json.put("sandboxes", List.copyOf(sandboxes()));
    json.put("volumes", List.copyOf(volumes()));
    json.put("files", fileNames(content.own()));
    logins.ifPresent(file -> json.put("logins", file.toString()));
    json.put("others", List.copyOf(target.others().keySet()));
    json.put("mounts", target.mounts().mounts());
    json.put("loopDevices", target.mounts().loopDevices());
    return json;
  }

  private Set<String> sandboxes() {
    Set<String> all = new TreeSet<>();
    for (ProviderResources one : resources) {
      one.sandboxes().values().forEach(ids -> ids.forEach(id -> all.add(id.value())));
    }
    target.instances().values().forEach(traces -> all.addAll(traces.sandboxes()));
    return all;
  }

  private Set<String> volumes() {
    Set<String> all = new TreeSet<>();
    resources.forEach(one -> all.addAll(one.volumes()));
    return all;
  }

  private static List<String> fileNames(List<Path> paths) {
    List<String> names = new ArrayList<>();
    paths.forEach(path -> names.add(path.getFileName().toString()));
    return names;
  }

  private static String count(int count, String one, String many) {
    return count + " " + (count == 1 ? one : many);
  }

  private void line(String text) {
    console.print("  " + text + "\n");
  }

  private static String names(Iterable<String> all) {
    List<String> names = new ArrayList<>();
    all.forEach(names::add);
    String listed = names.stream().limit(MAX_NAMES).collect(Collectors.joining(", "));
    return names.size() > MAX_NAMES
        ? listed + " and " + (names.size() - MAX_NAMES) + " more"
        : listed;
  }
}
