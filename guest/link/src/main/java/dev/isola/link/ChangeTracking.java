package dev.isola.link;

import dev.isola.spi.capability.Snapshotting.Coverage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Where an agent finds what its sandbox wrote.
 *
 * @param changes of its image, where they can be told
 * @param folders the sandbox's own, whole
 */
public record ChangeTracking(Optional<ImageDiff> imageDiff, List<String> folders) {
  /** How an agent tells changes of an image. */
  public sealed interface ImageDiff {
    /** Returns the digest of the image. */
    String digest();
  }

  /**
   * By the names that an overlay keeps.
   *
   * @param upper the folder inside that has what was written
   * @param image the folder inside that has the image unchanged
   */
  public record OverlayDiff(String upper, String image, String digest) implements ImageDiff {}

  /**
   * By the time of last change. The provider has to tell what was removed.
   *
   * @param from when the sandbox was made
   */
  public record TimestampDiff(Instant from, String digest) implements ImageDiff {}

  public ChangeTracking {
    folders = List.copyOf(folders);
  }

  Coverage coverage() {
    return new Coverage(imageDiff.map(ImageDiff::digest), folders);
  }
}
