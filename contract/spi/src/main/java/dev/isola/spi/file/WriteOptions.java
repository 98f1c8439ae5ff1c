package dev.isola.spi.file;

import java.util.Optional;

/**
 * How a file is written.
 *
 * @param mode permission bits; when empty an existing file keeps its own and a new one gets {@code
 *     0644}
 * @param atomic the file appears whole or not at all
 * @param exclusive fail with {@code FILE_EXISTS} when it is there already
 * @param append add to the end instead of replacing; never atomic
 * @param sync reach the disk before returning
 */
public record WriteOptions(
    Optional<Integer> mode, boolean atomic, boolean exclusive, boolean append, boolean sync) {

  /** Atomic, replacing, parents made as needed. */
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
