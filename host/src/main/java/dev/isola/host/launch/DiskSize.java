package dev.isola.host.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The size of a disk's file system, such that files of {@code megabytes} fit in addition to its own
 * metadata, and the number of files it can hold.
 *
 * @param journal whether it has a journal; needed for volumes, which survive a crash of the host,
 *     but not for sandboxes
 */
public record DiskSize(long megabytes, boolean journal) {
  private static final long MEGABYTE = 1 << 20;
  private static final long BYTES_PER_INODE = 16 << 10;
  private static final long MIN_INODES = 4096;
  private static final long MAX_INODES = 1 << 24;
  private static final int INODE = 256;
  private static final long GROUP = 128 * MEGABYTE;

  /** Two bitmaps and a descriptor. */
  private static final long PER_GROUP = 2 * 4096 + 64;

  private static final long JOURNAL_MEGABYTES = 4;

  /** A smaller file system has no room for a journal. */
  private static final long MIN_WITH_JOURNAL = 16;

  public DiskSize {
    journal &= megabytes >= MIN_WITH_JOURNAL;
  }

  /** Returns the maximum number of files and folders. */
  long inodes() {
    return Math.clamp(megabytes * MEGABYTE / BYTES_PER_INODE, MIN_INODES, MAX_INODES);
  }

  /** Returns the size of the image file, which is sparse. */
  long bytes() {
    long content = megabytes * MEGABYTE + inodes() * INODE;
    long own = (content / GROUP + 2) * PER_GROUP + (journal ? JOURNAL_MEGABYTES * MEGABYTE : 0);
    return (content + own) / MEGABYTE * MEGABYTE + 2 * MEGABYTE;
  }

  /** Returns a unique name for this size. */
  String name() {
    return megabytes + (journal ? "-journal" : "") + ".ext4";
  }

  /**
   * Returns the arguments of {@code mkfs.ext4}. All metadata is contiguous, which keeps copies
   * small.
   */
  List<String> mkfsArguments(Path file) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "-q", "-F", "-b", "4096", "-I", Integer.toString(INODE), "-m", "0", "-G", "4096"));
    words.addAll(List.of("-N", Long.toString(inodes())));
    words.addAll(
        List.of(
            "-E",
            "num_backup_sb=0,packed_meta_blocks=1,lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0"));
    String features = "^resize_inode,metadata_csum,sparse_super2";
    words.addAll(List.of("-O", features + (journal ? ",has_journal" : ",^has_journal")));
    if (journal) {
      words.addAll(List.of("-J", "size=" + JOURNAL_MEGABYTES));
    }
    words.add(file.toString());
    return words;
  }
}
