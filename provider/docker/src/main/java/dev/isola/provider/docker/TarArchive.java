package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarEntry.Kind;
import dev.isola.codec.tar.TarStream;
import dev.isola.spi.Bytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A small tar archive in memory. A repeated name is added once, because engines reject duplicates.
 */
final class TarArchive {
  private record Item(TarEntry entry, Bytes bytes) implements TarStream.Item {
    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes.toArray());
    }
  }

  private final Map<String, TarStream.Item> items = new LinkedHashMap<>();

  void folder(String name, int mode, int owner) {
    entry(name, Kind.FOLDER, mode, owner, "", new byte[0]);
  }

  void link(String name, String target) {
    entry(name, Kind.LINK, 0777, 0, target, new byte[0]);
  }

  void file(String name, String content) {
    entry(name, Kind.FILE, 0644, 0, "", content.getBytes(UTF_8));
  }

  void program(String name, byte[] content) {
    entry(name, Kind.FILE, 0755, 0, "", content);
  }

  private void entry(String name, Kind kind, int mode, int owner, String target, byte[] content) {
    TarEntry entry =
        new TarEntry(name, kind, target, mode, owner, owner, content.length, 0, 0, Map.of());
    items.putIfAbsent(name, new Item(entry, Bytes.of(content)));
  }

  byte[] toBytes() {
    try (TarStream tar = new TarStream(items.values().iterator())) {
      return tar.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException("an archive in memory", e);
    }
  }
}
