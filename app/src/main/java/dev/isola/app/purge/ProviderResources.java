package dev.isola.app.purge;

import dev.isola.app.cli.Providers;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * The sandboxes and volumes that the providers of an installation know, such as containers with its
 * label.
 */
final class ProviderResources {
  private final Providers providers;
  private final Path data;
  private final Map<String, List<SandboxId>> sandboxes = new LinkedHashMap<>();
  private final Map<String, List<String>> volumes = new LinkedHashMap<>();
  private final List<String> reached = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  private ProviderResources(Providers providers, Path data) {
    this.providers = providers;
    this.data = data;
  }

  /** Reads the resources of the providers that have a folder in the data folder. */
  static ProviderResources ofUsed(Providers providers, Path data) {
    ProviderResources resources = new ProviderResources(providers, data);
    for (String name : providers.names()) {
      if (Files.isDirectory(data.resolve(name))
          || Files.isDirectory(data.resolve("instances").resolve(name))) {
        resources.read(name);
      }
    }
    return resources;
  }

  /** Reads the resources of all providers, for an installation whose data folder is gone. */
  static ProviderResources ofAll(Providers providers, Path data) {
    ProviderResources resources = new ProviderResources(providers, data);
    providers.names().forEach(resources::read);
    return resources;
  }

  private void read(String name) {
    try {
      Provider provider = providers.get(name);
      List<SandboxId> ids = provider.inventory().stream().map(InventoryItem::id).toList();
      if (!ids.isEmpty()) {
        sandboxes.put(name, ids);
      }
      List<String> found = provider.volumes().map(one -> one.list()).orElse(List.of());
      if (!found.isEmpty()) {
        volumes.put(name, found);
      }
      reached.add(name);
    } catch (SandboxException e) {
      // Most machines lack most backends; that matters only if this one was used.
      String[] used = data.resolve(name).resolve("sandboxes").toFile().list();
      if (used != null && used.length > 0) {
        problems.add("provider " + name + " cannot list its sandboxes: " + e.fault().problem());
      }
    }
  }

  /** Returns the sandboxes by provider. */
  Map<String, List<SandboxId>> sandboxes() {
    return sandboxes;
  }

  /** Returns the names of all volumes; local providers share theirs. */
  NavigableSet<String> volumes() {
    NavigableSet<String> all = new TreeSet<>();
    volumes.values().forEach(all::addAll);
    return all;
  }

  /** Returns why resources may be left. */
  List<String> problems() {
    return problems;
  }

  /** Destroys the sandboxes, the volumes and what they share, and returns what failed. */
  List<String> destroy() {
    List<String> failed = new ArrayList<>();
    sandboxes.forEach(
        (name, ids) ->
            ids.forEach(
                id ->
                    attempt(
                        "sandbox " + id + " of " + name,
                        () -> providers.get(name).destroy(id, DestroyOptions.FORCE),
                        failed)));
    volumes.forEach(
        (name, names) ->
            names.forEach(
                volume ->
                    attempt(
                        "volume " + volume + " of " + name,
                        () -> providers.get(name).volumes().ifPresent(one -> one.destroy(volume)),
                        failed)));
    for (String name : reached) {
      attempt(
          "shared resources of " + name, () -> providers.get(name).removeSharedResources(), failed);
    }
    return failed;
  }

  private static void attempt(String what, Runnable action, List<String> failed) {
    try {
      action.run();
    } catch (SandboxException e) {
      failed.add(what + ": " + e.fault().problem());
    }
  }
}
