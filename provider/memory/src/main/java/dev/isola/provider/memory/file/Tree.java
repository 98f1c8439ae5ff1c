package dev.isola.provider.memory.file;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.Watch;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All files of one sandbox. Paths are absolute; every change is told to the watches. */
public final class Tree {
  private final ReentrantLock lock = new ReentrantLock();
  private final Node.Folder root = new Node.Folder(0755);
  private final Quota quota;
  private final Watches watches;
  private final Faults faults;

  public Tree(long capacity, Faults faults) {
    this.quota = new Quota(capacity);
    this.watches = new Watches(faults);
    this.faults = faults;
  }

  public Faults faults() {
    return faults;
  }

  public long usedBytes() {
    return quota.used();
  }

  public long peakBytes() {
    return quota.peak();
  }

  /** Puts a device into the tree. */
  public void device(String path, DeviceKind kind) {
    locked(() -> place(path, false).folder())
        .put(path.substring(path.lastIndexOf('/') + 1), new Node.Device(kind));
  }

  /** Returns {@code path} as an absolute one, starting at {@code base}. */
  public static String absolute(String base, String path) {
    if (path.isEmpty()) {
      throw FileFaults.invalid(path, "is empty");
    }
    if (path.indexOf('\0') >= 0) {
      throw FileFaults.invalid(path.replace('\0', '?'), "contains a NUL");
    }
    return path.startsWith("/") ? path : base + "/" + path;
  }

  <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  private Place place(String path, boolean follow) {
    return Walk.to(root, path, follow, null);
  }

  private Place placeMakingParents(String path, boolean follow) {
    return Walk.to(root, path, follow, made -> watches.tell(FileChange.Kind.CREATED, made, true));
  }

  public FileInfo stat(String path, boolean follow) {
    return locked(
        () -> {
          Place place = place(path, follow);
          return info(place.path(), place.existing());
        });
  }

  public Optional<FileInfo> find(String path, boolean follow) {
    try {
      return Optional.of(stat(path, follow));
    } catch (NotFound missing) {
      return Optional.empty();
    }
  }

  /** Returns the device {@code path} names, if it is one. */
  public Optional<DeviceKind> deviceAt(String path) {
    return locked(
        () ->
            place(path, true).node() instanceof Node.Device device
                ? Optional.of(device.kind)
                : Optional.empty());
  }

  static FileInfo info(String path, Node node) {
    return new FileInfo(
        path,
        node.type(),
        node.mode,
        node.size(),
        node.uid,
        node.gid,
        Owners.name(node.uid),
        Owners.name(node.gid),
        node.modifiedAt,
        node instanceof Node.Link link ? Optional.of(link.target) : Optional.empty());
  }

  /** Opens an existing file. */
  public OpenContent open(String path) {
    return locked(
        () -> {
          Place place = place(path, true);
          return new OpenContent(this, place.path(), place.asFile());
        });
  }

  /** Opens a file for writing, making it when it is missing, emptying it when {@code truncate}. */
  public OpenContent openForWriting(String path, boolean makeParents, boolean truncate, int mode) {
    return locked(
        () -> {
          Place place = makeParents ? placeMakingParents(path, true) : place(path, true);
          if (place.node() == null) {
            Node.RegularFile made = new Node.RegularFile(mode, looseContent());
            place.folder().put(place.name(), made);
            watches.tell(FileChange.Kind.CREATED, place.path(), false);
            return new OpenContent(this, place.path(), made);
          }
          Node.RegularFile file = place.asFile();
          if (truncate) {
            file.content.clear();
            file.modifiedAt = Instant.now();
            watches.tell(FileChange.Kind.MODIFIED, place.path(), false);
          }
          return new OpenContent(this, place.path(), file);
        });
  }

  /** Returns content that is in no file yet. */
  Content looseContent() {
    return new Content(quota, !faults.has(PlantedFault.UNNAMED_FILES_ARE_FREE));
  }

  /** Refuses early what {@link #replace} would refuse at the end. */
  void checkReplaceable(String path, boolean exclusive) {
    locked(
        () -> {
          Node there;
          try {
            there = place(path, false).node();
          } catch (NotFound parentsAreMadeLater) {
            there = null;
          }
          refuse(path, there, exclusive);
          return path;
        });
  }

  private static void refuse(String path, @Nullable Node there, boolean exclusive) {
    if (there != null && exclusive) {
      throw FileFaults.exists(path);
    }
    if (there instanceof Node.Folder) {
      throw FileFaults.isAFolder(path);
    }
    if (there instanceof Node.Device) {
      throw FileFaults.notAFile(path);
    }
  }

  /** Puts {@code content} at {@code path} in one step. */
  FileInfo replace(
      String path, Content content, Optional<Integer> mode, long uid, boolean exclusive) {
    return locked(
        () -> {
          Place place = placeMakingParents(path, false);
          Node before = place.node();
          refuse(place.path(), before, exclusive);
          int kept = before instanceof Node.RegularFile file ? file.mode : 0644;
          Node.RegularFile made = new Node.RegularFile(mode.orElse(kept), content);
          made.uid = before == null ? uid : before.uid;
          made.gid = before == null ? uid : before.gid;
          if (before instanceof Node.RegularFile file) {
            made.attributes.putAll(file.attributes);
            file.content.release();
          }
          place.folder().put(place.name(), made);
          watches.tell(FileChange.Kind.MOVED_TO, place.path(), false);
          return info(place.path(), made);
        });
  }

