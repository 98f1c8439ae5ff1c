package dev.isola.link;

import dev.isola.spi.capability.Snapshotting.Coverage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Tells the agent how to find the files that its sandbox changed.
 *
 * @param imageDiff how to find changes of its image, if that is possible
 * @param folders of the sandbox that are captured whole
 */
public record ChangeTracking(Optional<ImageDiff> imageDiff, List<String> folders) {
  /** How the agent finds changes of an image. */
  public sealed interface ImageDiff {
    /** Returns the digest of the image. */
    String digest();
  }

  /**
   * Finds changes by the names in the upper folder of an overlay.
   *
   * @param upper the overlay's upper folder, as seen inside the sandbox
   * @param image the unchanged image, as seen inside the sandbox
   */
  public record OverlayDiff(String upper, String image, String digest) implements ImageDiff {}

  /**
   * Finds changes by ctime. The provider has to report removed files.
   *
   * @param from when the sandbox was created
   */
  public record TimestampDiff(Instant from, String digest) implements ImageDiff {}

  public ChangeTracking {
    folders = List.copyOf(folders);
  }

  Coverage coverage() {
    return new Coverage(imageDiff.map(ImageDiff::digest), folders);
  }
}
