package dev.isola.host.launch;

import dev.isola.host.image.Image;
import dev.isola.link.ChangeTracking;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Records which files a sandbox can change, in its folder at boot: the digest of its image or an
 * empty line, then the folders.
 */
final class ChangeTrackingRecord {
  /** The path of the unchanged image inside the sandbox. */
  static final String IMAGE = "/.isola/image";

  private static final String UPPER = WritableLayer.INSIDE + "/upper";
  private static final List<String> HOMES = List.of("/home/user", "/root", "/tmp", "/var/tmp");

  private ChangeTrackingRecord() {}

  private static Path file(SandboxFolder folder) {
    return folder.path().resolve("written");
  }

  /**
   * @param image the image whose changes can be tracked
   */
  static void write(SandboxFolder folder, SandboxSpec spec, Optional<Image> image)
      throws IOException {
    List<String> lines = new ArrayList<>(List.of(image.map(Image::digest).orElse("")));
    lines.addAll(folders(spec));
    Files.write(file(folder), lines);
  }

  /** Returns the private folders of a sandbox; host folders and volumes are not included. */
  private static List<String> folders(SandboxSpec spec) {
    List<String> all = new ArrayList<>();
    if (spec.workspacePath().isEmpty()) {
      all.add(spec.workspaceMount());
    }
    if (spec.image().filter(name -> !name.equals(IsolatedBooter.HOST_IMAGE)).isEmpty()) {
      HOMES.stream().filter(home -> !home.equals(spec.workspaceMount())).forEach(all::add);
    }
    return all.stream()
        .filter(one -> spec.volumes().stream().noneMatch(volume -> isIn(one, volume.destination())))
        .toList();
  }

  private static boolean isIn(String path, String folder) {
    return path.equals(folder) || path.startsWith(folder.endsWith("/") ? folder : folder + "/");
  }

  static ChangeTracking read(SandboxFolder folder) {
    try {
      List<String> lines = Files.readAllLines(file(folder));
      return new ChangeTracking(
          Optional.of(lines.getFirst())
              .filter(digest -> !digest.isEmpty())
              .map(digest -> new ChangeTracking.OverlayDiff(UPPER, IMAGE, digest)),
          lines.subList(1, lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
