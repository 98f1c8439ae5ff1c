package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.host.image.NativeFiles.Stat;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An image with the files of another one and changes to them. Files of the base are hard links:
 * images are immutable, so both can share them, and either can be removed without the other. A
 * change replaces a file by a new one and never writes into it.
 */
final class LayerSource extends ImageSource {
  private final ImageLayer layer;
  private final String description;
  private final ImageDefaults defaults;

  LayerSource(ImageLayer layer, String description, ImageDefaults defaults) {
    this.layer = layer;
    this.description = description;
    this.defaults = defaults;
  }

  @Override
  String description() {
    return description;
  }

  @Override
  Optional<Image> base() {
    return Optional.of(layer.base());
  }

  @Override
  boolean hasFilesOfBase() {
    return layer.isUnchanged();
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    try (RootfsTree tree = new RootfsTree(layer.base().rootfs());
        FolderSource.Copy copy = new FolderSource.Copy(tree, context)) {
      new BaseFiles(tree, copy, context.unpacker()).folder("", tree.stat("").orElseThrow());
    }
    if (layer.changes().isPresent()) {
      try (InputStream archive = layer.changes().get()) {
        apply(archive, context);
      }
    }
    for (String folder : layer.emptied()) { // they are mount points, which changes do not contain
      context.unpacker().ensureFolder(folder);
    }
    return defaults;
  }

  /** Adds the files of the base to the image. */
  private final class BaseFiles {
    private final RootfsTree tree;
    private final FolderSource.Copy copy;
    private final Unpacker unpacker;

    BaseFiles(RootfsTree tree, FolderSource.Copy copy, Unpacker unpacker) {
      this.tree = tree;
      this.copy = copy;
      this.unpacker = unpacker;
    }

    /** Adds the files of a folder before its folders, so that few folders are opened again. */
    void folder(String path, Stat stat) throws IOException {
      unpacker.put(entry(path, stat), InputStream.nullInputStream());
      List<String> folders = new ArrayList<>();
      for (String name : tree.list(path)) {
        String child = ArchivePaths.resolve(path, name);
        if (!layer.sharesPath(child)) {
          continue;
        }
        Stat found =
            tree.stat(child)
                .orElseThrow(() -> new IOException(child + " of the base image has disappeared"));
        if (found.isFolder()) {
          folders.add(child);
        } else if (!unpacker.share(tree, child)) {
          copy.path(child, found);
        }
      }
      for (String child : folders) {
        folder(child, tree.stat(child).orElseThrow());
      }
    }

    private static TarEntry entry(String path, Stat stat) {
      return new TarEntry(
          path.isEmpty() ? "./" : path,
          TarEntry.Kind.FOLDER,
          "",
          stat.permissions(),
          Integer.toUnsignedLong(stat.uid()),
          Integer.toUnsignedLong(stat.gid()),
          0,
          stat.seconds(),
          stat.nanos(),
          Map.of());
    }
  }

  private void apply(InputStream archive, UnpackContext context) throws IOException {
    Unpacker unpacker = context.unpacker();
    try (MeteredImageStream bytes =
        new MeteredImageStream(archive, context.budget(), Optional.empty())) {
      TarReader reader = TarReader.ofChanges(bytes, ArchivePaths::badArchive);
      unpacker.nextLayer();
      for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        TarEntry entry = next.get();
        if (!layer.changesPath(ArchivePaths.normalize(entry.path()))) {
          continue;
        }
        if (entry.kind() == TarEntry.Kind.REMOVED) {
          unpacker.whiteout(entry.path());
        } else {
          unpacker.put(entry, reader.content());
        }
      }
      if (!reader.ended()) {
        throw ArchivePaths.badArchive("the archive is truncated", "the end marker is missing");
      }
      bytes.drain();
    }
  }
}
