package dev.isola.host.launch;

import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.LayerStore;
import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The private workspace of a sandbox: a folder, alone or over layers. The layers are listed in the
 * sandbox's folder before anything is mounted.
 */
record Workspace(SandboxFolder folder, SandboxUserIds users, LayerStore layers) {
  /**
   * The verb of the step that mounts it; its words are mount point, upper folder, work folder and
   * layers.
   */
  static final String VERB = "workspace";

  /** The name of its folder in the {@link WritableLayer}. */
  static final String NAME = "workspace";

  Path upper() {
    return new WritableLayer(folder).resolve(NAME);
  }

  /** Returns the file with the list of layers. */
  Path list() {
    return folder.path().resolve("layers");
  }

  /**
   * Returns the file that names the anchor: the layer that was the mounted folder when the sandbox
   * booted. All later mounts are stacked on it; if it were removed, the kernel would unmount them
   * too.
   */
  private Path anchor() {
    return folder.path().resolve("anchor");
  }

  /** Records that the mounted folder becomes a layer. */
  void anchor(String layer) throws IOException {
    Files.writeString(anchor(), layer);
  }

  /** Removes the anchor before the workspace is mounted again over its layers. */
  void clearAnchor() throws IOException {
    Files.deleteIfExists(anchor());
  }

  /** Returns the layers that must exist as long as the sandbox runs. */
  List<String> requiredLayers() throws IOException {
    List<String> all = new ArrayList<>(lowerLayers());
    try {
      all.add(Files.readString(anchor()));
    } catch (NoSuchFileException none) {
      // The workspace was booted over layers.
    }
    return all;
  }

  private Path work() {
    return new WritableLayer(folder).resolve("work-" + NAME);
  }

  /** Returns the layers below the workspace, the topmost first. */
  List<String> lowerLayers() throws IOException {
    try {
      return Files.readAllLines(list());
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  /** Adds the steps that create the folder of a new sandbox, with or without layers. */
  void planCreation(LaunchPlan plan, List<String> lower) throws IOException {
    if (lower.isEmpty()) {
      WritableLayer.create(plan, users, upper(), "755");
      return;
    }
    Files.write(list(), lower);
    layers.listener().reached(ForkStep.FORK_LISTED);
    layers.acquire(lower, folder.path().getFileName().toString(), folder.path());
    WritableLayer.create(plan, users, work(), "700");
    planFolderLike(plan, lower.getFirst(), upper());
    layers.listener().reached(ForkStep.FORK_PREPARED);
  }

  /**
   * Adds the step that creates a folder with the mode and owner of a layer's root, mapped to the
   * sandbox's ids.
   */
  private void planFolderLike(LaunchPlan plan, String layer, Path made) throws IOException {
    planFolderLike(plan, layers.tree(layer), layers.firstUserId(layer), made);
  }

  /**
   * Adds the step that creates a folder with the mode and owner of another, whose ids start at
   * {@code first}.
   */
  void planFolderLike(LaunchPlan plan, Path other, long first, Path made) {
    plan.step(
        "make",
        made.toString(),
        "755",
        users.root(),
        users.root(),
        other.toString(),
        Long.toString(first));
  }

  /** Returns the step that mounts the workspace at {@code mount}. */
  List<String> step(String mount) throws IOException {
    return step(mount, upper(), work(), List.of(), lowerLayers());
  }

  /**
   * Returns the step that mounts a workspace.
   *
   * @param upperFolder the upper folder, which receives writes
   * @param above folders with the sandbox's own ids over the layers
   */
  List<String> step(String mount, Path upperFolder, Path work, List<Path> above, List<String> lower)
      throws IOException {
    List<String> words =
        new ArrayList<>(List.of(VERB, mount, upperFolder.toString(), work.toString()));
    for (Path one : above) {
      words.addAll(List.of(one.toString(), users.root(), users.root()));
    }
    for (String layer : lower) {
      String first = users.hasRange() ? Long.toString(layers.firstUserId(layer)) : users.root();
      words.addAll(List.of(layers.tree(layer).toString(), first, users.root()));
    }
    return words;
  }

  /**
   * Returns the step that checks whether nothing was written since the last commit; empty if there
   * are no layers.
   */
  Optional<List<String>> untouchedStep() throws IOException {
    List<String> lower = lowerLayers();
    if (lower.isEmpty()) {
      return Optional.empty();
    }
    String top = lower.getFirst();
    return Optional.of(
        List.of(
            "untouched",
            upper().toString(),
            users.root(),
            layers.tree(top).toString(),
            Long.toString(layers.firstUserId(top))));
  }
}
