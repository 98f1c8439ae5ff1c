package dev.isola.host.image;

/**
 * Size limits of an image, so that a small archive cannot fill a disk.
 *
 * @param bytes total size of everything unpacked, including what later layers hide
 * @param entries total number of files, folders and links, likewise
 */
public record ImageLimits(long bytes, long entries) {
  public static final ImageLimits DEFAULT = new ImageLimits(64L << 30, 4_000_000);
}
