package dev.isola.host.launch;

import dev.isola.host.layer.Layers;
import dev.isola.host.layer.Step;
import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;

/**
 * The workspace of a sandbox that has its own: a folder, alone or over layers. Which layers is
 * written in the sandbox's folder before anything is mounted.
 */
record Workspace(SandboxFolder folder, Users users, Layers layers) {
  /** The step of a plan that mounts it: the verb, where, its folder, the overlay's, the layers. */
  static final String VERB = "workspace";

  /** Its folder in the sandbox's {@link Layer}. */
  static final String NAME = "workspace";

  Path own() {
    return new Layer(folder).of(NAME);
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
  void weigh() throws IOException {
    Files.deleteIfExists(anchor());
  }

  /** Returns the layers that must not go as long as the sandbox runs. */
  List<String> uses() throws IOException {
    List<String> all = new ArrayList<>(standsOn());
    try {
      all.add(Files.readString(anchor()));
    } catch (NoSuchFileException none) {
      // it was over layers from the beginning
    }
    return all;
  }

  private Path work(String name) {
    return folder.path().resolve("work-" + name);
  }

  /** Makes a folder in that of the sandbox, its own. */
  Path makeBeside(Path path) throws IOException {
    new Layer(folder).makeBeside(path.getFileName().toString(), users);
    return path;
  }

  /** Returns the layers it lies on, the topmost first. */
  List<String> standsOn() throws IOException {
    try {
      return Files.readAllLines(list());
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  /** Lets a sandbox that is being made begin with layers. */
  void begin(List<String> beneath) throws IOException {
    if (beneath.isEmpty()) {
      return;
    }
    Files.write(list(), beneath);
    layers.steps().reached(Step.FORK_LISTED);
    layers.use(beneath, folder.path().getFileName().toString(), folder.path());
    makeBeside(work(NAME));
    String top = beneath.getFirst();
    like(layers.tree(top), layers.first(top), own());
    layers.steps().reached(Step.FORK_PREPARED);
  }

  /** What is known of a folder besides what is in it. */
  private record Root(int mode, int uid, int gid, FileTime modified) {
    static Root of(Path folder) throws IOException {
      return new Root(
          (Integer) Files.getAttribute(folder, "unix:mode"),
          (Integer) Files.getAttribute(folder, "unix:uid"),
          (Integer) Files.getAttribute(folder, "unix:gid"),
          Files.getLastModifiedTime(folder));
    }
  }

  /** Makes a folder what another is that belongs to the users from {@code first} on. */
  void like(Path other, long first, Path made) throws IOException {
    Root root = Root.of(other);
    if (users.range()) {
      Files.setAttribute(made, "unix:uid", moved(root.uid(), first));
      Files.setAttribute(made, "unix:gid", moved(root.gid(), first));
    }
    Files.setAttribute(made, "unix:mode", root.mode());
    Files.setLastModifiedTime(made, root.modified());
  }

  private int moved(int number, long first) {
    long offset = Integer.toUnsignedLong(number) - first;
    return Math.toIntExact(users.first() + (offset >= 0 && offset < Users.COUNT ? offset : 0));
  }

  /** Returns the words of a plan's step that mounts it at {@code mount}. */
  List<String> step(String mount) throws IOException {
    return step(mount, own(), work(NAME), List.of(), standsOn());
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
      String first = users.range() ? Long.toString(layers.first(layer)) : users.root();
      words.addAll(List.of(layers.tree(layer).toString(), first, users.root()));
    }
    return words;
  }

  /** Tells whether nothing was written since it was put on its layers. */
  boolean untouched() throws IOException {
    List<String> beneath = standsOn();
    if (beneath.isEmpty()) {
      return false;
    }
    try (var entries = Files.newDirectoryStream(own())) {
      if (entries.iterator().hasNext()) {
        return false;
      }
    }
    String top = beneath.getFirst();
    Root now = Root.of(own());
    Root then = Root.of(layers.tree(top));
    long first = layers.first(top);
    return now.mode() == then.mode()
        && (!users.range()
            || (now.uid() == moved(then.uid(), first) && now.gid() == moved(then.gid(), first)));
  }
}
