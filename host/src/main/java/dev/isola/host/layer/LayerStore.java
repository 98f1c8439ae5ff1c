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
 * The layers of a provider, each a folder: {@code tree}, which nobody writes to; {@code first}, the
 * number of the first of the users its files belong to; marks of who uses it; and {@code merged},
 * the name of a layer that has all files of this one and of those it was put on, if there is one.
 * Nothing is kept anywhere else, so a crash at any moment leaves a layer that somebody uses or one
 * that goes with the next sweep.
 *
 * <p>A folder of an image is a layer too, by its path: its files belong to the users they belong to
 * inside, and who uses the image is noted with the image.
 */
public final class LayerStore {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OURS =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** A layer being made or removed: by whom (number and start of the process), and its name. */
  private static final Pattern DRAFT = Pattern.compile("draft-(\\d+)-(\\d+)-(.+)");

  private static final String LEASE_PREFIX = "held-";
  private static final String MERGED = "merged";
  private static final String TREE = "tree";

  /** A further name of the disk that holds the files, which lives as long as it has one. */
  private static final String DISK = "disk";

  private static final String SPARE = "spare";

  /** Where in a disk the layers are, each by its name. */
  private static final String WITHIN = "layers";

  private final Path folder;
  private final UsageReferences references = new UsageReferences();
  private final AgentProcess process;
  private final ForkStepListener listener;

  private final DiskFileRemover fileRemover;

  /** Removes files from the disk of a sandbox. */
  public interface DiskFileRemover {
    /**
     * @param image the file that holds the disk
     * @param mount an empty folder where it can be mounted
     * @param within what to remove, from the disk's root on
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

  /** Returns where they are; there is no such folder before the first is made. */
  public Path folder() {
    return folder;
  }

  /** Returns who is told how far a fork is. */
  public ForkStepListener listener() {
    return listener;
  }

  /** Returns where the files of a layer lie; there are none yet when it was just made. */
  public Path tree(String layer) {
    return isImageLayer(layer) ? Path.of(layer) : folder.resolve(layer).resolve(TREE);
  }

  private static boolean isImageLayer(String layer) {
    return layer.startsWith("/");
  }

  /** Returns the host's number of the root of whoever wrote the layer. */
  public long firstUserId(String layer) throws IOException {
    return isImageLayer(layer)
        ? 0
        : Long.parseLong(Files.readString(folder.resolve(layer).resolve("first")));
  }

