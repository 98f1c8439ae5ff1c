package dev.isola.snapshot.manifest;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.snapshot.manifest.Snapshot.Kind;
import dev.isola.snapshot.manifest.Snapshot.ProcessSource;
import dev.isola.snapshot.manifest.Snapshot.SnapshotCoverage;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Encodes the metadata of a snapshot as JSON. */
final class SnapshotDocument {
  private SnapshotDocument() {}

  static byte[] write(Snapshot snapshot) {
    Map<String, Object> document =
        Json.object(
            "id", snapshot.id(),
            "createdAt", snapshot.createdAt(),
            "sandbox", snapshot.sandbox(),
            "provider", snapshot.provider(),
            "runtime", snapshot.runtime(),
            "architecture", snapshot.architecture(),
            "tags", snapshot.tags(),
            "parent", snapshot.parent(),
            "root", snapshot.root(),
            "includes", snapshot.includes(),
            "excludes", snapshot.excludes(),
            "files", snapshot.files(),
            "bytes", snapshot.bytes(),
            "newBytes", snapshot.newBytes(),
            "storedBytes", snapshot.storedBytes(),
            "checksum", snapshot.checksum(),
            "kind", snapshot.kind(),
            "image", snapshot.image(),
            "written", snapshot.coverage().map(SnapshotDocument::of));
    snapshot.source().ifPresent(source -> document.put("source", of(source)));
    return Json.bytes(document);
  }

  private static Map<String, Object> of(ProcessSource source) {
    return Json.object("spec", source.spec(), "secretNames", source.secretNames());
  }

  private static Map<String, Object> of(SnapshotCoverage written) {
    return Json.object("imageDigest", written.imageDigest(), "folders", written.folders());
  }

  /**
   * Decodes the metadata. The caller has verified the hash of the bytes.
   *
   * @throws IOException if it is not JSON
   * @throws java.time.DateTimeException if its time is invalid
   * @throws IllegalArgumentException if its kind is unknown
   */
  static Snapshot read(byte[] json) throws IOException {
    JsonValue head = JsonValue.parse(json);
    Map<String, String> tags = new LinkedHashMap<>();
    head.at("tags").members().forEach((name, tag) -> tags.put(name, tag.text()));
    return new Snapshot(
        head.text("id"),
        Instant.parse(head.text("createdAt")),
        head.text("sandbox"),
        head.text("provider"),
        head.text("runtime"),
        head.text("architecture"),
        tags,
        head.optionalText("parent"),
        head.text("root"),
        texts(head.at("includes")),
        texts(head.at("excludes")),
        head.number("files"),
        head.number("bytes"),
        head.number("newBytes"),
        head.number("storedBytes"),
        head.text("checksum"),
        head.optionalText("kind").map(Kind::valueOf).orElse(Kind.FILESYSTEM),
        head.optionalText("image"),
        Optional.of(head.at("written"))
            .filter(JsonValue::isObject)
            .map(
                it ->
                    new SnapshotCoverage(it.optionalText("imageDigest"), texts(it.at("folders")))),
        Optional.of(head.at("source"))
            .filter(JsonValue::isObject)
            .map(it -> new ProcessSource(it.text("spec"), texts(it.at("secretNames")))));
  }

  private static List<String> texts(JsonValue list) {
    return list.items().stream().map(JsonValue::text).toList();
  }
}
