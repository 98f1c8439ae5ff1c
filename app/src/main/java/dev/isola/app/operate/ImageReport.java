package dev.isola.app.operate;

import dev.isola.app.cli.Table;
import dev.isola.host.image.Image;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Formats images as text and JSON. */
final class ImageReport {
  private ImageReport() {}

  static Map<String, ?> json(Image image) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", image.name());
    json.put("createdAt", image.createdAt());
    json.put("source", image.source());
    json.put("digest", image.digest());
    json.put("size", image.size());
    json.put("files", image.files());
    json.put("architecture", image.architecture());
    json.put("user", image.user());
    json.put("workdir", image.workdir());
    json.put("env", image.env());
    json.put("ownersKept", image.ownersKept());
    json.put("notes", image.notes());
    json.put(
        "rootfs", image.rootfs().toString()); // Path is Iterable and would be serialized as a list
    return json;
  }

  static String line(Image image) {
    return image.name()
        + ": "
        + image.files()
        + " files, "
        + size(image.size())
        + ", "
        + image.digest()
        + "\n";
  }

  static String table(List<Image> images) {
    Table table = new Table().row("NAME", "SIZE", "FILES", "ARCHITECTURE", "CREATED", "SOURCE");
    for (Image image : images) {
      table.row(
          image.name(),
          size(image.size()),
          Long.toString(image.files()),
          image.architecture(),
          image.createdAt().toString().substring(0, 10),
          image.source());
    }
    return table.text();
  }

  static String text(Image image) {
    Table table =
        new Table()
            .row("name", image.name())
            .row("source", image.source())
            .row("created", image.createdAt().toString())
            .row("digest", image.digest())
            .row("size", size(image.size()))
            .row("files", Long.toString(image.files()))
            .row("architecture", image.architecture())
            .row("user", image.user().orElse("-"))
            .row("workdir", image.workdir().orElse("-"))
            .row("owners", image.ownersKept() ? "kept" : "lost")
            .row("rootfs", image.rootfs().toString());
    image.env().forEach((name, value) -> table.row("env", name + "=" + value));
    image.notes().forEach(note -> table.row("note", note));
    return table.text();
  }

  private static String size(long bytes) {
    return bytes < 1_000_000
        ? bytes / 1000 + " kB"
        : bytes < 10_000_000_000L
            ? bytes / 1_000_000 + " MB"
            : String.format(Locale.ROOT, "%.1f GB", bytes / 1e9);
  }
}
