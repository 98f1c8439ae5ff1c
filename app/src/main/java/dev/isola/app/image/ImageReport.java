package dev.isola.app.image;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Table;
import dev.isola.client.ImageInfo;
import dev.isola.host.image.Image;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An image of this machine or of a server, formatted as text and JSON.
 *
 * @param ownersKept empty for an image of a server
 * @param rootfs empty for an image of a server
 */
record ImageReport(
    String name,
    Instant createdAt,
    String source,
    String digest,
    long size,
    long files,
    String architecture,
    Optional<String> user,
    Optional<String> workdir,
    Map<String, String> env,
    List<String> notes,
    Optional<Boolean> ownersKept,
    Optional<String> rootfs) {

  static ImageReport of(Image image) {
    return new ImageReport(
        image.name(),
        image.createdAt(),
        image.source(),
        image.digest(),
        image.size(),
        image.files(),
        image.architecture(),
        image.user(),
        image.workdir(),
        image.env(),
        image.notes(),
        Optional.of(image.ownersKept()),
        Optional.of(image.rootfs().toString()));
  }

  static ImageReport of(ImageInfo image) {
    Map<String, String> env = new TreeMap<>();
    if (image.document().get("env") instanceof Map<?, ?> variables) {
      variables.forEach((name, value) -> env.put(String.valueOf(name), String.valueOf(value)));
    }
    return new ImageReport(
        image.name(),
        image.createdAt(),
        image.source(),
        image.digest(),
        image.size(),
        image.document().get("files") instanceof Number files ? files.longValue() : 0,
        image.architecture(),
        image.user(),
        image.workdir(),
        env,
        image.document().get("notes") instanceof List<?> notes
            ? notes.stream().map(String::valueOf).toList()
            : List.of(),
        Optional.empty(),
        Optional.empty());
  }

  Map<String, ?> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("createdAt", createdAt);
    json.put("source", source);
    json.put("digest", digest);
    json.put("size", size);
    json.put("files", files);
    json.put("architecture", architecture);
    json.put("user", user);
    json.put("workdir", workdir);
    json.put("env", env);
    ownersKept.ifPresent(kept -> json.put("ownersKept", kept));
    json.put("notes", notes);
    rootfs.ifPresent(path -> json.put("rootfs", path));
    return json;
  }

  String line() {
    return CellFormat.text(name)
        + ": "
        + files
        + " files, "
        + size(size)
        + ", "
        + CellFormat.text(digest)
        + "\n";
  }

  static Table table(List<ImageReport> images) {
    Table table = new Table().row("NAME", "SIZE", "FILES", "ARCHITECTURE", "CREATED", "SOURCE");
    for (ImageReport image : images) {
      table.row(
          CellFormat.text(image.name),
          size(image.size),
          Long.toString(image.files),
          CellFormat.text(image.architecture),
          image.createdAt.toString().substring(0, 10),
          CellFormat.text(image.source));
    }
    return table;
  }

  String text() {
    Table table =
        new Table()
            .row("name", CellFormat.text(name))
            .row("source", CellFormat.text(source))
            .row("created", createdAt.toString())
            .row("digest", CellFormat.text(digest))
            .row("size", size(size))
            .row("files", Long.toString(files))
            .row("architecture", CellFormat.text(architecture))
            .row("user", CellFormat.text(user.orElse("-")))
            .row("workdir", CellFormat.text(workdir.orElse("-")));
    ownersKept.ifPresent(kept -> table.row("owners", kept ? "kept" : "lost"));
    rootfs.ifPresent(path -> table.row("rootfs", path));
    env.forEach((name, value) -> table.row("env", CellFormat.text(name + "=" + value)));
    notes.forEach(note -> table.row("note", CellFormat.text(note)));
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
