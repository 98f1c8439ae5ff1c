package dev.isola.host.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How large the file system of a disk is, so that files of {@code megabytes} fit into it besides
 * what it needs for itself, and how many files there may be.
 *
 * @param journal whether it is mended after a crash of the machine, which a sandbox does not
 *     survive but a volume does
 */
record DiskSize(long megabytes, boolean journal) {
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

  DiskSize {
    journal &= megabytes >= MIN_WITH_JOURNAL;
  }

  /** Returns how many files and folders it has room for. */
  long inodes() {
    return Math.clamp(megabytes * MEGABYTE / BYTES_PER_INODE, MIN_INODES, MAX_INODES);
  }

  /** Returns the size of the file that holds it, which has holes where nothing was written. */
  long bytes() {
    long content = megabytes * MEGABYTE + inodes() * INODE;
    long own = (content / GROUP + 2) * PER_GROUP + (journal ? JOURNAL_MEGABYTES * MEGABYTE : 0);
    return (content + own) / MEGABYTE * MEGABYTE + 2 * MEGABYTE;
  }

  /** Returns a name that no other size has. */
  String name() {
    return megabytes + (journal ? "-journal" : "") + ".ext4";
  }

  /**
   * Returns the words of {@code mkfs.ext4}: all that it writes lies together, so a copy is small.
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
