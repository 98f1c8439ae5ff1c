package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.host.image.NativeFiles.Stat;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A folder of the host that is a root file system. Mounts in it are skipped. */
final class FolderSource extends ImageSource {
  private record Inode(long device, long number) {}

  private final Path folder;

  FolderSource(Path folder) {
    this.folder = folder;
  }

  @Override
  String description() {
    return folder.toAbsolutePath().normalize().toString();
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    try (RootfsTree tree = new RootfsTree(folder);
        Copy copy = new Copy(tree, context)) {
      copy.path("", tree.stat("").orElseThrow());
    }
    return ImageDefaults.NONE;
  }

  /** Copies files of a folder into an image. */
  static final class Copy implements AutoCloseable {
    private final RootfsTree tree;
    private final UnpackContext context;
    private final Inode images;
    private final Map<Inode, String> linked = new HashMap<>();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(1 << 18);

    Copy(RootfsTree tree, UnpackContext context) throws IOException {
      this.tree = tree;
      this.context = context;
      try (RootfsTree work = new RootfsTree(context.work().resolve("../.."))) {
        Stat stat = work.stat("").orElseThrow();
        this.images = new Inode(stat.device(), stat.inode());
      }
    }

    void path(String path, Stat stat) throws IOException {
      Inode inode = new Inode(stat.device(), stat.inode());
      if (inode.equals(images)) {
        return; // otherwise the image would contain all images, itself included
      }
      if (stat.isFolder()) {
        put(path, stat, TarEntry.Kind.FOLDER, "");
        children(path);
      } else if (stat.isLink()) {
        put(path, stat, TarEntry.Kind.LINK, tree.readLink(path));
      } else if (!stat.isFile()) {
        put(path, stat, TarEntry.Kind.SPECIAL, "");
      } else if (linked.containsKey(inode)) {
        put(path, stat, TarEntry.Kind.HARD_LINK, linked.getOrDefault(inode, ""));
      } else {
        file(path);
        if (stat.links() > 1) {
          linked.put(inode, path);
        }
      }
    }

    private void children(String path) throws IOException {
      try {
        for (String name : tree.list(path)) {
          String child = ArchivePaths.resolve(path, name);
          Optional<Stat> stat = tree.stat(child);
          if (stat.isPresent()) {
            path(child, stat.get());
          }
        }
      } catch (NativeException e) {
        if (e.errno() != NativeException.EXDEV) {
          throw unreadable(e, path);
        }
        context.warnings().add("mounted folders are left empty", path);
      }
    }

    private void put(String path, Stat stat, TarEntry.Kind kind, String target) throws IOException {
      context
          .unpacker()
          .put(entry(path, stat, kind, target, 0, Map.of()), InputStream.nullInputStream());
    }

    private void file(String path) throws IOException {
      int file;
      try {
        file = tree.open(path, NativeFiles.RDONLY | NativeFiles.NONBLOCK);
      } catch (NativeException e) {
        if (e.errno() != NativeException.EXDEV) {
          throw unreadable(e, path);
        }
        context.warnings().add("mounted files are left out", path);
        return;
      }
      try {
        Stat stat = NativeFiles.stat(file);
        if (!stat.isFile()) {
          return; // replaced since it was listed
        }
        Map<String, byte[]> attributes = new LinkedHashMap<>();
        for (String name : NativeAttributes.names(file)) {
          if (Unpacker.isPreserved(name)) {
            NativeAttributes.get(file, name).ifPresent(value -> attributes.put(name, value));
          }
        }
        context
            .unpacker()
            .put(
                entry(path, stat, TarEntry.Kind.FILE, "", stat.size(), attributes),
                new Content(file));
      } finally {
        NativeFiles.close(file);
      }
    }

    private static TarEntry entry(
        String path,
        Stat stat,
        TarEntry.Kind kind,
        String target,
        long size,
        Map<String, byte[]> attributes) {
      return new TarEntry(
          path,
          kind,
          target,
          stat.permissions(),
          Integer.toUnsignedLong(stat.uid()),
          Integer.toUnsignedLong(stat.gid()),
          size,
          stat.seconds(),
          stat.nanos(),
          attributes);
    }

    private static RuntimeException unreadable(NativeException e, String path) {
      return Fault.of(
              ErrorCode.PERMISSION_DENIED,
              "cannot read " + ArchivePaths.display(path) + " of the folder: " + e.getMessage(),
              "grant your user read permission on the whole folder, or import a tar archive")
          .exception(e);
    }

    private final class Content extends InputStream {
      private final int file;

      Content(int file) {
        this.file = file;
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        if (length == 0) {
          return 0;
        }
        int n = NativeFiles.read(file, memory.asSlice(0, Math.min(length, memory.byteSize())));
        context.budget().takeBytes(n);
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, to, offset, n);
        return n == 0 ? -1 : n;
      }
    }

    @Override
    public void close() {
      arena.close();
    }
  }
}
