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
 * The workspace of a sandbox that has its own: a folder, alone or over layers. Which layers is
 * written in the sandbox's folder before anything is mounted.
 */
record Workspace(SandboxFolder folder, SandboxUserIds users, LayerStore layers) {
  /** The step of a plan that mounts it: the verb, where, its folder, the overlay's, the layers. */
  static final String VERB = "workspace";

  /** Its folder in the sandbox's {@link WritableLayer}. */
  static final String NAME = "workspace";

  Path upper() {
    return new WritableLayer(folder).resolve(NAME);
  }

  /** Where the list of layers is. */
  Path list() {
    return folder.path().resolve("layers");
  }

  /**
   * Where the layer is named that the folder became which was mounted when the sandbox was booted.
   * All that is mounted later lies on it: were it removed, the kernel would unmount that, too.
   */
  private Path anchor() {
    return folder.path().resolve("anchor");
  }

  /** Notes that the folder that is mounted is to become a layer. */
  void anchor(String layer) throws IOException {
    Files.writeString(anchor(), layer);
  }

  /** Called before it is mounted anew, over the layers that it stands on. */
  void clearAnchor() throws IOException {
    Files.deleteIfExists(anchor());
  }

  /** Returns the layers that must not go as long as the sandbox runs. */
  List<String> requiredLayers() throws IOException {
    List<String> all = new ArrayList<>(lowerLayers());
    try {
      all.add(Files.readString(anchor()));
    } catch (NoSuchFileException none) {
      // it was over layers from the beginning
    }
    return all;
  }

  private Path work() {
    return new WritableLayer(folder).resolve("work-" + NAME);
  }

  /** Returns the layers it lies on, the topmost first. */
  List<String> lowerLayers() throws IOException {
    try {
      return Files.readAllLines(list());
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  /** Adds the steps that make the folder of a sandbox that is being made, over layers or not. */
  void planCreation(LaunchPlan plan, List<String> beneath) throws IOException {
    if (beneath.isEmpty()) {
      WritableLayer.create(plan, users, upper(), "755");
      return;
    }
    Files.write(list(), beneath);
    layers.listener().reached(ForkStep.FORK_LISTED);
    layers.acquire(beneath, folder.path().getFileName().toString(), folder.path());
    WritableLayer.create(plan, users, work(), "700");
    planFolderLike(plan, beneath.getFirst(), upper());
    layers.listener().reached(ForkStep.FORK_PREPARED);
  }

  /** Adds the step that makes a folder what that of a layer is, but the sandbox's own. */
  private void planFolderLike(LaunchPlan plan, String layer, Path made) throws IOException {
    planFolderLike(plan, layers.tree(layer), layers.firstUserId(layer), made);
  }

  /** Adds the step that makes a folder what another is that belongs to the users from first on. */
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

  /** Returns the words of a plan's step that mounts it at {@code mount}. */
  List<String> step(String mount) throws IOException {
    return step(mount, upper(), work(), List.of(), lowerLayers());
  }

  /**
   * Returns the words of a plan's step.
   *
   * @param own where what is written goes
   * @param above a folder of the sandbox's own users over the layers
   */
  List<String> step(String mount, Path own, Path work, List<Path> above, List<String> beneath)
      throws IOException {
    List<String> words = new ArrayList<>(List.of(VERB, mount, own.toString(), work.toString()));
    for (Path one : above) {
      words.addAll(List.of(one.toString(), users.root(), users.root()));
    }
    for (String layer : beneath) {
      String first = users.hasRange() ? Long.toString(layers.firstUserId(layer)) : users.root();
      words.addAll(List.of(layers.tree(layer).toString(), first, users.root()));
    }
    return words;
  }

  /**
   * Returns the words of the step that tells whether nothing was written since it was put on its
   * layers; none when it lies on none.
   */
  Optional<List<String>> untouchedStep() throws IOException {
    List<String> beneath = lowerLayers();
    if (beneath.isEmpty()) {
      return Optional.empty();
    }
    String top = beneath.getFirst();
    return Optional.of(
        List.of(
            "untouched",
            upper().toString(),
            users.root(),
            layers.tree(top).toString(),
            Long.toString(layers.firstUserId(top))));
  }
}
