package dev.isola.spi.file;

import java.util.Optional;

/**
 * Options for writing a file.
 *
 * @param mode permission bits; if empty, an existing file keeps its mode and a new one gets {@code
 *     0644}
 * @param atomic whether the file appears completely or not at all
 * @param exclusive whether to fail with {@code FILE_EXISTS} if the file exists
 * @param append whether to append instead of replacing; never atomic
 * @param sync whether to flush to disk before returning
 */
public record WriteOptions(
    Optional<Integer> mode, boolean atomic, boolean exclusive, boolean append, boolean sync) {

  /** Replaces an existing file atomically. */
  public static final WriteOptions DEFAULT =
      new WriteOptions(Optional.empty(), true, false, false, false);

  public WriteOptions {
    if (append && (atomic || exclusive)) {
      throw new IllegalArgumentException("appending is neither atomic nor exclusive");
    }
    mode.ifPresent(WriteOptions::checkMode);
  }

  static void checkMode(int bits) {
    if (bits < 0 || bits > 07777) {
      throw new IllegalArgumentException("a mode is 0 to 07777: 0" + Integer.toOctalString(bits));
    }
  }

  public WriteOptions withMode(int bits) {
    return new WriteOptions(Optional.of(bits), atomic, exclusive, append, sync);
  }

  public WriteOptions inPlace() {
    return new WriteOptions(mode, false, exclusive, append, sync);
  }

  public WriteOptions onlyNew() {
    return new WriteOptions(mode, atomic, true, false, sync);
  }

  public WriteOptions appending() {
    return new WriteOptions(mode, false, false, true, sync);
  }

  public WriteOptions synced() {
    return new WriteOptions(mode, atomic, exclusive, append, true);
  }
}
