package dev.isola.host.layer;

import dev.isola.host.UsageReferences;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The layers of a provider, each a folder with {@code tree}, which is read-only; {@code first}, the
 * first user id of its files; references of its users; and optionally {@code merged}, the name of a
 * layer with all files of this one and of those below it. There is no other state, so after a crash
 * a layer is either referenced or removed by the next sweep.
 *
 * <p>A folder of an image also counts as a layer, named by its path. Its files have the ids they
 * have inside, and the image itself holds the references.
 */
public final class LayerStore {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /**
   * A layer that is being created or removed: pid and start time of the process, and the layer's
   * name.
   */
  private static final Pattern DRAFT = Pattern.compile("draft-(\\d+)-(\\d+)-(.+)");

  private static final String LEASE_PREFIX = "held-";
  private static final String MERGED = "merged";
  private static final String TREE = "tree";

  /** A hard link to the image of the disk that holds the files, which keeps it alive. */
  private static final String DISK = "disk";

  private static final String SPARE = "spare";

  /** The folder of the layers in a disk. */
  private static final String WITHIN = "layers";

  private final Path folder;
  private final UsageReferences references = new UsageReferences();
  private final AgentProcess process;
  private final ForkStepListener listener;

  private final DiskFileRemover fileRemover;

  /** Removes files from the disk of a sandbox. */
  public interface DiskFileRemover {
    /**
     * @param image the image file of the disk
     * @param mount an empty folder to mount it on
     * @param within the paths to remove, relative to the disk's root
     */
    void remove(Path image, Path mount, List<String> within) throws IOException;
  }

  public LayerStore(Path folder, ForkStepListener steps, DiskFileRemover files) {
    this(folder, thisProcess(), steps, files);
  }

  LayerStore(Path folder, AgentProcess process, ForkStepListener steps, DiskFileRemover files) {
    this.folder = folder;
    this.process = process;
    this.listener = steps;
    this.fileRemover = files;
  }

  private static AgentProcess thisProcess() {
    long pid = ProcessHandle.current().pid();
    return new AgentProcess(pid, AgentProcess.startTimeOf(pid).orElse(0L), false);
  }

  /** Returns the folder of the layers, which does not exist before the first is created. */
  public Path folder() {
    return folder;
  }

  /** Returns the listener for the steps of a fork. */
  public ForkStepListener listener() {
    return listener;
  }

  /** Returns the folder of a layer's files, which may be empty right after creation. */
  public Path tree(String layer) {
    return isImageLayer(layer) ? Path.of(layer) : folder.resolve(layer).resolve(TREE);
  }

  private static boolean isImageLayer(String layer) {
    return layer.startsWith("/");
  }

  /** Returns the host's id of the root user that wrote the layer. */
  public long firstUserId(String layer) throws IOException {
    return isImageLayer(layer)
        ? 0
        : Long.parseLong(Files.readString(folder.resolve(layer).resolve("first")));
  }

  /**
   * Creates an empty layer with a reference from {@code user}.
   *
   * @param disk the image file of the disk that will hold its files, if any
   */
  public String create(long first, String user, Path usersFolder, Optional<Path> disk)
      throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    String name = newName();
    Path draft = draft(name);
    Files.createDirectory(draft, OWNER_ONLY);
    Files.writeString(draft.resolve("first"), Long.toString(first));
    UsageReferences.initialize(draft);
    references.add(draft, user, usersFolder);
    if (disk.isPresent()) {
      Files.createLink(draft.resolve(DISK), disk.get());
      Files.createDirectory(draft.resolve(TREE));
    }
    listener.reached(ForkStep.LAYER_DRAFTED);
    Files.move(draft, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    listener.reached(ForkStep.LAYER_CREATED);
    return name;
  }

  private Path draft(String layer) {
    return folder.resolve("draft-" + process.pid() + "-" + process.startTime() + "-" + layer);
  }

