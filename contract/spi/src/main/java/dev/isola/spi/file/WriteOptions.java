package dev.isola.spi.file;

import java.util.Optional;

/**
 * How a file is written.
 *
 * @param mode permission bits; when empty an existing file keeps its own and a new one gets {@code
 *     0644}
 * @param user whose rights are used and who owns a new file; the sandbox's user when empty
 * @param atomic the file appears whole or not at all
 * @param exclusive fail with {@code FILE_EXISTS} when it is there already
 * @param append add to the end instead of replacing; never atomic
 * @param sync reach the disk before returning
 */
public record WriteOptions(
    Optional<Integer> mode,
    Optional<String> user,
    boolean atomic,
    boolean exclusive,
    boolean append,
    boolean sync) {

  /** Atomic, replacing, parents made as needed. */
  public static final WriteOptions DEFAULT =
      new WriteOptions(Optional.empty(), Optional.empty(), true, false, false, false);

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
    return new WriteOptions(Optional.of(bits), user, atomic, exclusive, append, sync);
  }

  public WriteOptions withUser(String name) {
    return new WriteOptions(mode, Optional.of(name), atomic, exclusive, append, sync);
  }

  public WriteOptions inPlace() {
    return new WriteOptions(mode, user, false, exclusive, append, sync);
  }

  public WriteOptions onlyNew() {
    return new WriteOptions(mode, user, atomic, true, false, sync);
  }

  public WriteOptions appending() {
    return new WriteOptions(mode, user, false, false, true, sync);
  }

  public WriteOptions synced() {
    return new WriteOptions(mode, user, atomic, exclusive, append, true);
  }
}
