package dev.isola.host.image;

/**
 * How much an image may be, so that a small archive cannot fill a disk.
 *
 * @param bytes of everything unpacked, what later layers hide included
 * @param entries files, folders and links, likewise
 */
public record ImageLimits(long bytes, long entries) {
  public static final ImageLimits DEFAULT = new ImageLimits(64L << 30, 4_000_000);
}
