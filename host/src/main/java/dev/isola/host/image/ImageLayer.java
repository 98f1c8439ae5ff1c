package dev.isola.host.image;

import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/**
 * The files of an image, and changes to them. Paths are relative to the root, without a leading
 * slash.
 *
 * @param base the image; its files are shared, not copied
 * @param emptied folders whose content is taken neither from the base nor from the changes
 * @param replaced folders whose content is taken from the changes only
 * @param changes a tar archive of new and changed files, in which entries of type {@code W} are
 *     deletions; empty for none
 */
public record ImageLayer(
    Image base, List<String> emptied, List<String> replaced, Optional<InputStream> changes) {
  public ImageLayer {
    emptied = List.copyOf(emptied);
    replaced = List.copyOf(replaced);
  }

  /** Returns whether the files are exactly those of the base. */
  boolean isUnchanged() {
    return emptied.isEmpty() && replaced.isEmpty() && changes.isEmpty();
  }

  /** Returns whether a path of the base is in the image, unless the changes say otherwise. */
  boolean sharesPath(String path) {
    return !isBeneath(path, emptied) && !isBeneath(path, replaced);
  }

  /** Returns whether a change of the path is applied. */
  boolean changesPath(String path) {
    return !isBeneath(path, emptied);
  }

  private static boolean isBeneath(String path, List<String> folders) {
    return folders.stream()
        .anyMatch(
            folder ->
                path.length() > folder.length() + 1
                    && path.startsWith(folder)
                    && path.charAt(folder.length()) == '/');
  }
}
