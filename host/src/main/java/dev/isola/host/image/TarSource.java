package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A tar archive of a complete root file system. */
final class TarSource extends ImageSource {
  /** Opens the archive. */
  private interface ArchiveOpener {
    InputStream open() throws IOException;
  }

  private final ArchiveOpener opener;
  private final String description;
  private final ImageDefaults defaults;

  TarSource(Path file) {
    this.opener = () -> Files.newInputStream(file);
    this.description = file.toAbsolutePath().normalize().toString();
    this.defaults = ImageDefaults.NONE;
  }

  TarSource(InputStream archive, String described, ImageDefaults defaults) {
    this.opener = () -> archive;
    this.description = described;
    this.defaults = defaults;
  }

  @Override
  String description() {
    return description;
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    try (InputStream archive = opener.open()) {
      unpack(archive, context);
    }
    return defaults;
  }

  /** Unpacks an archive and requires its end marker, the only sign that it is complete. */
  static void unpack(InputStream archive, UnpackContext context) throws IOException {
    try (MeteredImageStream bytes =
        new MeteredImageStream(Decompression.of(archive), context.budget(), Optional.empty())) {
      TarReader reader = new TarReader(bytes, ArchivePaths::badArchive);
      for (Optional<TarEntry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
        context.unpacker().put(entry.get(), reader.content());
      }
      if (!reader.ended()) {
        throw ArchivePaths.badArchive("the archive is truncated", "the end marker is missing");
      }
      bytes.drain(); // so that the writing program does not fail with a broken pipe
    }
  }
}
