package dev.isola.link;

import dev.isola.spi.capability.Snapshotting.Coverage;
import java.util.List;
import java.util.Optional;

/**
 * Where an agent finds what its sandbox wrote.
 *
 * @param layer over an image, where it can be told from it
 * @param folders the sandbox's own, whole
 */
public record WrittenFiles(Optional<Layer> layer, List<String> folders) {
  /**
   * Changes of an image.
   *
   * @param upper the folder inside that has what was written, as an overlay keeps it
   * @param image the folder inside that has the image unchanged
   * @param digest of the image
   */
  public record Layer(String upper, String image, String digest) {}

  public WrittenFiles {
    folders = List.copyOf(folders);
  }

  Coverage coverage() {
    return new Coverage(layer.map(Layer::digest), folders);
  }
}
