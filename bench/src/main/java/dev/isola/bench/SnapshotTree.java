package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * The tree to capture: many small files and some large ones. The same shell script changes one file
 * in a hundred wherever the tree is.
 *
 * @param folder the local folder of the tree
 * @param bytes the total size
 */
record SnapshotTree(Path folder, int small, int large, int largeSize, long bytes) {
  private static final int FOLDERS = 100;
  private static final int SMALL_SIZE = 1024;
  private static final int MAX_LARGE = 100;
  private static final int MAX_BYTES = 500_000_000;

  /** Creates the tree; a plan with small sizes gets a small one. */
  static SnapshotTree make(Path folder, BenchPlan.Sizes sizes) throws IOException {
    int large = Math.min(MAX_LARGE, sizes.files());
    int largeSize = (int) (Math.min(sizes.bytes() / 2, MAX_BYTES) / large);
    return make(folder, sizes.files(), large, largeSize);
  }

  /** Creates a tree of small files only. */
  static SnapshotTree small(Path folder, BenchPlan.Sizes sizes) throws IOException {
    return make(folder, sizes.files(), 0, 0);
  }

  private static SnapshotTree make(Path folder, int small, int large, int largeSize)
      throws IOException {
    Random random = new Random(8);
    for (int i = 0; i < small; i++) {
      write(folder.resolve("small/" + i % FOLDERS + "/f" + i), SMALL_SIZE, random);
    }
    for (int i = 0; i < large; i++) {
      write(folder.resolve("large/f" + i), largeSize, random);
    }
    return new SnapshotTree(
        folder, small, large, largeSize, (long) small * SMALL_SIZE + (long) large * largeSize);
  }

  private static void write(Path file, int size, Random random) throws IOException {
    Files.createDirectories(file.getParent());
    byte[] content = new byte[size];
    random.nextBytes(content);
    Files.write(file, content);
  }

  /**
   * Returns the script that changes one file in a hundred of each size, to run in the folder of the
   * tree.
   */
  String change(int round) {
    return "for i in $(seq "
        + round % 100
        + " 100 "
        + (small - 1)
        + "); do head -c "
        + SMALL_SIZE
        + " /dev/urandom > small/$((i % "
        + FOLDERS
        + "))/f$i; done"
        + (large == 0 ? "" : largeChange(round));
  }

  private String largeChange(int round) {
    return "; head -c " + largeSize + " /dev/urandom > large/f" + round % large;
  }
}
