package dev.isola.engine.api.template;

import dev.isola.engine.api.TemplateImages;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.file.FileUser;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/**
 * Stores the files of a sandbox as an image. If the provider reports what the sandbox wrote, only
 * that is read, and the image shares all other files with the image of the sandbox; otherwise the
 * whole root is copied.
 */
record ImageExport(TemplateImages images) {
  /** Folders whose content belongs to the sandbox and not to an image. */
  static final List<String> NOT_IN_IMAGE = List.of("proc", "sys", "dev", "tmp", "run", ".isola");

  /** Reads every file, whichever user the image names. */
  private static final FileUser ALL_FILES = FileUser.rootFor("root");

  /**
   * Stores an image.
   *
   * @param base the image that the sandbox was created from; empty if it has none
   * @param emptied folders that are empty in the image, relative to the root
   */
  void store(
      Sandbox sandbox,
      Optional<String> base,
      List<String> emptied,
      String name,
      TemplateImages.NewImage metadata)
      throws IOException {
    Optional<Snapshotting> snapshotting = sandbox.as(Snapshotting.class);
    Optional<Coverage> coverage =
        snapshotting.flatMap(Snapshotting::coverage).filter(all -> coversChanges(all, base));
    if (coverage.isEmpty()) {
      try (InputStream root = sandbox.files().as(ALL_FILES).exportTree("/", patterns(emptied))) {
        images.add(name, root, metadata);
      }
      return;
    }
    List<String> folders =
        coverage.get().folders().stream()
            .filter(folder -> !emptied.contains(relative(folder)))
            .toList();
    try (Capture capture =
        snapshotting.orElseThrow().capture(request(coverage.get(), folders, emptied))) {
      images.addLayer(
          name,
          new TemplateImages.Layer(
              base.orElseThrow(),
              emptied,
              folders.stream().map(ImageExport::relative).toList(),
              Optional.of(capture.archive())),
          metadata);
    }
  }

  /** Returns whether the provider reports all changes to the files of the image. */
  private boolean coversChanges(Coverage coverage, Optional<String> base) {
    return coverage.image().isPresent()
        && base.flatMap(images::find)
            .filter(image -> coverage.image().get().equals(image.digest()))
            .isPresent();
  }

  /**
   * Patterns would also apply within the folders that are captured completely. They only keep the
   * provider from sending files that the image store would ignore.
   */
  private static CaptureRequest request(
      Coverage coverage, List<String> folders, List<String> emptied) {
    return new CaptureRequest(
        "/",
        List.of(),
        folders.isEmpty() ? patterns(emptied) : List.of(),
        0,
        false,
        Optional.of(new Coverage(coverage.image(), folders)),
        false);
  }

  static String relative(String folder) {
    return folder.replaceFirst("^/+", "");
  }

  /** Returns patterns for everything in folders; special characters stand for themselves. */
  private static List<String> patterns(List<String> folders) {
    return folders.stream().map(folder -> folder.replaceAll("[*?\\[]", "[$0]") + "/**").toList();
  }
}