  /**
   * Makes a layer without files that {@code user} uses from the beginning.
   *
   * @param disk the file that holds the disk that its files will be in, if they will be in one
   */
  public String create(long first, String user, Path usersFolder, Optional<Path> disk)
      throws IOException {
    Files.createDirectories(folder, OURS);
    String name = newName();
    Path draft = draft(name);
    Files.createDirectory(draft, OURS);
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
   * Notes that somebody uses layers.
   *
   * @throws NoSuchFileException when one of them is gone; none is used then
   */
  public void acquire(List<String> layers, String user, Path usersFolder) throws IOException {
    acquire(layers, user, marked -> references.add(marked, user, usersFolder));
  }

  /** Marks the folders of layers. */
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

  /** Keeps layers for as long as this process lives, or until they are let go by the result. */
  public String lease(List<String> layers) throws IOException {
    String holder = LEASE_PREFIX + newName();
    acquire(layers, holder, marked -> references.add(marked, holder, process));
    return holder;
  }

  /** Returns those that are not of an image. */
  public static List<String> withoutImageLayers(List<String> layers) {
    return layers.stream().filter(layer -> !isImageLayer(layer)).toList();
  }

  /**
   * Returns layers with the same files, fewer of them where some were merged. They may be gone by
   * the time that they are used.
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
      return Optional.of(name).filter(one -> Files.isDirectory(tree(one)));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  /**
   * What layers are merged into.
   *
   * @param tree an empty folder for the files
   * @param spare one for what is on the way
   * @param layers and the first of their users each, the lowest first
   * @param beneath whether something lies beneath them that they hide parts of
   * @param image the file that holds the disk that all of this is in, if it is in one
   * @param mount where that disk is to be mounted
   */
  public record MergeRequest(
      Path tree,
      Path spare,
      long firstUserId,
      Map<Path, Long> layers,
      boolean hasLowerLayers,
      Optional<Path> image,
      Path mount) {
    /** Returns the launcher's step, as merge.h has it. */
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

  /** Puts what layers have into one. */
  public interface MergeAction {
    void merge(MergeRequest wanted) throws IOException;
  }

  /** Makes a layer with the files of others. It is kept as long as the topmost of them. */
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
      Files.createDirectory(draft, OURS);
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

  /** In the disk that all of the layers are in, where files can be shared; otherwise in none. */
  private MergeRequest mergeRequest(Path draft, String name, List<String> own, boolean beneath)
      throws IOException {
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
      return new MergeRequest(root, spare, first, from, beneath, disk, root);
    }
    Path image = Files.createLink(draft.resolve(DISK), disk.get());
    return new MergeRequest(
        within.resolve(name),
        within.resolve(name + SPARE),
        first,
        from,
        beneath,
        Optional.of(image),
        root);
  }

  /** Returns the file of the disk that all of the layers are in, if there is one. */
  private Optional<Path> commonDisk(List<String> own) throws IOException {
    Set<Object> keys = new HashSet<>();
    Path disk = folder.resolve(own.getFirst()).resolve(DISK);
    for (String layer : own) {
      Path one = folder.resolve(layer).resolve(DISK);
      if (!Files.exists(one)) {
        return Optional.empty();
      }
      keys.add(Files.getAttribute(one, "unix:ino"));
    }
    return keys.size() == 1 ? Optional.of(disk) : Optional.empty();
  }

  private void recordMerge(String top, String merged) throws IOException {
    Path unfinished = folder.resolve(top).resolve("." + MERGED);
    Files.writeString(unfinished, merged);
    Files.move(unfinished, folder.resolve(top).resolve(MERGED), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Tells whether anybody but processes that hold it for a while uses a layer. */
  public boolean isInUse(String layer) throws IOException {
    return references.holders(folder.resolve(layer)).stream()
        .anyMatch(user -> !user.startsWith(LEASE_PREFIX));
  }

  /** Takes back all marks of somebody but those on some layers; what nobody uses then stays. */
  public void releaseExcept(String user, List<String> layers) throws IOException {
    for (Path one : all()) {
      if (!layers.contains(one.getFileName().toString())) {
        references.remove(one, user);
      }
    }
  }

  /**
   * Takes back what {@link #acquire} or {@link #lease} noted, and removes what nobody uses then.
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
   * Takes back every mark of somebody who ends, also one that a crash kept from being written down
   * elsewhere, and sweeps.
   */
  public void releaseAll(String user) throws IOException {
    releaseExcept(user, List.of());
    sweep();
  }

  /** Removes what a crash has left: layers that nobody uses, and what was half made or removed. */
  public void sweep() throws IOException {
    List<Path> before = all();
    List<Path> left = sweep(before);
    while (left.size() < before.size()) { // a layer may have been used by another only
      before = left;
      left = sweep(before);
    }
  }

  /** Returns what is left of it. */
  private List<Path> sweep(List<Path> some) throws IOException {
    for (Path one : some) {
      Matcher draft = DRAFT.matcher(one.getFileName().toString());
      if (!draft.matches()) {
        removeUnused(one);
      } else if (!creator(draft).isAlive()) {
        removeDraft(one, folder.resolve(draft.group(3)));
      }
    }
    return some.stream().filter(Files::isDirectory).toList();
  }

  private List<Path> all() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(found::add);
    } catch (NoSuchFileException none) {
      // nobody has made one
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

  /** Somebody may have been quicker and have left a mark; without files it was never used. */
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
        // It counts for the sandbox whose disk it is, and goes with that.
      }
    }
    new SandboxFolder(draft).remove();
  }
}
