package dev.isola.spi.capability;

import dev.isola.spi.file.Watch;

/** Reports file changes. */
public non-sealed interface Watching extends Capability {
  /**
   * Watches a folder, including all folders beneath it if {@code recursive}. Every change made
   * after this method returns is reported.
   */
  Watch watch(String path, boolean recursive);
}
