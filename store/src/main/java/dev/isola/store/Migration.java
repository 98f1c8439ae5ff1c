package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.digest.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One schema migration. A released migration is never edited; a later one changes what it created.
 */
record Migration(int version, String name, String sql) {

  /** Reads {@code NNNN-name.sql}. */
  static Migration resource(String file) {
    try (InputStream in = Migration.class.getResourceAsStream("migrations/" + file)) {
      if (in == null) {
        throw new IllegalStateException("missing resource of migration " + file);
      }
      int dash = file.indexOf('-');
      return new Migration(
          Integer.parseInt(file.substring(0, dash)),
          file.substring(dash + 1).replace(".sql", ""),
          new String(in.readAllBytes(), UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the statements. A semicolon at the end of a line terminates a statement. */
  List<String> statements() {
    String code =
        sql.lines()
            .filter(line -> !line.strip().startsWith("--"))
            .collect(Collectors.joining("\n"));
    return Stream.of(code.split(";\\s*(\n|$)")).filter(part -> !part.isBlank()).toList();
  }

  String checksum() {
    return Sha256.hex(sql);
  }
}