  private static String newName() {
    byte[] bytes = new byte[8];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /**
   * Adds references to layers.
   *
   * @throws NoSuchFileException if one of them is gone; then no reference is added
   */
  public void acquire(List<String> layers, String user, Path usersFolder) throws IOException {
    acquire(layers, user, marked -> references.add(marked, user, usersFolder));
  }

  /** Writes references into the folders of layers. */
  private interface ReferenceWriter {
    void write(List<Path> layers) throws IOException;
  }

  private void acquire(List<String> layers, String user, ReferenceWriter marking)
      throws IOException {
    try {
      for (String layer : layers) {
        if (isImageLayer(layer) && !Files.isDirectory(tree(layer))) {
          throw new NoSuchFileException(layer);
        }
      }
      marking.write(withoutImageLayers(layers).stream().map(folder::resolve).toList());
      listener.reached(ForkStep.LAYERS_ACQUIRED);
    } catch (IOException e) {
      release(layers, user);
      throw e;
    }
  }

  /** Protects layers until the returned lease is released or this process ends. */
  public String lease(List<String> layers) throws IOException {
    String holder = LEASE_PREFIX + newName();
    acquire(layers, holder, marked -> references.add(marked, holder, process));
    return holder;
  }

  /** Returns the layers that are not folders of an image. */
  public static List<String> withoutImageLayers(List<String> layers) {
    return layers.stream().filter(layer -> !isImageLayer(layer)).toList();
  }

  /**
   * Returns layers with the same files, using merged ones if there are any. They may be removed
   * before they are acquired.
   */
  public List<String> compacted(List<String> layers) throws IOException {
    List<String> found = new ArrayList<>();
    for (String layer : withoutImageLayers(layers)) {
      Optional<String> merged = merged(layer);
      if (merged.isPresent()) {
        found.add(merged.get());
        layers.stream().filter(LayerStore::isImageLayer).forEach(found::add);
        return found;
      }
      found.add(layer);
    }
    return layers;
  }

  private Optional<String> merged(String layer) throws IOException {
    try {
      String name = Files.readString(folder.resolve(layer).resolve(MERGED));
      return Optional.of(name).filter(path -> Files.isDirectory(tree(path)));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  /**
   * A merge of layers.
   *
   * @param tree an empty folder for the result
   * @param spare an empty folder for temporary files
   * @param layers the layers, the lowest first, each with its first user id
   * @param hasLowerLayers whether there are further layers below, of which these hide parts
   * @param image the image file of the disk that contains all of this, if any
   * @param mount where to mount that disk
   */
  public record MergeRequest(
      Path tree,
      Path spare,
      long firstUserId,
      Map<Path, Long> layers,
      boolean hasLowerLayers,
      Optional<Path> image,
      Path mount) {
    /** Returns the step of the launcher; see merge.h. */
    public List<String> step(String verb) {
      List<String> words =
          new ArrayList<>(
              List.of(
                  verb,
                  tree.toString(),
                  spare.toString(),
                  Long.toString(firstUserId),
                  hasLowerLayers ? "keep" : "all"));
      layers.forEach((path, user) -> words.addAll(List.of(path.toString(), user.toString())));
      return words;
    }
  }

  /** Merges the files of layers. */
  public interface MergeAction {
    void merge(MergeRequest request) throws IOException;
  }

  /** Creates a layer with the files of others. It exists as long as the topmost of them. */
  public void merge(List<String> layers, MergeAction filling) throws IOException {
    List<String> own = withoutImageLayers(layers);
    String top = own.getFirst();
    if (merged(top).isPresent()) {
      return;
    }
    String holder = lease(own);
    String name = newName();
    Path draft = draft(name);
    try {
      Files.createDirectory(draft, OWNER_ONLY);
      Files.writeString(draft.resolve("first"), Long.toString(firstUserId(own.getLast())));
      UsageReferences.initialize(draft);
      listener.reached(ForkStep.MERGE_STARTED);
      filling.merge(mergeRequest(draft, name, own, own.size() < layers.size()));
      references.add(draft, "layer-" + top, folder.resolve(top));
      listener.reached(ForkStep.MERGE_FILLED);
      Files.move(draft, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      listener.reached(ForkStep.MERGE_PUBLISHED);
      recordMerge(top, name);
      listener.reached(ForkStep.MERGE_RECORDED);
    } finally {
      discard(draft, name);
      release(own, holder);
    }
  }

  /**
   * Prepares a merge in the disk that contains all layers, where files can be hard-linked, or else
   * outside of any.
   */
  private MergeRequest mergeRequest(
      Path draft, String name, List<String> own, boolean hasLowerLayers) throws IOException {
    long first = firstUserId(own.getLast());
    Path root = Files.createDirectory(draft.resolve(TREE));
    Optional<Path> disk = commonDisk(own);
    Path within = root.resolve(WITHIN);
    Map<Path, Long> from = new LinkedHashMap<>();
    for (String layer : own.reversed()) {
      from.put(disk.isPresent() ? within.resolve(layer) : tree(layer), firstUserId(layer));
    }
    if (disk.isEmpty()) {
      Path spare = Files.createDirectory(draft.resolve(SPARE));
      return new MergeRequest(root, spare, first, from, hasLowerLayers, disk, root);
    }
    Path image = Files.createLink(draft.resolve(DISK), disk.get());
    return new MergeRequest(
        within.resolve(name),
        within.resolve(name + SPARE),
        first,
        from,
        hasLowerLayers,
        Optional.of(image),
        root);
  }

  /** Returns the image file of the disk that contains all layers, if there is one. */
  private Optional<Path> commonDisk(List<String> own) throws IOException {
    Set<Object> keys = new HashSet<>();
    Path disk = folder.resolve(own.getFirst()).resolve(DISK);
    for (String layer : own) {
      Path path = folder.resolve(layer).resolve(DISK);
      if (!Files.exists(path)) {
        return Optional.empty();
      }
      keys.add(Files.getAttribute(path, "unix:ino"));
    }
    return keys.size() == 1 ? Optional.of(disk) : Optional.empty();
  }

  private void recordMerge(String top, String merged) throws IOException {
    Path unfinished = folder.resolve(top).resolve("." + MERGED);
    Files.writeString(unfinished, merged);
    Files.move(unfinished, folder.resolve(top).resolve(MERGED), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Reports whether a layer has references other than temporary leases. */
  public boolean isInUse(String layer) throws IOException {
    return references.holders(folder.resolve(layer)).stream()
        .anyMatch(user -> !user.startsWith(LEASE_PREFIX));
  }

  /**
   * Removes all references of a user except those to some layers; does not remove unused layers.
   */
  public void releaseExcept(String user, List<String> layers) throws IOException {
    for (Path path : all()) {
      if (!layers.contains(path.getFileName().toString())) {
        references.remove(path, user);
      }
    }
  }

  /**
   * Removes references added by {@link #acquire} or {@link #lease} and the layers that become
   * unused.
   */
  public void release(List<String> layers, String user) throws IOException {
    for (String layer : layers) {
      if (!isImageLayer(layer)) {
        references.remove(folder.resolve(layer), user);
        removeUnused(folder.resolve(layer));
      }
    }
  }

  /**
   * Removes all references of a user that ends, including those a crash left unrecorded, and
   * sweeps.
   */
  public void releaseAll(String user) throws IOException {
    releaseExcept(user, List.of());
    sweep();
  }

  /** Removes what a crash has left behind: unused layers, and partially created or removed ones. */
  public void sweep() throws IOException {
    List<Path> before = all();
    List<Path> left = sweep(before);
    while (left.size() < before.size()) { // a layer may have been used only by another one
      before = left;
      left = sweep(before);
    }
  }

  /** Removes the unused ones of these folders; returns the rest. */
  private List<Path> sweep(List<Path> some) throws IOException {
    for (Path path : some) {
      Matcher draft = DRAFT.matcher(path.getFileName().toString());
      if (!draft.matches()) {
        removeUnused(path);
      } else if (!creator(draft).isAlive()) {
        removeDraft(path, folder.resolve(draft.group(3)));
      }
    }
    return some.stream().filter(Files::isDirectory).toList();
  }

  private List<Path> all() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(found::add);
    } catch (NoSuchFileException none) {
      // No layer has been created.
    }
    return found;
  }

  private static AgentProcess creator(Matcher draft) {
    return new AgentProcess(Long.parseLong(draft.group(1)), Long.parseLong(draft.group(2)), false);
  }

  private void removeUnused(Path layer) throws IOException {
    if (references.isInUse(layer)) {
      return;
    }
    Path draft = draft(layer.getFileName().toString());
    try {
      Files.move(layer, draft, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException another) {
      return;
    }
    listener.reached(ForkStep.LAYER_DETACHED);
    removeDraft(draft, layer);
  }

  /** A concurrent call may have added a reference. A layer without files was never in use. */
  private void removeDraft(Path draft, Path layer) throws IOException {
    if (Files.isDirectory(draft.resolve(TREE)) && references.isInUse(draft)) {
      Files.move(draft, layer, StandardCopyOption.ATOMIC_MOVE);
    } else {
      discard(draft, layer.getFileName().toString());
    }
  }

  private void discard(Path draft, String name) throws IOException {
    Path image = draft.resolve(DISK);
    if (Files.exists(image)) {
      String within = WITHIN + "/" + name;
      try {
        fileRemover.remove(image, draft.resolve(TREE), List.of(within, within + SPARE));
      } catch (IOException left) {
        // The files count towards the disk of the sandbox and are removed with it.
      }
    }
    new SandboxFolder(draft).remove();
  }
}
