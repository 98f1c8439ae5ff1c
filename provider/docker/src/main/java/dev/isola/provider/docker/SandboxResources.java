package dev.isola.provider.docker;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The resources of one provider's sandboxes: labelled containers in the engine, and folders on this
 * host. One engine may serve two providers of an instance, such as {@code docker} and {@code
 * docker-gvisor}.
 */
record SandboxResources(EngineApi engine, ProviderContext context, String provider) {
  private Map<String, String> labels() {
    return Map.of(
        ContainerLabels.INSTANCE, context.instance().value(), ContainerLabels.PROVIDER, provider);
  }

  private List<Container> labelled(String label, String value) {
    Map<String, String> labels = new LinkedHashMap<>(labels());
    labels.put(label, value);
    return engine.list(labels);
  }

  /** Returns the container of a sandbox. */
  Optional<Container> find(SandboxId id) {
    return labelled(ContainerLabels.SANDBOX, id.value()).stream().findFirst();
  }

  /** Returns the ended sandboxes whose owner process no longer exists. */
  List<SandboxId> orphaned() {
    return labelled(ContainerLabels.SHORT_LIVED, "true").stream()
        .filter(container -> container.status().equals("exited"))
        .flatMap(container -> container.sandbox().stream())
        .toList();
  }

  Map<SandboxId, Container> containers() {
    Map<SandboxId, Container> there = new HashMap<>();
    for (Container container : engine.list(labels())) {
      container.sandbox().ifPresent(id -> there.put(id, container));
    }
    return there;
  }

  String name(SandboxId id) {
    return ContainerLabels.name(context.instance(), id);
  }

  ContainerSocketFolder folder(SandboxId id) {
    return ContainerSocketFolder.of(context.dataFolder(), context.instance(), id);
  }

  List<InventoryItem> inventory() {
    List<InventoryItem> found = new ArrayList<>();
    Set<SandboxId> seen = new HashSet<>();
    for (Container container : engine.list(labels())) {
      if (container.sandbox().isPresent()) {
        SandboxId id = container.sandbox().get();
        Map<String, String> details = new LinkedHashMap<>();
        details.put("container", container.id());
        details.put("name", container.name());
        details.put("engine", engine.http().address().toString());
        if (container.state() == SandboxState.ERROR) {
          details.put(InventoryItem.END_REASON, container.since());
        }
        found.add(new InventoryItem(id, container.state(), container.createdAt(), details));
        seen.add(id);
      }
    }
    for (SandboxId id : folders()) {
      if (!seen.contains(id)) {
        Path folder = folder(id).path();
        found.add(
            new InventoryItem(
                id, SandboxState.ERROR, modified(folder), Map.of("folder", folder.toString())));
      }
    }
    return found;
  }

  private List<SandboxId> folders() {
    try {
      return ContainerSocketFolder.list(context.dataFolder(), context.instance());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folders of sandboxes cannot be listed: " + e.getMessage(),
              "check the permissions of " + context.dataFolder())
          .exception(e);
    }
  }

  private Instant modified(Path folder) {
    try {
      return Files.getLastModifiedTime(folder).toInstant();
    } catch (IOException gone) {
      return context.clock().instant();
    }
  }
}
