package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A file, folder or link in a sandbox or volume.
 *
 * @param type file, folder, link or other
 * @param mode permission bits
 * @param document complete JSON object of the server
 */
public record FileInfo(
    String path,
    String name,
    String type,
    int mode,
    long size,
    Instant modifiedAt,
    Optional<String> linkTarget,
    Map<String, Object> document) {

  static FileInfo read(JsonFields fields) {
    return new FileInfo(
        fields.text("path"),
        fields.text("name"),
        fields.text("type"),
        Integer.parseInt(fields.text("mode"), 8),
        fields.integer("size"),
        fields.time("modifiedAt"),
        fields.optionalText("linkTarget"),
        fields.all());
  }

  public boolean isFile() {
    return type.equals("file");
  }

  public boolean isFolder() {
    return type.equals("folder");
  }
}
