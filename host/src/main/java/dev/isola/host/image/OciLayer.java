package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import java.io.IOException;
import java.util.Optional;

/**
 * A layer of an OCI image. A file {@code .wh.NAME} hides NAME of lower layers; {@code .wh..wh..opq}
 * hides everything lower layers have in that folder. Neither affects entries of its own layer,
 * before or after it.
 */
record OciLayer(Unpacker to) {
  private static final String WHITEOUT = ".wh.";
  private static final String OPAQUE = ".wh..wh..opq";

  void apply(TarReader reader) throws IOException {
    to.nextLayer();
    for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
      TarEntry entry = next.get();
      String path = ArchivePaths.normalize(entry.path());
      String name = ArchivePaths.fileName(path);
      if (name.equals(OPAQUE)) {
        to.opaque(ArchivePaths.parent(path));
      } else if (name.startsWith(WHITEOUT + WHITEOUT)) {
        // Metadata of aufs, which is obsolete.
      } else if (name.startsWith(WHITEOUT)) {
        to.whiteout(hidden(path, name));
      } else {
        to.put(entry, reader.content());
      }
    }
  }

  private static String hidden(String path, String name) {
    String hidden = name.substring(WHITEOUT.length());
    if (hidden.isEmpty() || hidden.equals(".") || hidden.equals("..")) {
      throw ArchivePaths.badArchive("a whiteout has an invalid name", path);
    }
    return ArchivePaths.resolve(ArchivePaths.parent(path), hidden);
  }
}
