package dev.isola.host.image;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes OCI layouts, including inconsistent ones. */
final class OciBuilder {
  final Path folder;
  String architecture = Architecture.ofHost();
  String run = "{}";
  private final List<String> layers = new ArrayList<>();
  private final List<String> contents = new ArrayList<>();
  private final List<String> manifests = new ArrayList<>();

  OciBuilder(Path folder) {
    this.folder = folder;
    try {
      Files.createDirectories(folder.resolve("blobs/sha256"));
      Files.writeString(folder.resolve("oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  OciBuilder layer(TarBuilder tar) {
    return layer(tar.gzip(), tar.bytes());
  }

  /**
   * @param content the content of the layer according to the configuration
   */
  OciBuilder layer(byte[] packed, byte[] content) {
    layers.add(descriptor("application/vnd.oci.image.layer.v1.tar+gzip", blob(packed), packed, ""));
    contents.add(ContentDigest.of(content));
    return this;
  }

  /** Completes the current image and lists it, with additional fields for its index entry. */
  OciBuilder manifest(String more) {
    byte[] manifest = manifestBytes();
    manifests.add(
        descriptor("application/vnd.oci.image.manifest.v1+json", blob(manifest), manifest, more));
    layers.clear();
    contents.clear();
    return this;
  }

  private byte[] manifestBytes() {
    byte[] config =
        bytes(
            "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":%s,\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]}}"
                .formatted(
                    architecture,
                    run,
                    String.join(
                        ",", contents.stream().map(digest -> "\"" + digest + "\"").toList())));
    return bytes(
        "{\"schemaVersion\":2,\"config\":%s,\"layers\":[%s]}"
            .formatted(
                descriptor("application/vnd.oci.image.config.v1+json", blob(config), config, ""),
                String.join(",", layers)));
  }

  /** Moves all manifests so far into a nested index. */
  OciBuilder nested() {
    byte[] index =
        bytes("{\"schemaVersion\":2,\"manifests\":[%s]}".formatted(String.join(",", manifests)));
    manifests.clear();
    manifests.add(descriptor("application/vnd.oci.image.index.v1+json", blob(index), index, ""));
    return this;
  }

  OciSource source() {
    return source(null);
  }

  OciSource source(@Nullable String tag) {
    try {
      Files.writeString(
          folder.resolve("index.json"),
          "{\"schemaVersion\":2,\"manifests\":[%s]}".formatted(String.join(",", manifests)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new OciSource(folder, Optional.ofNullable(tag), "a test");
  }

  Path blobOf(String digest) {
    return folder.resolve("blobs/sha256").resolve(digest.substring(7));
  }

  private String blob(byte[] content) {
    String digest = ContentDigest.of(content);
    try {
      Files.write(blobOf(digest), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return digest;
  }

  private static String descriptor(String type, String digest, byte[] content, String more) {
    return "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d%s}"
        .formatted(type, digest, content.length, more);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String platform(String architecture) {
    return ",\"platform\":{\"os\":\"linux\",\"architecture\":\"" + architecture + "\"}";
  }

  static String tag(String tag) {
    return ",\"annotations\":{\"org.opencontainers.image.ref.name\":\"" + tag + "\"}";
  }
}
