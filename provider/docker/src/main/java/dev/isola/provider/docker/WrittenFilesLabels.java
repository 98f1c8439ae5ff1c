package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import dev.isola.link.ChangeTracking;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Labels that record which of a container's files belong to the sandbox. */
final class WrittenFilesLabels {
  private static final String DIGEST = "dev.isola.image-digest";
  private static final String FOLDERS = "dev.isola.folders";
  private static final List<String> HOMES = List.of("/home/user", "/root", "/tmp", "/var/tmp");

  private WrittenFilesLabels() {}

  /**
   * @param digest the digest of the image, if its changes can be determined
   */
  static Map<String, String> of(SandboxSpec spec, Optional<String> digest, ResolvedImage image) {
    List<String> folders = new ArrayList<>();
    if (spec.workspacePath().isEmpty()) {
      folders.add(spec.workspaceMount());
    }
    if (image.digest().isEmpty()) { // The rest of the root is the host's.
      HOMES.stream().filter(home -> !home.equals(spec.workspaceMount())).forEach(folders::add);
    }
    folders.removeIf(
        folder ->
            folder.contains("\n")
                || spec.volumes().stream()
                    .anyMatch(
                        volume ->
                            folder.equals(volume.destination())
                                || folder.startsWith(volume.destination() + "/")));
    Map<String, String> labels = new LinkedHashMap<>();
    digest.ifPresent(sum -> labels.put(DIGEST, sum));
    labels.put(FOLDERS, String.join("\n", folders));
    return labels;
  }

  /** Reads the labels of a container. */
  static ChangeTracking read(JsonValue inspected) {
    JsonValue labels = inspected.at("Config", "Labels");
    Optional<Instant> made = made(inspected);
    Optional<ChangeTracking.ImageDiff> changes =
        Optional.of(labels.text(DIGEST))
            .filter(digest -> !digest.isEmpty())
            .flatMap(digest -> made.map(from -> new ChangeTracking.TimestampDiff(from, digest)));
    return new ChangeTracking(
        changes, labels.text(FOLDERS).lines().filter(folder -> !folder.isEmpty()).toList());
  }

  private static Optional<Instant> made(JsonValue inspected) {
    try {
      return Optional.of(Instant.parse(inspected.text("Created")));
    } catch (DateTimeParseException notToBeTold) {
      return Optional.empty();
    }
  }
}
