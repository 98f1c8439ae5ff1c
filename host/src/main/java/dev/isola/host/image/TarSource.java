package dev.isola.host.image;

import dev.isola.archive.Names;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TreeEntry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A tar archive that is a whole root file system. */
final class TarSource extends ImageSource {
  /** Opens the archive. */
  private interface Opening {
    InputStream open() throws IOException;
  }

  private final Opening opening;
  private final String described;

  TarSource(Path file) {
    this.opening = () -> Files.newInputStream(file);
    this.described = file.toAbsolutePath().normalize().toString();
  }

  TarSource(InputStream archive, String described) {
    this.opening = () -> archive;
    this.described = described;
  }

  @Override
  String described() {
    return described;
  }

  @Override
  ImageDefaults unpack(Unpacking unpacking) throws IOException {
    try (InputStream archive = opening.open()) {
      unpack(archive, unpacking);
    }
    return ImageDefaults.NONE;
  }

  /** Unpacks an archive that must be whole: there is nothing but its own end to tell. */
  static void unpack(InputStream archive, Unpacking unpacking) throws IOException {
    try (Metered bytes =
        new Metered(Decompression.of(archive), unpacking.budget(), Optional.empty())) {
      TarReader reader = new TarReader(bytes, Names::bad);
      for (Optional<TreeEntry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
        unpacking.to().put(entry.get(), reader.content());
      }
      if (!reader.ended()) {
        throw Names.bad("the archive was cut off", "its end is missing");
      }
      bytes.drain(); // a program that writes it must not die of a closed pipe
    }
  }
}
