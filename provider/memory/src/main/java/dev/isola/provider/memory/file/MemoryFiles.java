package dev.isola.provider.memory.file;

import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The files of one sandbox as a caller sees them. */
public final class MemoryFiles implements FileSystem {
  private static final int CHUNK = 64 * 1024;

  private final Tree tree;
  private final String workingFolder;
  private final Runnable alive;
  private final Optional<String> heir;

  /**
   * @param alive throws when the sandbox is gone
   */
  public MemoryFiles(Tree tree, String workingFolder, Runnable alive) {
    this(tree, workingFolder, alive, Optional.empty());
  }

  private MemoryFiles(Tree tree, String workingFolder, Runnable alive, Optional<String> heir) {
    this.tree = tree;
    this.workingFolder = workingFolder;
    this.alive = alive;
    this.heir = heir;
  }

  @Override
  public FileSystem madeFor(String owner) {
    return new MemoryFiles(tree, workingFolder, alive, Optional.of(owner));
  }

  /** Makes something, and gives it with the folders that had to be made above it to the heir. */
  private <T> T given(String path, Supplier<T> making) {
    if (heir.isEmpty()) {
      return making.get();
    }
    String both = heir.get().contains(":") ? heir.get() : heir.get() + ":" + heir.get();
    Owners.number(heir.get().split(":", 2)[0]);
    List<String> made = new ArrayList<>(List.of(path));
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      String parent = path.substring(0, end);
      if (!exists(parent)) {
        made.add(parent);
      }
    }
    T result = making.get();
    made.forEach(one -> changeOwner(one, both));
    return result;
  }

  private String absolute(String path) {
    alive.run();
    return Tree.absolute(workingFolder, path);
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    String absolute = absolute(path);
    try {
      return new ContentInput(tree.open(absolute), range, alive);
    } catch (NotFound missing) {
      if (tree.faults().has(PlantedFault.HOST_FILES_SERVED)) {
        return fromHost(missing);
      }
      throw missing;
    }
  }

  private static InputStream fromHost(NotFound missing) {
    try {
      return Files.newInputStream(Path.of(missing.context().getOrDefault("resolved", "/")));
    } catch (IOException e) {
      throw missing;
    }
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    String absolute = absolute(path);
    FileInfo written = given(absolute, () -> writeTo(absolute, content, options));
    return heir.isEmpty() ? written : tree.stat(written.path(), true);
  }

  private FileInfo writeTo(String absolute, InputStream content, WriteOptions options) {
    long uid = options.user().map(MemoryFiles::user).orElse(0L);
    if (options.atomic() && !tree.faults().has(PlantedFault.WRITE_NOT_ATOMIC)) {
      return writeAtomically(absolute, content, options, uid);
    }
    if (options.exclusive()) {
      tree.checkReplaceable(absolute, true);
    }
    OpenContent file =
        tree.openForWriting(absolute, true, !options.append(), options.mode().orElse(0644));
    copy(content, (bytes, count) -> file.append(bytes, 0, count));
    options.mode().ifPresent(mode -> tree.changeMode(absolute, mode));
    return tree.stat(file.path(), true);
  }

  private FileInfo writeAtomically(
      String path, InputStream content, WriteOptions options, long uid) {
    tree.checkReplaceable(path, options.exclusive());
    Content loose = tree.looseContent();
    try {
      copy(content, (bytes, count) -> loose.append(bytes, 0, count));
      return tree.replace(path, loose, options.mode(), uid, options.exclusive());
    } catch (RuntimeException | Error e) {
      loose.release();
      throw e;
    }
  }

  private static long user(String name) {
    return Owners.number(name.split(":", 2)[0]);
  }

  private interface Sink {
    void take(byte[] bytes, int count);
  }

  private void copy(InputStream content, Sink sink) {
    byte[] buffer = new byte[CHUNK];
    try {
      for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
        alive.run();
        sink.take(buffer, n);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    return tree.stat(absolute(path), !List.of(options).contains(LinkOption.NOFOLLOW_LINKS));
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    if (depth < 0) {
      throw FileFaults.invalid(path, "is listed with a negative depth");
    }
    return tree.list(absolute(path), depth).stream();
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    String root = tree.stat(absolute(base), true).path();
    Glob glob = Glob.ofFiles(pattern);
    int skip = root.equals("/") ? 1 : root.length() + 1;
    return tree.list(root, 0).stream().filter(info -> glob.matches(info.path().substring(skip)));
  }

  @Override
  public void makeFolder(String path, int mode) {
    String absolute = absolute(path);
    if (heir.isPresent() && exists(absolute)) {
      tree.makeFolder(absolute, checked(mode)); // what is there already stays whose it is
      return;
    }
    given(
        absolute,
        () -> {
          tree.makeFolder(absolute, checked(mode));
          return absolute;
        });
  }

  private static int checked(int mode) {
    if (mode < 0 || mode > 07777) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a mode is 0 to 07777: 0" + Integer.toOctalString(mode),
              "correct the mode")
          .exception();
    }
    return mode;
  }

  @Override
  public void move(String from, String to, boolean replace) {
    tree.move(absolute(from), absolute(to), replace);
  }

  @Override
  public void remove(String path, boolean recursive) {
    tree.remove(absolute(path), recursive);
  }

  @Override
  public void changeMode(String path, int mode) {
    tree.changeMode(absolute(path), checked(mode));
  }

  @Override
  public void changeOwner(String path, String owner) {
    String[] parts = owner.split(":", 2);
    Optional<Long> uid =
        parts[0].isEmpty() ? Optional.empty() : Optional.of(Owners.number(parts[0]));
    Optional<Long> gid = parts.length < 2 ? Optional.empty() : Optional.of(Owners.number(parts[1]));
    tree.change(
        absolute(path),
        false,
        node -> {
          uid.ifPresent(number -> node.uid = number);
          gid.ifPresent(number -> node.gid = number);
          return node;
        });
  }

  @Override
  public void makeLink(String link, String target) {
    if (target.isEmpty() || target.indexOf('\0') >= 0) {
      throw FileFaults.invalid(link, "would point to nothing that can be named");
    }
    tree.makeLink(absolute(link), target);
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    return tree.look(absolute(path), node -> new TreeMap<>(node.attributes));
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    if (name.isEmpty() || name.length() > 250 || value.size() > 64 * 1024) {
      throw FileFaults.invalid(path, "cannot have the attribute '" + name + "'");
    }
    tree.change(
        absolute(path), true, node -> Optional.ofNullable(node.attributes.put(name, value)));
  }

  @Override
  public void removeAttribute(String path, String name) {
    tree.change(
        absolute(path),
        true,
        node -> {
          if (node.attributes.remove(name) == null) {
            throw FileFaults.missing(path + " (attribute " + name + ")");
          }
          return node;
        });
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    return TreeExport.open(tree, absolute(path), excludes);
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    return new TreeImport(tree, absolute(path), limits).from(archive);
  }

  /** Returns everything that is known of the files beneath {@code path}, as an archive. */
  public InputStream picture(String path, List<String> includes, List<String> excludes) {
    return new PictureExport(tree, absolute(path), includes, excludes).archive();
  }

  /** Makes the files of a picture once more. */
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return new PictureImport(tree, limits).from(absolute(path), archive);
  }

  public Watch watch(String path, boolean recursive) {
    return tree.watch(absolute(path), recursive);
  }
}
