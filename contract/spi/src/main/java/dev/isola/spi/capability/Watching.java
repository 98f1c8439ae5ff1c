package dev.isola.spi.capability;

import dev.isola.spi.file.Watch;

/** Tells about changes of files. */
public non-sealed interface Watching extends Capability {
  /**
   * Watches a folder, with all folders beneath it when {@code recursive}. When this returns, every
   * later change is seen.
   */
  Watch watch(String path, boolean recursive);
}
