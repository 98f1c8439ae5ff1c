package dev.isola.app.backup;

import dev.isola.app.cli.VersionCommand;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Description of a backup, the first file of the archive.
 *
 * @param createdAt when the copy of the ledger was begun
 * @param instance the id of the installation
 * @param snapshots where the installation stores snapshots; empty for its data folder
 */
record BackupManifest(Instant createdAt, String instance, String snapshots) {
  static final String FILE = "isola-backup.json";
  private static final int FORMAT = 1;
  private static final long MAX_BYTES = 1 << 16;

  void write(Path folder) throws IOException {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("format", FORMAT);
    document.put("version", VersionCommand.version());
    document.put("createdAt", createdAt.toString());
    document.put("instance", instance);
    document.put("snapshots", snapshots);
    Files.writeString(folder.resolve(FILE), Json.text(document) + "\n");
  }

  static BackupManifest read(Path folder, Path archive) throws IOException {
    Path file = folder.resolve(FILE);
    if (!Files.isRegularFile(file) || Files.size(file) > MAX_BYTES) {
      throw invalid(archive, "it has no " + FILE);
    }
    try {
      JsonValue document = JsonValue.parse(Files.readAllBytes(file));
      long format = document.has("format") ? document.number("format") : 0;
      String instance = document.optionalText("instance").orElse("");
      if (format != FORMAT) {
        throw invalid(archive, "its format is " + format + ", and this version reads " + FORMAT);
      }
      if (!SandboxId.isValid(instance)) {
        throw invalid(archive, FILE + " has no valid instance id");
      }
      return new BackupManifest(
          Instant.parse(document.optionalText("createdAt").orElse("")),
          instance,
          document.optionalText("snapshots").orElse(""));
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw invalid(archive, FILE + " cannot be parsed: " + e.getMessage());
    }
  }

  private static SandboxException invalid(Path archive, String why) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            archive + " is not a backup that can be restored: " + why,
            "use a file that isola backup has written")
        .exception();
  }
}
