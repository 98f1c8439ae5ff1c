package dev.isola.provider.microvmctl;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Parses the output of {@code list}: an array, or an object with {@code entries}. The contract
 * tells name, path, type and size; mode and owner are not known.
 */
record Listing(ControllerErrors errors, String folder) {
  private static final int MAX_ENTRIES = 100_000;

  List<FileInfo> parse(String text) {
    Object json;
    try {
      json = Json.parse(text.strip());
    } catch (MalformedJson e) {
      throw malformed("it is not JSON");
    }
    Object entries = json instanceof Map<?, ?> object ? object.get("entries") : json;
    if (!(entries instanceof List<?> list)) {
      throw malformed("it is neither an array nor an object with entries");
    }
    if (list.size() > MAX_ENTRIES) {
      throw malformed("it has more than " + MAX_ENTRIES + " entries");
    }
    List<FileInfo> files = new ArrayList<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?> entry)) {
        throw malformed("an entry is not an object");
      }
      files.add(file(entry));
    }
    return files;
  }

  private FileInfo file(Map<?, ?> entry) {
    if (!(entry.get("name") instanceof String name)
        || name.isEmpty()
        || name.indexOf('/') >= 0
        || name.indexOf('\0') >= 0) {
      throw malformed("an entry has no valid name");
    }
    FileType type =
        switch (String.valueOf(entry.get("type"))) {
          case "file" -> FileType.FILE;
          case "dir", "directory", "folder" -> FileType.FOLDER;
          case "link", "symlink" -> FileType.LINK;
          default -> FileType.OTHER;
        };
    long size = entry.get("size") instanceof Number number ? Math.max(0, number.longValue()) : 0;
    // The path is built here: one of the controller could name any file.
    String path = (folder.endsWith("/") ? folder : folder + "/") + name;
    return new FileInfo(path, type, 0, size, 0, 0, "", "", Instant.EPOCH, Optional.empty());
  }

  private SandboxException malformed(String what) {
    return errors.malformed("list", what);
  }
}