  /**
   * Returns everything beneath a folder, {@code depth} levels deep, folders before their content.
   */
  public List<FileInfo> list(String path, int depth) {
    return locked(
        () -> {
          Place place = place(path, true);
          List<FileInfo> found = new ArrayList<>();
          collect(place.path(), place.asFolder(), depth == 0 ? Integer.MAX_VALUE : depth, found);
          return found;
        });
  }

  private static void collect(String path, Node.Folder folder, int depth, List<FileInfo> found) {
    for (Map.Entry<String, Node> entry : folder.entries().entrySet()) {
      String child = path.equals("/") ? "/" + entry.getKey() : path + "/" + entry.getKey();
      found.add(info(child, entry.getValue()));
      if (depth > 1 && entry.getValue() instanceof Node.Folder inner) {
        collect(child, inner, depth - 1, found);
      }
    }
  }

  public void makeFolder(String path, int mode) {
    locked(
        () -> {
          Place place = placeMakingParents(path, true);
          if (place.node() == null) {
            place.folder().put(place.name(), new Node.Folder(mode));
            watches.tell(FileChange.Kind.CREATED, place.path(), true);
          } else if (!(place.node() instanceof Node.Folder)) {
            throw FileFaults.exists(place.path());
          }
          return place;
        });
  }

  public void makeLink(String path, String target) {
    locked(
        () -> {
          Place place = placeMakingParents(path, false);
          if (place.node() != null) {
            throw FileFaults.exists(place.path());
          }
          place.folder().put(place.name(), new Node.Link(target));
          watches.tell(FileChange.Kind.CREATED, place.path(), false);
          return place;
        });
  }

  public void move(String from, String to, boolean replace) {
    locked(
        () -> {
          Place source = place(from, false);
          Node node = source.existing();
          Place target = place(to, false);
          checkMove(source, target, replace);
          if (target.node() != node) {
            release(target.node());
            source.folder().remove(source.name());
            target.folder().put(target.name(), node);
            boolean folder = node instanceof Node.Folder;
            watches.tell(FileChange.Kind.MOVED_FROM, source.path(), folder);
            watches.tell(FileChange.Kind.MOVED_TO, target.path(), folder);
          }
          return target;
        });
  }

  private static void checkMove(Place source, Place target, boolean replace) {
    if (source.isRoot() || target.path().startsWith(source.path() + "/")) {
      throw FileFaults.invalid(target.path(), "is inside of what is moved");
    }
    Node there = target.node();
    if (there == null || there == source.node()) {
      return;
    }
    if (!replace) {
      throw FileFaults.exists(target.path());
    }
    if (there instanceof Node.Folder folder) {
      if (!(source.node() instanceof Node.Folder)) {
        throw FileFaults.isAFolder(target.path());
      }
      if (!folder.entries().isEmpty()) {
        throw FileFaults.notEmpty(target.path());
      }
    } else if (source.node() instanceof Node.Folder) {
      throw FileFaults.notAFolder(target.path());
    }
  }

  public void remove(String path, boolean recursive) {
    locked(
        () -> {
          Place place = place(path, false);
          Node node = place.existing();
          if (place.isRoot()) {
            throw FileFaults.invalid(path, "is the root");
          }
          if (node instanceof Node.Folder folder) {
            if (!recursive && !folder.entries().isEmpty()) {
              throw FileFaults.notEmpty(place.path());
            }
            removeInside(place.path(), folder);
          }
          release(node);
          place.folder().remove(place.name());
          watches.tell(FileChange.Kind.REMOVED, place.path(), node instanceof Node.Folder);
          return place;
        });
  }

  private void removeInside(String path, Node.Folder folder) {
    for (Map.Entry<String, Node> entry : Map.copyOf(folder.entries()).entrySet()) {
      String child = path + "/" + entry.getKey();
      if (entry.getValue() instanceof Node.Folder inner) {
        removeInside(child, inner);
      }
      release(entry.getValue());
      folder.remove(entry.getKey());
      watches.tell(FileChange.Kind.REMOVED, child, entry.getValue() instanceof Node.Folder);
    }
  }

  private static void release(@Nullable Node node) {
    if (node instanceof Node.RegularFile file) {
      file.content.release();
    }
  }

  /** Changes what is known of a node and tells that its attributes changed. */
  <T> T change(String path, boolean follow, Function<Node, T> change) {
    return locked(
        () -> {
          Place place = place(path, follow);
          T result = change.apply(place.existing());
          watches.tell(
              FileChange.Kind.ATTRIBUTES, place.path(), place.node() instanceof Node.Folder);
          return result;
        });
  }

  public void changeMode(String path, int mode) {
    change(path, true, node -> node.mode = mode);
  }

  public void touch(String path) {
    openForWriting(path, false, false, 0644);
    change(path, true, node -> node.modifiedAt = Instant.now());
  }

  /** Looks at a node without changing it. */
  <T> T look(String path, Function<Node, T> look) {
    return locked(() -> look.apply(place(path, true).existing()));
  }

  void modified(String path, Node.RegularFile file) {
    locked(
        () -> {
          file.modifiedAt = Instant.now();
          watches.tell(FileChange.Kind.MODIFIED, path, false);
          return path;
        });
  }

  Watch watch(String path, boolean recursive) {
    return locked(
        () -> {
          Place place = place(path, true);
          place.asFolder();
          return watches.open(place.path(), recursive);
        });
  }

  public void closeWatches() {
    watches.close();
  }
}
