package dev.isola.app.purge;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.Providers;
import dev.isola.engine.config.Config;
import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The providers of the installations to purge. An installation whose data folder is gone gets a
 * temporary one with its id, so that a container engine can be asked for its containers.
 */
final class InstalledProviders implements AutoCloseable {
  private final List<String> names = new ArrayList<>();
  private final List<Providers> opened = new ArrayList<>();
  private final List<ProviderResources> resources = new ArrayList<>();
  private final List<Path> temporary = new ArrayList<>();

  private InstalledProviders() {}

  static InstalledProviders open(CommandContext context, Config config, PurgeTarget target)
      throws IOException {
    InstalledProviders installed = new InstalledProviders();
    boolean complete = false;
    try {
      installed.read(context, config, target);
      complete = true;
      return installed;
    } finally {
      if (!complete) {
        installed.close();
      }
    }
  }

  private void read(CommandContext context, Config config, PurgeTarget target) throws IOException {
    names.addAll(context.providers(config, new DataFolder(target.data())).names());
    for (Path folder : target.recorded().keySet()) {
      Providers providers = context.providers(config, new DataFolder(folder));
      opened.add(providers);
      resources.add(ProviderResources.ofUsed(providers, folder));
    }
    for (InstanceTraces traces : target.instances().values()) {
      if (!target.recorded().containsValue(traces.instance())) {
        Path folder = Files.createTempDirectory("isola-purge");
        temporary.add(folder);
        Files.writeString(folder.resolve("instance"), traces.instance() + "\n");
        Providers providers = context.providers(config, new DataFolder(folder));
        opened.add(providers);
        resources.add(ProviderResources.ofAll(providers, folder));
      }
    }
  }

  List<String> names() {
    return names;
  }

  List<ProviderResources> resources() {
    return resources;
  }

  /** Closes the providers, which ends their launchers. Closing again has no effect. */
  @Override
  public void close() {
    opened.forEach(Providers::close);
    opened.clear();
    for (Path folder : temporary) {
      try {
        TreeRemoval.remove(folder);
      } catch (IOException e) {
        // It holds nothing but an id; the system removes temporary folders.
      }
    }
    temporary.clear();
  }
}
