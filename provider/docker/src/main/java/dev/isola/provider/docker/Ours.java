package dev.isola.provider.docker;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
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
 * What there is of one provider's sandboxes: containers at the engine, by their labels, and folders
 * on this machine. One engine may serve two providers of an instance, Docker's and gVisor's.
 */
record Ours(Engine engine, ProviderContext context, String provider) {
  private Map<String, String> labels() {
    return Map.of(Labels.INSTANCE, context.instance().value(), Labels.PROVIDER, provider);
  }

  private List<Container> with(String label, String value) {
    Map<String, String> labels = new LinkedHashMap<>(labels());
    labels.put(label, value);
    return engine.list(labels);
  }

  /** Returns the container of a sandbox. */
  Optional<Container> find(SandboxId id) {
    return with(Labels.SANDBOX, id.value()).stream().findFirst();
  }

  /** Returns what has ended of those whose owner does not come back. */
  List<SandboxId> abandoned() {
    return with(Labels.SHORT_LIVED, "true").stream()
        .filter(container -> container.status().equals("exited"))
        .flatMap(container -> container.sandbox().stream())
        .toList();
  }

  Map<SandboxId, Container> all() {
    Map<SandboxId, Container> there = new HashMap<>();
    for (Container container : engine.list(labels())) {
      container.sandbox().ifPresent(id -> there.put(id, container));
    }
    return there;
  }

  String name(SandboxId id) {
    return Labels.name(context.instance(), id);
  }

  SocketFolder folder(SandboxId id) {
    return SocketFolder.of(context.dataFolder(), context.instance(), id);
  }

  List<Sighting> inventory() {
    List<Sighting> found = new ArrayList<>();
    Set<SandboxId> seen = new HashSet<>();
    for (Container container : engine.list(labels())) {
      if (container.sandbox().isPresent()) {
        SandboxId id = container.sandbox().get();
        Map<String, String> details = new LinkedHashMap<>();
        details.put("container", container.id());
        details.put("name", container.name());
        details.put("engine", engine.http().address().toString());
        if (container.state() == SandboxState.ERROR) {
          details.put(Sighting.ENDED, container.since());
        }
        found.add(new Sighting(id, container.state(), container.createdAt(), details));
        seen.add(id);
      }
    }
    for (SandboxId id : folders()) {
      if (!seen.contains(id)) {
        Path folder = folder(id).path();
        found.add(
            new Sighting(
                id, SandboxState.ERROR, modified(folder), Map.of("folder", folder.toString())));
      }
    }
    return found;
  }

  private List<SandboxId> folders() {
    try {
      return SocketFolder.found(context.dataFolder(), context.instance());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folders of sandboxes cannot be listed: " + e.getMessage(),
              "see who may read " + context.dataFolder())
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
