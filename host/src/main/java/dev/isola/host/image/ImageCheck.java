package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The result of comparing an image with its manifest.
 *
 * @param digest the current digest
 * @param different the number of paths that differ
 * @param differences the first of them
 */
public record ImageCheck(Image image, String digest, long different, List<Difference> differences) {
  private static final int MAX_DIFFERENCES = 1000;
  private static final List<String> FIELDS = List.of("type", "mode", "owner", "size", "content");

  /**
   * A path that differs.
   *
   * @param what {@code missing}, {@code added}, or the change, such as {@code mode 0755, was 0644}
   */
  public record Difference(String path, String what) {}

  public ImageCheck {
    differences = List.copyOf(differences);
  }

  public boolean passed() {
    return different == 0 && digest.equals(image.digest());
  }

  static ImageCheck of(Image image) throws IOException {
    Path folder = image.rootfs().resolveSibling("");
    Path now = Files.createTempFile(folder, ".check-", "");
    try {
      RootfsManifest.Summary found;
      try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(now), 1 << 16)) {
        found = RootfsManifest.write(image.rootfs(), to);
      }
      if (found.digest().equals(image.digest())) {
        return new ImageCheck(image, found.digest(), 0, List.of());
      }
      return compare(image, found.digest(), folder.resolve(RootfsManifest.FILE), now);
    } finally {
      Files.deleteIfExists(now);
    }
  }

  private static ImageCheck compare(Image image, String digest, Path before, Path now)
      throws IOException {
    List<Difference> all = new ArrayList<>();
    try {
      if (!ContentDigest.of(before).equals(image.digest())) {
        all.add(new Difference("", "the image's manifest was changed as well"));
      }
      Map<String, String> old = read(before);
      Map<String, String> found = read(now);
      found.forEach(
          (path, line) -> {
            String was = old.remove(path);
            if (was == null) {
              all.add(new Difference(shown(path), "added"));
            } else if (!was.equals(line)) {
              all.add(new Difference(shown(path), change(was, line)));
            }
          });
      old.keySet().forEach(path -> all.add(new Difference(shown(path), "missing")));
    } catch (NoSuchFileException e) {
      all.add(new Difference("", "the image's manifest is missing"));
    }
    return new ImageCheck(
        image, digest, all.size(), all.subList(0, Math.min(all.size(), MAX_DIFFERENCES)));
  }

  private static String change(String was, String is) {
    String[] old = was.split(" ");
    String[] found = is.split(" ");
    List<String> changes = new ArrayList<>();
    for (int i = 0; i < FIELDS.size() && i < Math.min(old.length, found.length); i++) {
      if (!old[i].equals(found[i])) {
        changes.add(FIELDS.get(i) + " " + shown(found[i]) + ", was " + shown(old[i]));
      }
    }
    return String.join("; ", changes);
  }

  /** Reads a manifest as a map from path to the other fields. */
  private static Map<String, String> read(Path list) throws IOException {
    Map<String, String> lines = new LinkedHashMap<>();
    try (BufferedReader reader = Files.newBufferedReader(list, StandardCharsets.ISO_8859_1)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        int space = line.lastIndexOf(' ');
        lines.put(line.substring(space + 1), line.substring(0, Math.max(space, 0)));
      }
    }
    return lines;
  }

  private static String shown(String path) {
    return ArchivePaths.display(RootfsManifest.unescaped(path));
  }
}
